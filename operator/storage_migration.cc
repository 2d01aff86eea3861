#include "operator/storage_migration.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/types.h"
#include "kube/client/query.h"

namespace capi::ops {
namespace {

constexpr int kPage = 250;
constexpr Millis kPause{5};  // between objects: at most 200 a second, and the server's other clients come in between
constexpr int kTries = 5;    // of the last write, against others who write the CRD's status
constexpr std::string_view kNamesOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

const kube::Resource& Crds() { return kube::Builtin("CustomResourceDefinition"); }

Error Changed(const std::string& crd) {
  return {Code::kConflict, fmt::format("{} changed while its objects were migrated", crd), {}};
}

}  // namespace

Result<StorageMigration::Mark> StorageMigration::Look(const Context& ctx, const std::string& name) {
  kube::Object crd = TRY(client_.Get(ctx, Crds(), "", name));
  Mark mark;
  mark.resource_version = crd.resource_version();
  mark.generation = GetInt(crd.json(), {"metadata", "generation"});
  if (const Json* versions = Find(crd.json(), {"spec", "versions"}); versions != nullptr && versions->is_array()) {
    for (const Json& version : *versions) {
      if (GetBool(version, {"storage"})) mark.storage = GetString(version, {"name"});
    }
  }
  if (mark.storage.empty()) {
    return Error{Code::kFailedPrecondition, fmt::format("could not find storage version for CRD \"{}\"", name), {}};
  }
  const Json* stored = Find(crd.json(), {"status", "storedVersions"});
  mark.one_version = stored == nullptr || !stored->is_array() ||
                     std::all_of(stored->begin(), stored->end(), [&](const Json& v) { return v == mark.storage; });
  return mark;
}

Result<StorageMigration::Outcome> StorageMigration::Migrate(const Context& ctx, const CrdState& crd) {
  Outcome outcome;
  Mark before = TRY_WITH(Look(ctx, crd.name), crd.name);
  outcome.done = before.one_version;
  if (outcome.done) return outcome;
  // Objects are read and written at the stored version where it is served: then only those need a conversion that are
  // stored at another.
  bool served = std::find(crd.served.begin(), crd.served.end(), before.storage) != crd.served.end();
  if (!served && crd.served.empty()) {
    return Error{Code::kFailedPrecondition, crd.name + " serves no version, so its objects can't be read", {}};
  }
  kube::Resource resource;
  resource.group = crd.group;
  resource.version = served ? before.storage : crd.served.front();
  resource.plural = crd.plural;
  resource.kind = crd.kind;
  resource.namespaced = crd.namespaced;
  outcome.objects = TRY_WITH(RewriteAll(ctx, resource, crd.has_status && served ? "status" : ""), crd.name);
  TRY(Trim(ctx, crd.name, before));
  outcome.done = true;
  return outcome;
}

Result<size_t> StorageMigration::RewriteAll(const Context& ctx, const kube::Resource& resource,
                                            const std::string& subresource) {
  size_t count = 0;
  bool again = false;
  std::string next;
  do {
    kube::Query query;
    query.Add("limit", std::to_string(kPage));
    query.Add("continue", next);
    auto answer = client_.Raw(ctx, "GET", query.AppendTo(resource.Path("", "")), "", "", kNamesOnly);
    if (!answer.ok() && answer.code() == Code::kGone && !next.empty() && !again) {
      again = true;  // the page token is too old: from the start, which costs reads alone
      next.clear();
      count = 0;
      continue;
    }
    if (!answer.ok()) return answer.error();
    Json page = TRY(ParseJson(*answer));
    if (const Json* items = Find(page, {"items"}); items != nullptr && items->is_array()) {
      for (const Json& item : *items) {
        TRY(Rewrite(ctx, resource, item, subresource));
        ++count;
      }
    }
    next = GetString(page, {"metadata", "continue"});
    if (next.empty()) return count;
  } while (true);
}

// Through /status where there is one: no admission webhook of the provider stands in the way, and none changes the
// spec.
Status StorageMigration::Rewrite(const Context& ctx, const kube::Resource& resource, const Json& item,
                                 const std::string& subresource) {
  std::string ns = GetString(item, {"metadata", "namespace"}), name = GetString(item, {"metadata", "name"});
  kube::WriteOptions options{.field_manager = std::string(api::kFieldManager)};
  options.subresource = subresource;
  options.metadata_only = true;
  if (!ctx.clock->Sleep(ctx.stop, kPause)) TRY(ctx.Check());
  auto written = client_.Patch(ctx, resource, ns, name, kube::PatchType::kMerge, Json::object(), options);
  if (written.ok() || written.code() == Code::kNotFound) return Ok();
  return written.error().With(fmt::format("{} {}/{}", resource.kind, ns, name));
}

Status StorageMigration::Trim(const Context& ctx, const std::string& crd, const Mark& before) {
  for (int left = kTries;; --left) {
    Mark now = TRY_WITH(Look(ctx, crd), crd);
    if (now.one_version) return Ok();
    if (now.generation != before.generation || now.storage != before.storage) return Changed(crd);
    Json patch = {{"metadata", {{"resourceVersion", now.resource_version}}},
                  {"status", {{"storedVersions", Json::array({now.storage})}}}};
    kube::WriteOptions options{.field_manager = std::string(api::kFieldManager)};
    options.subresource = "status";
    options.metadata_only = true;
    auto written = client_.Patch(ctx, Crds(), "", crd, kube::PatchType::kMerge, patch, options);
    if (written.ok()) return Ok();
    if (written.code() != Code::kConflict || left == 0) return written.error().With(crd);
  }
}

}  // namespace capi::ops
