#include "cli/remove/by_operator.h"

#include <fmt/format.h>

#include <map>

#include "api/reasons.h"
#include "api/types.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{200};
constexpr size_t kMostNames = 20;
constexpr int kTries = 5;

kube::WriteOptions Writes() { return {.field_manager = "clusterctl", .metadata_only = true}; }

Status DeleteObject(const Context& ctx, kube::Client& client, const api::ProviderId& id) {
  auto deleted = client.Delete(ctx, api::ResourceOf(id.type), id.ns, id.name);
  if (deleted.ok() || deleted.code() == Code::kNotFound) return Ok();
  return deleted.error().With("failed to delete " + Describe(id));
}

// What the operator says of an object that isn't gone.
struct Said {
  std::string reason, message;
  bool operator==(const Said&) const = default;
};

Said SaidOf(const kube::Object& object) {
  const api::Provider provider = api::ParseProviderMeta(object);
  const kube::Condition* ready = kube::FindCondition(provider.status.conditions, api::condition::kReady);
  if (ready == nullptr || ready->status == "True") return {};
  return {ready->reason, ready->message};
}

Error Left(const std::map<api::ProviderId, Said>& left, Seconds limit) {
  std::vector<std::string> words;
  for (const auto& [id, said] : left) {
    std::string why = said.reason.empty() ? "the operator says nothing of it; see that it runs"
                                          : fmt::format("{}: {}", said.reason, said.message);
    words.push_back(fmt::format("{}: {}", Describe(id), why));
  }
  return {Code::kDeadlineExceeded,
          fmt::format("not gone after {} s: {}; the deletion goes on, and the same command waits for it again",
                      limit.count(), JoinNames(words, kMostNames)),
          {}};
}

}  // namespace

Status RequestDeletion(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                       const OperatorWishes& wishes) {
  Json annotations = Json::object();
  if (wishes.crds) annotations[std::string(api::kAnnotationDeleteCrds)] = "true";
  if (wishes.force) annotations[std::string(api::kAnnotationForceDelete)] = "true";
  if (!annotations.empty()) {
    Json patch = {{"metadata", {{"annotations", annotations}}}};
    auto written =
        client.Patch(ctx, api::ResourceOf(id.type), id.ns, id.name, kube::PatchType::kMerge, patch, Writes());
    if (!written.ok() && written.code() == Code::kNotFound) return Ok();
    if (!written.ok()) return written.error().With("failed to annotate " + Describe(id));
  }
  return DeleteObject(ctx, client, id);
}

Status AwaitGone(const Context& ctx, kube::Client& client, const std::vector<Target>& targets, Seconds limit,
                 Notes& notes) {
  Context bounded = ctx.WithTimeout(limit);
  std::map<api::ProviderId, Said> left;
  for (const Target& target : targets) left[target.id];
  while (!left.empty()) {
    for (auto it = left.begin(); it != left.end();) {
      const api::ProviderId& id = it->first;
      auto live = client.Get(ctx, api::ResourceOf(id.type), id.ns, id.name);
      if (!live.ok() && live.code() == Code::kNotFound) {
        notes.Say(0, "Deleted", {{"provider", Describe(id)}});
        it = left.erase(it);
        continue;
      }
      if (!live.ok() && !live.error().Transient()) return live.error().With("waiting for " + Describe(id));
      Said said = live.ok() ? SaidOf(*live) : it->second;
      if (said != it->second && !said.message.empty())
        notes.Say(0, "Waiting", {{"provider", Describe(id)}, {"reason", said.reason}, {"message", said.message}});
      it->second = std::move(said);
      ++it;
    }
    if (left.empty()) break;
    TRY(ctx.Check());
    if (!bounded.Check().ok()) return Left(left, limit);
    ctx.clock->Sleep(ctx.stop, kPause);
  }
  return Ok();
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
    if (written.ok()) return DeleteObject(ctx, client, id);
    if (written.code() == Code::kNotFound) return Ok();
    if (written.code() == Code::kConflict && tries < kTries) continue;
    return written.error().With(
        fmt::format("failed to release {} (where the operator's webhooks are left and nobody answers, delete them "
                    "first: kubectl delete mutatingwebhookconfigurations,validatingwebhookconfigurations --selector "
                    "app.kubernetes.io/name=capi-operator)",
                    Describe(id)));
  }
}

}  // namespace capi::cli
