#include "e2e/support/managed_cluster.h"

#include <fmt/core.h>

#include "api/testing/variables.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "e2e/support/passes.h"

namespace capi::e2e {
namespace {

constexpr std::string_view kHandsOff = "cluster.x-k8s.io/paused";

}  // namespace

void UnmanagedCluster::SetUp() {
  CAPI_NEED_RELEASES();
  cluster_ = std::make_unique<Cluster>(kube::ControlPlane::Shared());
  cluster_->WaitBy([this](const std::function<bool()>& done, Millis timeout) { return Eventually(done, timeout); });
}

void UnmanagedCluster::TearDown() {
  if (!cluster_) return;
  if (!operator_) StartOperator();
  if (!operator_->running()) {
    // A machine that stands still for longer than a lease lasts is nobody's fault (F4).
    EXPECT_TRUE(operator_->ended_by_test() || operator_->LostItsLease()) << "it ended by itself:\n" << operator_->Log();
    operator_->Restart();
  }
  cluster_->DeleteAllProviders();
  operator_.reset();  // while whatever stands between it and the server is still there: it gives its lease back
}

void UnmanagedCluster::StartOperator(std::vector<std::string> arguments, std::vector<std::string> environment) {
  operator_.reset();
  operator_ =
      std::make_unique<OperatorProcess>(cluster_->plane().kubeconfig(), std::move(arguments), std::move(environment));
}

void UnmanagedCluster::StartBehindProxy(std::vector<std::string> arguments, const std::string& user) {
  operator_.reset();
  auto proxy = kube::FaultProxy::Start(cluster_->plane().config());
  ASSERT_TRUE(proxy.ok()) << proxy.error().message;
  proxy_ = std::move(proxy).value();
  std::string kubeconfig = proxy_->WriteKubeconfig(folder_.path());
  if (!user.empty()) kubeconfig = WriteKubeconfigAs(user, kubeconfig, folder_.path());
  operator_ = std::make_unique<OperatorProcess>(kubeconfig, std::move(arguments));
}

void UnmanagedCluster::StoreRelease(const Managed& provider, const std::string& version) {
  cluster_->CreateNamespace(provider.ns);
  cluster_->StoreRelease(provider.ns, GetRelease(provider.Label(), version));
}

void UnmanagedCluster::Create(const Managed& provider, const std::string& version, const Json& more) {
  StoreRelease(provider, version);
  ReleaseFolder release = GetRelease(provider.Label(), version);
  Json spec = SelectorSpec(release);
  if (api::VariableValues values = api::VariablesOf(release); !values.empty()) {
    cluster_->StoreSecret(provider.ns, "variables", values);
    spec["configSecret"] = {{"name", "variables"}};
  }
  spec.update(more);
  cluster_->ApplyProvider(provider.type, provider.ns, provider.name, spec);
}

bool UnmanagedCluster::Install(const Managed& provider, const std::string& version, const Json& more) {
  Create(provider, version, more);
  return AwaitReady(provider);
}

void UnmanagedCluster::PatchSpec(const Managed& provider, const Json& spec) {
  cluster_->PatchProvider(provider.type, provider.ns, provider.name, {{"spec", spec}});
}

void UnmanagedCluster::Annotate(const Managed& provider, std::string_view key, const Json& value) {
  cluster_->PatchProvider(provider.type, provider.ns, provider.name,
                          {{"metadata", {{"annotations", {{std::string(key), value}}}}}});
}

void UnmanagedCluster::PatchStatus(const Managed& provider, const Json& status) {
  auto patched = cluster_->client().Patch(cluster_->ctx(), api::ResourceOf(provider.type), provider.ns, provider.name,
                                          kube::PatchType::kMerge, {{"status", status}}, {.subresource = "status"});
  ASSERT_TRUE(patched.ok()) << patched.error().message;
}

bool UnmanagedCluster::AwaitReady(const Managed& provider, Millis timeout) {
  return cluster_->AwaitReady(provider.type, provider.ns, provider.name, timeout);
}

bool UnmanagedCluster::AwaitReason(const Managed& provider, std::string_view condition, std::string_view reason,
                                   Millis timeout) {
  return cluster_->AwaitReason(provider.type, provider.ns, provider.name, condition, reason, timeout);
}

bool UnmanagedCluster::AwaitGone(const Managed& provider, Millis timeout) {
  return cluster_->AwaitGone(provider.type, provider.ns, provider.name, timeout);
}

bool UnmanagedCluster::Eventually(const std::function<bool()>& done, Millis timeout, Millis every) {
  return operator_ ? operator_->Eventually(done, timeout, every) : kube::Eventually(done, timeout, every);
}

bool UnmanagedCluster::AwaitPass(const Managed& provider) {
  bool ended = e2e::AwaitPass(*operator_, [&] { Annotate(provider, "test/look", std::to_string(++looks_)); });
  EXPECT_TRUE(ended) << "no pass of " << provider.Label();
  return ended;
}

bool UnmanagedCluster::AwaitPassByEdit(const Managed& provider) {
  PatchSpec(provider, {{"rollout", {{"timeout", fmt::format("{}m", 20 + ++looks_)}}}});
  const auto generation = See(provider).provider.generation;
  Seen seen;
  bool ended = Eventually([&] {
    seen = See(provider);
    const api::ProviderStatus& status = seen.provider.status;
    // With hands off, the condition alone says so.
    const auto* paused = kube::FindCondition(status.conditions, "Paused");
    bool hands_off = paused != nullptr && paused->reason == "HandsOff" && paused->observed_generation == generation;
    return hands_off || status.observed_generation == generation;
  });
  EXPECT_TRUE(ended) << "no pass: " << seen.Describe();
  return ended;
}

bool UnmanagedCluster::HandsOff(const Managed& provider) {
  Annotate(provider, kHandsOff, "");
  return AwaitReason(provider, "Paused", "HandsOff", Seconds(60));
}

void UnmanagedCluster::HandsOn(const Managed& provider) { Annotate(provider, kHandsOff, nullptr); }

void UnmanagedCluster::WithoutWebhooks(const Managed& provider) {
  ASSERT_TRUE(HandsOff(provider));
  for (const char* kind : {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}) {
    kube::Resource resource = kube::Builtin(kind);
    kube::ListOptions of_it{.label_selector = "cluster.x-k8s.io/provider=" + provider.Label(), .metadata_only = true};
    auto hooks = cluster_->client().List(cluster_->ctx(), resource, "", of_it);
    ASSERT_TRUE(hooks.ok()) << hooks.error().message;
    EXPECT_FALSE(hooks->items.empty()) << kind;
    for (const auto& hook : hooks->items) {
      EXPECT_TRUE(cluster_->client().Delete(cluster_->ctx(), resource, "", hook.name()).ok()) << hook.name();
    }
  }
}

kube::Inventory UnmanagedCluster::InventoryOf(const Managed& provider) {
  auto inventory = kube::Inventory::Parse(See(provider).provider.status.inventory);
  EXPECT_TRUE(inventory.ok()) << inventory.error().message;
  return inventory.ok() ? *inventory : kube::Inventory();
}

std::map<std::string, std::string> UnmanagedCluster::Versions(const Managed& provider) {
  std::map<std::string, std::string> out;
  const kube::Inventory inventory = InventoryOf(provider);
  for (const auto& [id, entry] : inventory.entries()) {
    auto resource = cluster_->client().mapper().For(cluster_->ctx(), id.group_kind(), entry.version);
    EXPECT_TRUE(resource.ok()) << id.ToString();
    if (!resource.ok()) continue;
    auto object = cluster_->client().Get(cluster_->ctx(), *resource, id.ns, id.name, {.metadata_only = true});
    EXPECT_TRUE(object.ok()) << id.ToString();
    if (object.ok()) out[id.ToString()] = object->resource_version();
  }
  EXPECT_FALSE(out.empty()) << provider.Label() << " has no objects";
  return out;
}

void ManagedCluster::SetUp() {
  UnmanagedCluster::SetUp();
  if (cluster_) StartOperator();
}

void ManagedCore::SetUp() {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  ManagedCluster::SetUp();
  if (cluster_) {
    ASSERT_TRUE(Install(kCore, "v1.12.0"));
  }
}

std::string WriteKubeconfigAs(const std::string& user, const std::string& kubeconfig, const std::string& folder) {
  constexpr std::string_view kCredentials = "user: {token:";
  const std::string text = ValueOrAbort(ReadFile(kubeconfig), kubeconfig), path = folder + "/" + user + ".kubeconfig";
  EXPECT_NE(text.find(kCredentials), text.npos) << kubeconfig;
  const std::string as = "user: {as: " + user + ", as-groups: [\"system:masters\"], token:";
  const Status written = WriteFile(path, ReplaceAll(text, kCredentials, as), 0600);
  EXPECT_TRUE(written.ok()) << written.error().message;
  return path;
}

std::set<std::string> KindsOf(const ReleaseFolder& release) {
  std::set<std::string> kinds;
  for (const auto& document : ValueOrAbort(ParseYamlStream(release.Components()), release.Id())) {
    kinds.insert(GetString(document.value, {"kind"}));
  }
  return kinds;
}

std::set<std::string> CrdsOf(const ReleaseFolder& release) {
  std::set<std::string> names;
  for (const auto& document : ValueOrAbort(ParseYamlStream(release.Components()), release.Id())) {
    if (GetString(document.value, {"kind"}) != "CustomResourceDefinition") continue;
    names.insert(GetString(document.value, {"metadata", "name"}));
  }
  return names;
}

}  // namespace capi::e2e
