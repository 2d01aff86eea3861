#include "e2e/support/cluster.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/release.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/testing/environment.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::e2e {
namespace {

const kube::WriteOptions kTest{.field_manager = "test"};

kube::Object ProviderObject(api::ProviderType type, const std::string& ns, const std::string& name) {
  return kube::Object(Json{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                           {"kind", api::KindOf(type).kind},
                           {"metadata", {{"name", name}, {"namespace", ns}}}});
}

}  // namespace

std::string Seen::Status(std::string_view condition) const {
  const auto* found = kube::FindCondition(provider.status.conditions, condition);
  return found == nullptr ? "" : found->status;
}
std::string Seen::Reason(std::string_view condition) const {
  const auto* found = kube::FindCondition(provider.status.conditions, condition);
  return found == nullptr ? "" : found->reason;
}
std::string Seen::Message(std::string_view condition) const {
  const auto* found = kube::FindCondition(provider.status.conditions, condition);
  return found == nullptr ? "" : found->message;
}
std::string Seen::Describe() const {
  std::string text = exists ? provider.id.ToString() : "no such provider";
  for (const auto& c : provider.status.conditions) {
    text += fmt::format("\n  {}={} {}: {}", c.type, c.status, c.reason, c.message);
  }
  return text;
}

Result<WallTime> NextTryIn(const std::string& message) {
  constexpr std::string_view kWords = "next try at ", kLike = "2026-01-01T00:00:00Z";
  size_t at = message.find(kWords);
  if (at == std::string::npos) return Error{Code::kNotFound, "it reports no next try: " + message, {}};
  return ParseTime(std::string_view(message).substr(at + kWords.size(), kLike.size()));
}

bool IsTimeOf(WallTime reported, WallTime tried) { return tried >= reported && tried < reported + Seconds(5); }

Cluster::Cluster(kube::ControlPlane& plane, bool cert_manager) : plane_(plane), client_(plane.NewClient("e2e")) {
  for (const auto& file : ValueOrAbort(ListDir("manifests/crds"), "manifests/crds")) {
    if (!file.ends_with(".yaml")) continue;  // kustomize's
    kube::ApplyYaml(*client_, ValueOrAbort(ReadFile("manifests/crds/" + file), file));
  }
  std::string crds = EnvironmentVariable("CAPI_ASSETS_CERT_MANAGER_CRDS");
  if (cert_manager && !crds.empty()) kube::ApplyYaml(*client_, ValueOrAbort(ReadFile(crds), crds));
  client_->mapper().Invalidate();
}

void Cluster::CreateNamespace(const std::string& ns) {
  kube::Object object(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  ValueOrAbort(client_->Apply(ctx(), kube::Builtin("Namespace"), object, kTest), ns);
}

void Cluster::DeleteNamespace(const std::string& ns) {
  auto deleted = client_->Delete(ctx(), kube::Builtin("Namespace"), "", ns);
  EXPECT_TRUE(deleted.ok() || deleted.code() == Code::kNotFound) << deleted.error().message;
}

void Cluster::StoreConfigMap(const std::string& ns, const std::string& name, std::map<std::string, std::string> labels,
                             std::map<std::string, std::string> data) {
  kube::Object map(Json{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"name", name}, {"namespace", ns}, {"labels", labels}}},
                        {"data", data}});
  ValueOrAbort(client_->Apply(ctx(), kube::Builtin("ConfigMap"), map, kTest), name);
}

