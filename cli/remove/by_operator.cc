#include "cli/remove/by_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/reasons.h"
#include "api/types.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{200};
constexpr size_t kMostNames = 20;
constexpr Seconds kOneLook{10};  // a request that takes longer doesn't hold up the end of the wait
constexpr int kTries = 5;

kube::WriteOptions Writes() { return {.field_manager = "clusterctl", .metadata_only = true}; }

Status DeleteObject(const Context& ctx, kube::Client& client, const api::ProviderId& id, const std::string& uid) {
  auto deleted = client.Delete(ctx, api::ResourceOf(id.type), id.ns, id.name, {.uid = uid});
  if (deleted.ok() || deleted.code() == Code::kNotFound) return Ok();
  return deleted.error().With("failed to delete " + Describe(id));
}

// A merge patch of the annotations; {} where they are as they are to be.
Json AnnotationsFor(const kube::Object& live, const OperatorWishes& wishes) {
  Json out = Json::object();
  auto wish = [&](std::string_view name, bool wished) {
    if (wished && live.annotation(name) != "true") out[std::string(name)] = "true";
    if (!wished && live.has_annotation(name)) out[std::string(name)] = nullptr;
  };
  wish(api::kAnnotationDeleteCrds, wishes.crds);
  if (wishes.force) wish(api::kAnnotationForceDelete, *wishes.force);
  return out;
}

// What the operator says of an object that isn't gone.
struct Said {
  std::string reason, message;
  bool operator==(const Said&) const = default;
};

// An object that is waited for.
struct Awaited {
  std::string uid;
  Said said;
  std::string error;  // of the last look; "" where it told
};

Said SaidOf(const kube::Object& object) {
  const api::Provider provider = api::ParseProviderMeta(object);
  const kube::Condition* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  if (ready == nullptr || ready->status == "True") return {};
  return {ready->reason, ready->message};
}

bool BelongsToProvidersAlone(const kube::Object& map) {
  const Json* owners = Find(map.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array() || owners->empty()) return false;
  return std::all_of(owners->begin(), owners->end(), [](const Json& one) {
    return kube::GroupVersion::Parse(GetString(one, {"apiVersion"})).group == api::kGroup;
  });
}

// As long as it is theirs alone: with a conflict somebody has changed it since.
Status RemoveOwnedRelease(const Context& ctx, kube::Client& client, kube::Object map) {
  const kube::Resource& resource = kube::Builtin("ConfigMap");
  for (int tries = 1; BelongsToProvidersAlone(map); ++tries) {
    auto deleted = client.Delete(ctx, resource, map.ns(), map.name(),
                                 {.uid = map.uid(), .resource_version = map.resource_version()});
    if (deleted.ok() || deleted.code() == Code::kNotFound) return Ok();
    if (deleted.code() != Code::kConflict || tries == kTries) return deleted.error();
    auto live = client.Get(ctx, resource, map.ns(), map.name(), {.metadata_only = true});
    if (!live.ok() && live.code() == Code::kNotFound) return Ok();
    map = TRY(std::move(live));
  }
  return Ok();
}

Error Left(const std::map<api::ProviderId, Awaited>& left, Seconds limit) {
  std::vector<std::string> words;
  for (const auto& [id, one] : left) {
    std::string why = one.said.reason.empty() ? "the operator says nothing of it; see that it runs"
                                              : fmt::format("{}: {}", one.said.reason, one.said.message);
    if (!one.error.empty()) why = "it can't be read: " + one.error;
    words.push_back(fmt::format("{}: {}", Describe(id), why));
  }
  return {Code::kDeadlineExceeded,
          fmt::format("not gone after {} s: {}; the deletion goes on, and the same command waits for it again",
                      limit.count(), JoinNames(words, kMostNames)),
          {}};
}

// Whether it is gone.
Result<bool> Look(const Context& ctx, kube::Client& client, const api::ProviderId& id, Awaited& one, Notes& notes) {
  auto live = client.Get(ctx.WithTimeout(kOneLook), api::ResourceOf(id.type), id.ns, id.name);
  TRY(ctx.Check());
  const bool another = live.ok() && !one.uid.empty() && live->uid() != one.uid;
  if (another || (!live.ok() && live.code() == Code::kNotFound)) {
    notes.Say(0, "Deleted", {{"provider", Describe(id)}});
    if (another) notes.Warn(fmt::format("{} is there again: somebody has made it anew, and it stays", Describe(id)));
    return true;
  }
  const bool passes = !live.ok() && (live.error().Transient() || live.code() == Code::kDeadlineExceeded);
  if (!live.ok() && !passes) return live.error().With("waiting for " + Describe(id));
  one.error = live.ok() ? "" : live.error().message;
  Said said = live.ok() ? SaidOf(*live) : one.said;
  if (said != one.said && !said.message.empty())
    notes.Say(0, "Waiting", {{"provider", Describe(id)}, {"reason", said.reason}, {"message", said.message}});
  one.said = std::move(said);
  return false;
}

}  // namespace

