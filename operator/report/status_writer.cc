#include "operator/report/status_writer.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/client/status_error.h"
#include "kube/client/warnings.h"
#include "operator/observe/unseen_writes.h"

namespace capi::ops {
namespace {

Json AtVersion(const std::string& resource_version, Json patch) {
  patch["metadata"]["resourceVersion"] = resource_version;
  return patch;
}

// Finalizers are a list that others write to as well: a merge patch of it needs the version it was read at.
Json FinalizerPatch(const kube::Object& object, bool add) {
  Json finalizers = Json::array();
  if (const Json* list = Find(object.json(), {"metadata", "finalizers"})) {
    for (const Json& name : *list) {
      if (name != api::kFinalizer) finalizers.push_back(name);
    }
  }
  if (add) finalizers.push_back(api::kFinalizer);
  return AtVersion(object.resource_version(), {{"metadata", {{"finalizers", finalizers}}}});
}

// A merge patch keeps what it doesn't name: members that went away are set to null, those of members too.
void NameWhatWent(const Json& before, Json& now) {
  for (const auto& [key, value] : before.items()) {
    auto is = now.find(key);
    if (is == now.end()) {
      now[key] = nullptr;
    } else if (is->is_object() && value.is_object()) {
      NameWhatWent(value, *is);
    }
  }
}

// The same, the other way: what is there isn't sent again. An inventory may be most of an object.
void LeaveOutWhatIsThere(const Json& there, Json& now) {
  for (const auto& [key, value] : there.items()) {
    if (auto is = now.find(key); is != now.end() && *is == value) now.erase(is);
  }
}

// F9: what the server has dropped would be missing from the next pass on, and nobody would know why.
Status NothingDropped(const api::Provider& provider, const std::vector<std::string>& warnings) {
  auto dropped = std::find_if(warnings.begin(), warnings.end(), kube::IsFieldWarning);
  if (dropped == warnings.end()) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("{}: the cluster's CustomResourceDefinition isn't that of this operator: {}; apply the "
                           "operator's own (manifests/crds)",
                           provider.id.ToString(), *dropped),
               {}};
}

}  // namespace

Status StatusWriter::Patch(const Context& caller, api::Provider& provider, Json patch, const std::string& subresource) {
  const Context ctx = caller.InOwnName();
  patch["metadata"]["uid"] = provider.uid;
  kube::WriteOptions options{.field_manager = std::string(api::kFieldManager)};
  options.subresource = subresource;
  std::vector<std::string> warnings;
  options.warnings = &warnings;
  auto written = client_.Patch(ctx, api::ResourceOf(provider.id.type), provider.id.ns, provider.id.name,
                               kube::PatchType::kMerge, patch, options);
  // A look that fails is made again: with the next write, or without one (UnseenWrites).
  if (!written.ok() && written.code() == Code::kConflict) (void)LookForRestore(ctx, client_, cache_, provider.id);
  if (!written.ok()) {
    Error error = written.error();
    // Whoever stands before the API server may have said so: the object may be there, with its finalizer.
    if (kube::IsNoSuchPath(error)) error.code = Code::kUnavailable;
    return error.With(provider.id.ToString());
  }
  provider.resource_version = written->resource_version();
  cache_.OnWrite(provider.id.type, std::move(written).value());
  return NothingDropped(provider, warnings);
}

Status StatusWriter::WriteStatus(const Context& ctx, api::Provider& provider, const api::ProviderStatus& decided) {
  if (decided == provider.status) return Ok();
  const api::ProviderStatus status = masks_.Hide(provider.id.Key(), decided);
  if (status == provider.status) return Ok();
  // What went away is known at one version alone: a write that was done, though its answer was lost, has others.
  Json now = api::StatusToJson(status);
  NameWhatWent(api::StatusToJson(provider.status), now);
  // A pass may have put into `provider.status` what nobody has written (A1): what is there is what the server has
  // shown.
  auto cached = cache_.Get(provider.id.Key());
  const bool known = cached && cached->provider->uid == provider.uid &&
                     cached->provider->resource_version == provider.resource_version;
  if (known) LeaveOutWhatIsThere(api::StatusToJson(cached->provider->status), now);
  TRY(Patch(ctx, provider, AtVersion(provider.resource_version, {{"status", now}}), "status"));
  provider.status = status;
  return Ok();
}

Status StatusWriter::AddFinalizer(const Context& ctx, api::Provider& provider) {
  auto cached = cache_.Get(provider.id.Key());
  if (!cached) return Ok();
  return Patch(ctx, provider, FinalizerPatch(cached->Object(), true), "");
}

Status StatusWriter::RemoveFinalizer(const Context& ctx, api::Provider& provider) {
  auto cached = cache_.Get(provider.id.Key());
  if (!cached) return Ok();
  auto done = Patch(ctx, provider, FinalizerPatch(cached->Object(), false), "");
  if (!done.ok() && done.code() == Code::kNotFound) return Ok();
  return done;
}

Status StatusWriter::WriteVersion(const Context& ctx, api::Provider& provider, const std::string& version) {
  return Patch(ctx, provider, AtVersion(provider.resource_version, {{"spec", {{"version", version}}}}), "");
}

Status StatusWriter::WriteConfigSecret(const Context& ctx, api::Provider& provider, const api::ObjectRef& secret) {
  // The namespace too: without it kubernetes-sigs/cluster-api-operator can't read the Secret.
  Json reference = {{"name", secret.name}, {"namespace", secret.ns}};
  return Patch(ctx, provider, AtVersion(provider.resource_version, {{"spec", {{"configSecret", reference}}}}), "");
}

Status StatusWriter::RemoveAnnotation(const Context& ctx, api::Provider& provider, const std::string& key) {
  return Patch(ctx, provider, AtVersion(provider.resource_version, {{"metadata", {{"annotations", {{key, nullptr}}}}}}),
               "");
}

}  // namespace capi::ops