void Cluster::StoreRelease(const std::string& ns, const ReleaseFolder& release,
                           std::map<std::string, std::string> labels, std::string name) {
  std::string type(api::KindOf(release.type).type_name);
  if (name.empty()) name = fmt::format("{}-{}-{}", type, release.name, release.version);
  if (labels.empty()) {
    labels = {{"provider.cluster.x-k8s.io/type", type},
              {"provider.cluster.x-k8s.io/name", release.name},
              {"provider.cluster.x-k8s.io/version", release.version}};
  }
  Json map = {{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", name}, {"namespace", ns}, {"labels", labels}}}};
  map["data"]["metadata"] = release.Text("metadata.yaml");
  std::string components = release.Components();
  if (components.size() > 1'000'000) {
    map["metadata"]["annotations"] = {{"provider.cluster.x-k8s.io/compressed", "true"}};
    map["binaryData"]["components"] = Base64Encode(Gzip(components));
  } else {
    map["data"]["components"] = components;
  }
  auto created = client_->Create(ctx(), kube::Builtin("ConfigMap"), kube::Object(map), kTest);
  ASSERT_TRUE(created.ok() || created.code() == Code::kAlreadyExists) << created.error().message;
}

void Cluster::StoreSecret(const std::string& ns, const std::string& name,
                          const std::map<std::string, std::string>& values) {
  Json data = Json::object();
  for (const auto& [key, value] : values) data[key] = Base64Encode(value);
  kube::Object secret(Json{
      {"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", name}, {"namespace", ns}}}, {"data", data}});
  ValueOrAbort(client_->Apply(ctx(), kube::Builtin("Secret"), secret, kTest), name);
}

void Cluster::ApplyProvider(api::ProviderType type, const std::string& ns, const std::string& name, Json spec,
                            std::map<std::string, std::string> annotations) {
  kube::Object object = ProviderObject(type, ns, name);
  object.json()["spec"] = std::move(spec);
  if (!annotations.empty()) object.json()["metadata"]["annotations"] = annotations;
  ValueOrAbort(client_->Apply(ctx(), api::ResourceOf(type), object, kTest), name);
}

void Cluster::PatchProvider(api::ProviderType type, const std::string& ns, const std::string& name,
                            const Json& merge_patch) {
  ValueOrAbort(client_->Patch(ctx(), api::ResourceOf(type), ns, name, kube::PatchType::kMerge, merge_patch, kTest),
               name);
}

void Cluster::DeleteProvider(api::ProviderType type, const std::string& ns, const std::string& name) {
  auto deleted = client_->Delete(ctx(), api::ResourceOf(type), ns, name);
  EXPECT_TRUE(deleted.ok() || deleted.code() == Code::kNotFound) << deleted.error().message;
}

Seen Cluster::See(api::ProviderType type, const std::string& ns, const std::string& name) {
  auto object = IfThere(api::ResourceOf(type), ns, name);
  if (!object) return {};
  return {true, api::ParseProviderMeta(*object)};
}

bool Cluster::AwaitReady(api::ProviderType type, const std::string& ns, const std::string& name, Millis timeout) {
  Seen seen;
  bool ready = wait_(
      [&] {
        seen = See(type, ns, name);
        return seen.Status("Ready") == "True" && seen.provider.status.observed_generation == seen.provider.generation;
      },
      timeout);
  EXPECT_TRUE(ready) << "not ready: " << seen.Describe();
  return ready;
}

bool Cluster::AwaitReason(api::ProviderType type, const std::string& ns, const std::string& name,
                          std::string_view condition, std::string_view reason, Millis timeout) {
  Seen seen;
  bool found = wait_(
      [&] {
        seen = See(type, ns, name);
        return seen.Reason(condition) == reason;
      },
      timeout);
  EXPECT_TRUE(found) << "no " << condition << " with reason " << reason << ": " << seen.Describe();
  return found;
}

bool Cluster::AwaitGone(api::ProviderType type, const std::string& ns, const std::string& name, Millis timeout) {
  bool gone = wait_([&] { return !See(type, ns, name).exists; }, timeout);
  EXPECT_TRUE(gone) << "still there: " << See(type, ns, name).Describe();
  return gone;
}

bool Cluster::InstallCore(const std::string& version) {
  ReleaseFolder release = GetRelease("cluster-api", version);
  CreateNamespace("capi-system");
  StoreRelease("capi-system", release);
  ApplyProvider(release.type, "capi-system", "cluster-api", SelectorSpec(release));
  return AwaitReady(release.type, "capi-system", "cluster-api");
}