Result<std::optional<DoomedObject>> RequestDeletion(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                                                    const OperatorWishes& wishes) {
  const kube::Resource resource = api::ResourceOf(id.type);
  auto live = client.Get(ctx, resource, id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() == Code::kNotFound) return std::optional<DoomedObject>();
  if (!live.ok()) return live.error().With(Describe(id));
  if (Json annotations = AnnotationsFor(*live, wishes); !annotations.empty()) {
    Json patch = {{"metadata", {{"annotations", annotations}}}};
    auto written = client.Patch(ctx, resource, id.ns, id.name, kube::PatchType::kMerge, patch, Writes());
    if (!written.ok() && written.code() == Code::kNotFound) return std::optional<DoomedObject>();
    if (!written.ok()) return written.error().With("failed to annotate " + Describe(id));
  }
  TRY(DeleteObject(ctx, client, id, live->uid()));
  return std::optional(DoomedObject{id, live->uid()});
}

Status AwaitGone(const Context& ctx, kube::Client& client, const std::vector<DoomedObject>& objects, Seconds limit,
                 Notes& notes) {
  Context bounded = ctx.WithTimeout(limit);
  std::map<api::ProviderId, Awaited> left;
  for (const DoomedObject& one : objects) left[one.id].uid = one.uid;
  while (true) {
    for (auto it = left.begin(); it != left.end();) {
      const bool gone = TRY(Look(ctx, client, it->first, it->second, notes));
      it = gone ? left.erase(it) : std::next(it);
    }
    if (left.empty()) return Ok();
    if (!bounded.Check().ok()) return Left(left, limit);
    if (!ctx.clock->Sleep(ctx.stop, kPause)) TRY(ctx.Check());
  }
}

Status ReleaseObject(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  const kube::Resource resource = api::ResourceOf(id.type);
  for (int tries = 1;; ++tries) {
    auto live = client.Get(ctx, resource, id.ns, id.name, {.metadata_only = true});
    if (!live.ok() && live.code() == Code::kNotFound) return Ok();
    if (!live.ok()) return live.error().With(Describe(id));
    Json others = Json::array();
    const Json* finalizers = Find(live->json(), {"metadata", "finalizers"});
    for (const Json& name : finalizers == nullptr ? Json::array() : *finalizers) {
      if (name != api::kFinalizer) others.push_back(name);
    }
    Json patch = {{"metadata", {{"finalizers", others}, {"resourceVersion", live->resource_version()}}}};
    auto written = client.Patch(ctx, resource, id.ns, id.name, kube::PatchType::kMerge, patch, Writes());
    if (written.ok()) return DeleteObject(ctx, client, id, live->uid());
    if (written.code() == Code::kNotFound) return Ok();
    if (written.code() == Code::kConflict && tries < kTries) continue;
    return written.error().With(
        fmt::format("failed to release {} (where the operator's webhooks are left and nobody answers, delete them "
                    "first: kubectl delete mutatingwebhookconfigurations,validatingwebhookconfigurations --selector "
                    "app.kubernetes.io/name=capi-operator)",
                    Describe(id)));
  }
}

Result<std::vector<kube::Object>> OwnedReleases(const Context& ctx, kube::Client& client) {
  std::vector<kube::Object> out;
  const kube::ListOptions options{.metadata_only = true, .managed_fields = false, .may_change = true};
  TRY_WITH(client.ForEach(ctx, kube::Builtin("ConfigMap"), "", options,
                          [&](kube::Object map) -> Result<bool> {
                            if (BelongsToProvidersAlone(map)) out.push_back(std::move(map));
                            return true;
                          }),
           "failed to look for releases that providers own");
  return out;
}

Status RemoveOwnedReleases(const Context& ctx, kube::Client& client) {
  const char* what = "failed to remove the releases of providers that are gone";
  const auto maps = TRY_WITH(OwnedReleases(ctx, client), what);
  for (const kube::Object& map : maps) TRY_WITH(RemoveOwnedRelease(ctx, client, map), what);
  return Ok();
}

}  // namespace capi::cli
