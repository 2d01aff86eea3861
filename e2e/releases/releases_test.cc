// Every release of the set, installed one at a time beside a core that fits it, on a real control plane, from
// ConfigMaps.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "api/release.h"
#include "api/testing/variables.h"
#include "base/strings.h"
#include "e2e/support/cluster.h"
#include "e2e/support/operator_process.h"
#include "e2e/support/passes.h"
#include "kube/apply/inventory.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {
namespace {

using api::ProviderType;

// What a 1.34 API server or the test bed won't take, with the reason and the condition that says so.
struct Exception {
  ReleaseSet set;
  std::string_view label, version;  // version "" for all
  std::string_view why;
  std::string_view reason;  // of condition Ready
};
constexpr Exception kExceptions[] = {
#include "e2e/releases/releases_exceptions.inc"
};

const Exception* ExceptionFor(const ReleaseFolder& release) {
  for (const auto& e : kExceptions) {
    bool its = e.label == release.Label() && (e.version.empty() || e.version == release.version);
    if (e.set == GetReleaseSet() && its) return &e;
  }
  return nullptr;
}

std::string ContractOf(const ReleaseFolder& release) {
  auto metadata = api::Metadata::ParseLenient(release.Text("metadata.yaml"));
  auto version = api::Version::Parse(release.version);
  if (!metadata.ok() || !version.ok()) return "";
  return metadata->ContractOf(*version).value_or("");
}

struct Core {
  std::string version;  // "" for none
  bool fits = false;    // C1
};

// The set's newest core of this contract; else its newest that accepts the contract; else its newest.
Core CoreFor(const std::string& contract) {
  using Rank = std::tuple<bool, bool, api::Version>;
  Core best;
  Rank highest;
  for (const auto& release : api::AllReleases()) {
    auto version = api::Version::Parse(release.version);
    if (release.type != ProviderType::kCore || ExceptionFor(release) != nullptr || !version.ok()) continue;
    std::string its = ContractOf(release);
    Rank rank{its == contract, api::Accepts(its, contract), *version};
    if (best.version.empty() || rank > highest) best = {release.version, std::get<1>(rank)}, highest = rank;
  }
  return best;
}

// Writes by the operator since the last Reset, except for its lease and events.
std::vector<std::string> Writes(const kube::FaultProxy& proxy) {
  std::vector<std::string> writes;
  for (const auto& r : proxy.requests()) {
    if (r.method == "GET" || r.target.find("/leases") != r.target.npos || r.target.find("/events") != r.target.npos) {
      continue;
    }
    writes.push_back(r.method + " " + r.target);
  }
  return writes;
}

class Releases : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    if (ReleasesDir().empty()) return;
    auto& plane = kube::ControlPlane::Shared();
    cluster_ = new Cluster(plane);
    auto proxy = kube::FaultProxy::Start(plane.config());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = proxy->release();
    operator_ = new OperatorProcess(proxy_->WriteKubeconfig(plane.folder()));
  }
  static void TearDownTestSuite() {
    delete operator_;
    delete proxy_;
    delete cluster_;
    operator_ = nullptr;
  }
  void SetUp() override {
    if (std::string missing = MissingReleases({}); !missing.empty()) GTEST_SKIP() << missing;
  }

  // The core that is there goes, CRDs and all.
  void RemoveCore() {
    core_.clear();
    cluster_->DeleteProvider(ProviderType::kCore, "capi-system", "cluster-api");
    ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "capi-system", "cluster-api"));
    cluster_->DeleteCrds("cluster-api");
  }
  void UseCore(const std::string& version) {
    if (core_ == version) return;
    RemoveCore();
    if (HasFatalFailure()) return;
    ASSERT_TRUE(cluster_->InstallCore(version));
    core_ = version;
  }

  void ExpectEverythingThere(const Seen& seen) {
    auto inventory = kube::Inventory::Parse(seen.provider.status.inventory);
    ASSERT_TRUE(inventory.ok());
    EXPECT_GT(inventory->size(), 0u);
    for (const auto& [id, entry] : inventory->entries()) {
      EXPECT_TRUE(cluster_->Exists(id, entry.version)) << id.ToString() << " " << entry.version;
      EXPECT_FALSE(entry.hash.empty()) << id.ToString();
    }
    EXPECT_EQ(seen.Status("PreflightCheckPassed"), "True");
    EXPECT_EQ(seen.Status("ProviderInstalled"), "True");
    EXPECT_EQ(seen.Status("Stalled"), "");
    EXPECT_EQ(seen.Status("Reconciling"), "");
  }

  // Beside it there is the core, which nothing wakes now.
  void ExpectSecondPassWritesNothing(const ReleaseFolder& release, const std::string& ns) {
    proxy_->Reset();
    int touches = 0;
    auto touch = [&] {
      cluster_->PatchProvider(release.type, ns, release.name,
                              {{"metadata", {{"annotations", {{"test/touch", std::to_string(++touches)}}}}}});
    };
    EXPECT_TRUE(AwaitPass(*operator_, touch)) << "no pass followed a change";
    EXPECT_THAT(Writes(*proxy_), ::testing::IsEmpty());
  }

  static Cluster* cluster_;
  static kube::FaultProxy* proxy_;
  static OperatorProcess* operator_;
  static std::string core_;
};