void Cluster::DeleteAllProviders() {
  std::vector<std::pair<api::ProviderType, kube::ObjectId>> all;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    auto list = ValueOrAbort(client_->List(ctx(), api::ResourceOf(kind.type), ""), kind.kind);
    for (const auto& provider : list.items) all.emplace_back(kind.type, provider.id());
  }
  for (const auto& [type, id] : all) DeleteProvider(type, id.ns, id.name);  // the core waits for the others (X3)
  for (const auto& [type, id] : all) AwaitGone(type, id.ns, id.name);
  DeleteCrds("");
}

void Cluster::DeleteCrds(const std::string& label) {
  const auto& crds = kube::Builtin("CustomResourceDefinition");
  std::string selector = "cluster.x-k8s.io/provider" + (label.empty() ? "" : "=" + label);
  kube::ListOptions options{.label_selector = selector, .metadata_only = true};
  auto list = ValueOrAbort(client_->List(ctx(), crds, "", options), "CRDs");
  for (const auto& crd : list.items) EXPECT_TRUE(client_->Delete(ctx(), crds, "", crd.name()).ok());
  // The API server retries a deletion that met a cache that wasn't filled yet after up to minutes; a change makes it
  // look again at once.
  int looks = 0;
  bool gone = kube::Eventually(
      [&] {
        auto left = client_->List(ctx(), crds, "", options);
        if (!left.ok() || left->items.empty()) return left.ok();
        Json poke = {{"metadata", {{"annotations", {{"test/poke", std::to_string(looks)}}}}}};
        bool due = ++looks % 30 == 0;
        for (const auto& crd : left->items) {
          if (due) (void)client_->Patch(ctx(), crds, "", crd.name(), kube::PatchType::kMerge, poke, kTest).ok();
        }
        return false;
      },
      Seconds(60));
  EXPECT_TRUE(gone) << "CRDs with " << selector << " are still there";
}

bool Cluster::Exists(const kube::ObjectId& id, const std::string& version) {
  Result<kube::Resource> resource = Error{};
  bool answered = kube::Eventually([&] {
    resource = client_->mapper().For(ctx(), id.group_kind(), version);
    if (resource.ok()) return true;
    client_->mapper().Invalidate();  // a kind that has only just come
    resource = client_->mapper().For(ctx(), id.group_kind(), version);
    return resource.ok() || resource.code() == Code::kNotFound;
  });
  EXPECT_TRUE(answered) << id.ToString() << ": " << resource.error().message;
  return resource.ok() && IfThere(*resource, id.ns, id.name).has_value();
}

std::optional<kube::Object> Cluster::IfThere(const kube::Resource& resource, const std::string& ns,
                                             const std::string& name) {
  Result<kube::Object> object = Error{};
  bool answered = kube::Eventually([&] {
    object = client_->Get(ctx(), resource, ns, name);
    return object.ok() || object.code() == Code::kNotFound;
  });
  EXPECT_TRUE(answered) << resource.kind << " " << ns << "/" << name << ": " << object.error().message;
  if (!object.ok()) return std::nullopt;
  return std::move(object).value();
}

kube::Object Cluster::Get(const char* kind, const std::string& ns, const std::string& name) {
  auto object = client_->Get(ctx(), kube::Builtin(kind), ns, name);
  EXPECT_TRUE(object.ok()) << object.error().message;
  return object.ok() ? *object : kube::Object();
}

Json SelectorSpec(const ReleaseFolder& release) {
  return {{"version", release.version},
          {"fetchConfig",
           {{"selector",
             {{"matchLabels",
               {{"provider.cluster.x-k8s.io/type", api::KindOf(release.type).type_name},
                {"provider.cluster.x-k8s.io/name", release.name}}}}}}}};
}

}  // namespace capi::e2e