Cluster* Releases::cluster_ = nullptr;
kube::FaultProxy* Releases::proxy_ = nullptr;
OperatorProcess* Releases::operator_ = nullptr;
std::string Releases::core_;

TEST_P(Releases, InstallsAndGoes) {
  auto parts = Split(GetParam(), '/');
  ReleaseFolder release = GetRelease(parts[0], parts[1]);
  const Exception* exception = ExceptionFor(release);
  bool core = release.type == ProviderType::kCore;
  std::string_view reason = exception != nullptr ? exception->reason : "";
  if (core) {
    RemoveCore();
  } else {
    Core its = CoreFor(ContractOf(release));
    if (its.version.empty()) GTEST_SKIP() << "the set has no core provider that can be installed";
    UseCore(its.version);
    if (!its.fits) reason = "CAPIVersionIncompatibility";
  }
  if (HasFatalFailure()) return;
  std::string ns = core ? "capi-system" : release.Label();
  cluster_->CreateNamespace(ns);
  cluster_->StoreRelease(ns, release);
  cluster_->StoreSecret(ns, "variables", api::VariablesOf(release));
  Json spec = SelectorSpec(release);
  spec["configSecret"] = {{"name", "variables"}};
  cluster_->ApplyProvider(release.type, ns, release.name, spec);
  if (!reason.empty()) {
    EXPECT_TRUE(cluster_->AwaitReason(release.type, ns, release.name, "Ready", reason))
        << (exception != nullptr ? exception->why : "C1: no core of the set accepts its contract");
  } else if (cluster_->AwaitReady(release.type, ns, release.name)) {
    ExpectEverythingThere(cluster_->See(release.type, ns, release.name));
    ExpectSecondPassWritesNothing(release, ns);
    if (core) core_ = release.version;  // the others of its contract need one
  }
  if (core && exception == nullptr) return;
  cluster_->DeleteProvider(release.type, ns, release.name);
  EXPECT_TRUE(cluster_->AwaitGone(release.type, ns, release.name));
  cluster_->DeleteCrds(release.Label());
}

// Sorted by contract, the newest core before those that stand beside it, so that the core changes as seldom as
// possible.
std::vector<std::string> Ids() {
  std::vector<std::tuple<std::string, bool, api::Version, std::string>> sorted;
  if (!ReleasesDir().empty()) {
    for (const auto& release : api::AllReleases()) {
      auto version = api::Version::Parse(release.version);
      sorted.emplace_back(ContractOf(release), release.type != ProviderType::kCore,
                          version.ok() ? *version : api::Version(), release.Id());
    }
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> ids;
  for (const auto& release : sorted) ids.push_back(std::get<3>(release));
  if (ids.empty()) ids.push_back("none/none");
  return ids;
}

INSTANTIATE_TEST_SUITE_P(All, Releases, ::testing::ValuesIn(Ids()), [](const auto& test) {
  return ReplaceAll(ReplaceAll(ReplaceAll(test.param, "/", "_"), "-", "_"), ".", "_");
});

}  // namespace
}  // namespace capi::e2e
