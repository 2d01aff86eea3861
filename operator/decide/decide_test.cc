#include "operator/decide/decide.h"
#include "operator/decide/precedence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/rules.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/summarize.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using testing::NewCore;
using testing::NewProvider;
using testing::Observed;
using testing::StepName;

struct StepCase {
  std::string name;
  void (*change)(Observation&);
  std::string step;
};

void ExpectSteps(std::span<const StepCase> cases) {
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    c.change(o);
    EXPECT_EQ(StepName(Decide(o)), c.step);
  }
}

TEST(Decide, AnswersDrift) {
  const StepCase cases[] = {
      {"D1 after a restart it takes a render, and is told of all the same",
       [](Observation& o) {
         o.provider.status.applied = InputsDigest(o);
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
       },
       "Restore"},
      {"D1 other inputs are applied as a whole, and what drifted with them",
       [](Observation& o) {
         o.provider.status.applied = o.rendered = "older inputs";
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
       },
       "Install"},
      {"D1 what was applied is kept while the next change can't be",
       [](Observation& o) {
         o.provider.status.applied = o.rendered = InputsDigest(o);
         o.config_secret = Referenced{{"aws-variables", "aws-system"}, false, ""};
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
       },
       "Restore"},
      {"D2 but not while a fight is damped",
       [](Observation& o) {
         o.provider.status.applied = o.rendered = InputsDigest(o);
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, Seconds(10)}};
       },
       "Steady"},
      {"P2 nor while the provider is paused",
       [](Observation& o) {
         o.provider.spec.paused = true;
         o.provider.status.applied = o.rendered = InputsDigest(o);
         o.fleet.drifts = {{testing::DeploymentId(), false, {}, {}}};
       },
       "Steady"},
      {"X5 nor in a Namespace that is going",
       [](Observation& o) {
         o.namespace_going = true;
         o.provider.status.applied = o.rendered = InputsDigest(o);
         o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
       },
       "Hold"},
  };
  ExpectSteps(cases);
}

// Beside the cases of decide_rules_test.cc.
TEST(Decide, NamesTheNextStep) {
  const StepCase cases[] = {
      {"P4 hands off a deletion too",
       [](Observation& o) {
         o.provider.deleting = true;
         o.provider.annotations["cluster.x-k8s.io/paused"] = "";
       },
       "HandsOff"},
      {"X1 deletion of a provider that can't be installed",
       [](Observation& o) {
         o.provider.deleting = true;
         o.core = nullptr;
         o.spec_error = Error{Code::kInvalidArgument, "spec.version: no text", {}};
       },
       "Remove"},
      {"X1 an unreadable inventory is not an empty one",
       [](Observation& o) {
         o.provider.deleting = true;
         o.inventory_error = Error{Code::kInvalidArgument, "broken", {}};
       },
       "Hold"},
      {"U4 what is left over stays until the new is healthy",
       [](Observation& o) {
         o.provider.status.applied = InputsDigest(o);
         o.inventory.Put(testing::DeploymentId(), {"v1", "hash", "fields", true});
         o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
       },
       "Steady"},
  };
  ExpectSteps(cases);
}

// D1: a change that is refused must not keep what was applied from being restored.
TEST(Decide, AnInstallationRestoresFirstWhatItCan) {
  Observation o = Observed();
  o.provider.status.applied = "older inputs";
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  EXPECT_TRUE(std::get<Install>(Decide(o)).drifts.empty()) << "there is no render to restore from";
  o.rendered = "older inputs";
  EXPECT_EQ(std::get<Install>(Decide(o)).drifts.size(), 1u);
}

// D1: while a change is refused, and the render is lost with a restart, it is made again from the release that is kept.
TEST(Decide, WhatIsHeldIsKeptAfterARestart) {
  Observation o = Observed();
  o.provider.status.applied = InputsDigest(o);
  o.provider.status.installed_version = "v1.12.0";
  o.provider.spec.version = "v1.11.0";  // U6: refused
  EXPECT_EQ(StepName(Decide(o)), "Hold");
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  ASSERT_NE(AppliedRelease(o), nullptr);
  Step step = Decide(o);
  ASSERT_EQ(StepName(step), "Restore");
  EXPECT_EQ(std::get<Restore>(step).hold->reason, api::reason::kUnsupportedProviderDowngradeReason);
  o.provider.spec.version = "v1.13.0";  // and what may be refused only on the way
  step = Decide(o);
  ASSERT_EQ(StepName(step), "Install");
  EXPECT_EQ(std::get<Install>(step).drifts.size(), 1u);
  o.releases[0].stamp = "uid/2";
  EXPECT_EQ(AppliedRelease(o), nullptr) << "somebody has put another release in its place";
  EXPECT_TRUE(std::get<Install>(Decide(o)).drifts.empty());
}

// D1: nothing was ever applied, so there is nothing to restore it from.
TEST(Decide, RestoresFromARenderAlone) {
  Observation o = Observed();
  o.fleet.drifts = {{testing::DeploymentId(), true, {}, {}}};
  EXPECT_TRUE(std::get<Install>(Decide(o)).drifts.empty());
  o.core = nullptr;
  EXPECT_EQ(StepName(Decide(o)), "Hold");
  o.rendered = "of a change that is under way";
  EXPECT_EQ(StepName(Decide(o)), "Restore");
}

// D1 in the middle of an upgrade (U2), and while one that failed is held (U5).
TEST(Decide, ARolloutIsKeptAsItWasApplied) {
  Observation o = Observed();
  api::HistoryEntry entry;
  entry.version = "v1.12.0";
  entry.started = FormatTime(o.now);
  entry.outcome = api::outcome::kRollingOut;
  entry.inputs = InputsDigest(o);
  o.provider.status.history = {entry};
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  o.fleet.drifts = {{testing::DeploymentId(), false, {}, {}}};
  o.rendered = InputsDigest(o);
  Step step = Decide(o);
  ASSERT_EQ(StepName(step), "Await");
  EXPECT_EQ(std::get<Await>(step).drifts.size(), 1u);
  o.provider.status.applied = "other inputs";
  step = Decide(o);
  ASSERT_EQ(StepName(step), "Await");
  EXPECT_TRUE(std::get<Await>(step).drifts.empty()) << "the render at hand isn't what was applied";
  o.provider.status.applied = "";
  o.provider.status.history.front().outcome = api::outcome::kFailed;
  step = Decide(o);
  ASSERT_EQ(StepName(step), "Restore");
  EXPECT_EQ(std::get<Restore>(step).hold->reason, api::reason::kTimedOutWaitingForDeployment);
  o.fleet.drifts[0].missing = true;
  EXPECT_EQ(StepName(Decide(o)), "Install") << "a workload that is gone is a part of the change";
  o.fleet.drifts[0].id = {"", "ConfigMap", "aws-system", "settings"};
  EXPECT_EQ(StepName(Decide(o)), "Restore");
  o.rendered = "";
  EXPECT_EQ(StepName(Decide(o)), "Install") << "there is no render to restore from";
  o.rendered = InputsDigest(o);
  o.fleet.drifts.clear();
  EXPECT_EQ(StepName(Decide(o)), "Hold") << "nothing drifted";
}

// C5: who is paused as declared waits for nobody.
TEST(Decide, APauseThatIsDeclaredWaitsForNobody) {
  Observation o = Observed();
  o.provider.spec.paused = true;
  o.provider.status.applied = InputsDigest(o);
  o.provider.status.conditions = {{"Paused", "True", "Paused", "", 1, ""}};
  auto left = NewProvider(api::ProviderType::kInfrastructure, "docker");
  left.status.contract = "v1alpha4";
  left.status.conditions = o.provider.status.conditions;
  o.siblings.push_back(std::make_shared<api::Provider>(left));
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  o.fleet.workloads[0].former = "1";
  o.fleet.workloads[0].replicas = 0;
  EXPECT_EQ(StepName(Decide(o)), "Steady");
  o.provider.spec.paused = false;
  EXPECT_EQ(StepName(Decide(o)), "Hold");
}

TEST(Decide, MigratesWhatIsStoredAtOlderVersions) {
  Observation o = Observed();
  o.provider.status.applied = InputsDigest(o);
  o.fleet.unmigrated.emplace_back();
  EXPECT_EQ(StepName(Decide(o)), "Steady") << "the status says first that there is something to do";
  o.provider.status = Summarize(o, Done{});
  EXPECT_EQ(StepName(Decide(o)), "Migrate") << "U3";
  o.provider.spec.paused = true;
  EXPECT_EQ(StepName(Decide(o)), "Steady") << "P3: nobody converts";
  o.provider.spec.paused = false;
  o.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress)};
  EXPECT_EQ(StepName(Decide(o)), "Steady") << "nobody converts yet";
  o.provider.deleting = true;
  EXPECT_EQ(StepName(Decide(o)), "Migrate") << "X1: before the provider goes, whether or not it answers";
  o.provider.annotations["operator.cluster.x-k8s.io/force-delete"] = "true";
  EXPECT_EQ(StepName(Decide(o)), "Remove") << "X4";
}

TEST(Decide, PreflightHoldsWithReasonAndMessage) {
  struct Case {
    std::string name;
    void (*change)(Observation&);
    std::string_view reason;
    std::string message;
    Retry retry = Retry::kOnChange;
  };
  const Case cases[] = {
      {"F2 a spec that can't be read",
       [](Observation& o) {
         o.spec_error = Error{Code::kInvalidArgument, "spec.manager.syncPeriod: no duration", {}};
       },
       api::reason::kInvalidSpec, "spec.manager.syncPeriod"},
      {"I4 there is no core", [](Observation& o) { o.core = nullptr; }, api::reason::kWaitingForCoreProviderReady,
       "there is no CoreProvider", Retry::kWaiting},
      {"I4 the core's CRDs aren't there yet", [](Observation& o) { o.core_crds_established = false; },
       api::reason::kWaitingForCoreProviderReady, "Waiting for the CoreProvider to be installed", Retry::kWaiting},
      {"I5 the Secret is missing",
       [](Observation& o) {
         o.config_secret = Referenced{{"aws-variables", "aws-system"}, false, ""};
       },
       api::reason::kSecretNotFound, "Secret aws-system/aws-variables", Retry::kWaiting},
      {"I9 the additional manifests are missing",
       [](Observation& o) {
         o.additional_manifests = Referenced{{"extra", "aws-system"}, false, ""};
       },
       api::reason::kAdditionalManifestsNotFound, "ConfigMap aws-system/extra", Retry::kWaiting},
      {"T1 references into other namespaces",
       [](Observation& o) {
         o.refused_references = {{"spec.configSecret.namespace", "a"}, {"spec.additionalManifests.namespace", "b"}};
       },
       api::reason::kCrossNamespaceReference,
       "spec.configSecret.namespace: Forbidden: a is another namespace than the provider's own; "
       "spec.additionalManifests.namespace: Forbidden: b is another namespace than the provider's own; put what it "
       "names into namespace aws-system"},
      {"I5 no semantic version", [](Observation& o) { o.provider.spec.version = "one"; },
       api::reason::kIncorrectVersionFormat, "one"},
      {"I2 nobody knows the name", [](Observation& o) { o.known_provider = false; },
       api::reason::kFetchConfigValidationError, "spec.fetchConfig"},
      {"U6 a downgrade", [](Observation& o) { o.provider.status.installed_version = "v2.0.0"; },
       api::reason::kUnsupportedProviderDowngradeReason, "Downgrade is not supported for provider aws"},
      {"I5 an older one exists",
       [](Observation& o) {
         auto older = NewProvider(api::ProviderType::kInfrastructure, "aws", "2025-01-01T00:00:00Z");
         older.id.ns = "elsewhere";
         o.siblings.push_back(std::make_shared<api::Provider>(older));
       },
       api::reason::kMoreThanOneExists, "There is already a InfrastructureProvider with name aws", Retry::kWaiting},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    c.change(o);
    Step step = Decide(o);
    ASSERT_EQ(StepName(step), "Hold");
    const Hold& hold = std::get<Hold>(step);
    EXPECT_EQ(hold.condition, api::condition::kPreflightCheckPassed);
    EXPECT_EQ(hold.reason, c.reason);
    EXPECT_THAT(hold.message, HasSubstr(c.message));
    EXPECT_EQ(hold.retry, c.retry);
  }
}

// C7 is part of the preflight.
TEST(Decide, PreflightCountsMinorVersions) {
  Observation o = Observed();
  o.provider.id = {api::ProviderType::kBootstrap, "kubeadm-system", "kubeadm"};
  o.provider.status.installed_version = "v1.8.0";
  Step step = Decide(o);
  ASSERT_EQ(StepName(step), "Hold");
  EXPECT_EQ(std::get<Hold>(step).reason, api::reason::kUnsupportedVersionSkip);
}

// I5: of another kind, or of another name, any number may be older; there is one core, whatever its name.
TEST(Decide, OthersMayBeOlder) {
  using enum api::ProviderType;
  struct Case {
    api::ProviderType type;
    std::string name;
    api::ProviderType me;
    bool refused;
  };
  const Case cases[] = {{kInfrastructure, "azure", kInfrastructure, false},
                        {kBootstrap, "aws", kInfrastructure, false},
                        {kInfrastructure, "aws", kInfrastructure, true},
                        {kCore, "other", kCore, true},
                        {kBootstrap, "other", kCore, false}};
  for (const Case& c : cases) {
    Observation o = Observed();
    if (c.me == kCore) o.provider = NewCore();
    auto older = NewProvider(c.type, c.name, "2025-01-01T00:00:00Z");
    older.id.ns = "elsewhere";
    o.siblings = {std::make_shared<api::Provider>(older)};
    Step step = Decide(o);
    EXPECT_EQ(StepName(step), c.refused ? "Hold" : "Install") << c.name;
    if (c.refused) EXPECT_EQ(std::get<Hold>(step).reason, api::reason::kMoreThanOneExists);
  }
}

TEST(Decide, TheOlderOfTwoGoesOn) {
  Observation o = Observed();
  auto younger = NewProvider(api::ProviderType::kInfrastructure, "aws", "2026-06-01T00:00:00Z");
  younger.id.ns = "elsewhere";
  o.siblings.push_back(std::make_shared<api::Provider>(younger));
  EXPECT_EQ(StepName(Decide(o)), "Install") << "I5: only the younger is refused";
}

// U1: whatever decides what is applied changes the digest; nothing else does.
TEST(InputsDigest, ChangesWithEveryInput) {
  Observation base = Observed();
  base.config_secret = Referenced{{"s", "aws-system"}, true, "uid/1"};
  std::string before = InputsDigest(base);
  ASSERT_FALSE(before.empty());
  void (*const changes[])(Observation&) = {
      [](Observation& o) { o.spec_digest = "other"; },
      [](Observation& o) {
        o.provider.spec.version = "v1.13.0", o.releases[0].version_text = "v1.13.0",
        o.releases[0].version = *api::Version::Parse("v1.13.0");
      },
      [](Observation& o) { o.releases[0].stamp = "uid/2"; },
      [](Observation& o) { o.config_secret->stamp = "uid/2"; },
      [](Observation& o) {
        o.additional_manifests = Referenced{{"m", "aws-system"}, true, "uid/9"};
      },
      [](Observation& o) { o.environment = "other"; },
      [](Observation& o) { o.provider.uid = "made anew"; },
      [](Observation& o) { o.provider.annotations["operator.cluster.x-k8s.io/reconcile-at"] = "now"; },
  };
  for (auto change : changes) {
    Observation o = base;
    change(o);
    EXPECT_NE(InputsDigest(o), before);
  }
  Observation same = base;
  same.provider.spec.version = "1.12.0";  // I12
  same.provider.status.contract = "v1beta2";
  same.provider.generation = 9;
  same.source_secret = Referenced{{"registry", "aws-system"}, true, "uid/3"};  // T9
  EXPECT_EQ(InputsDigest(same), before);
}

// I6: any number of versions under one selector.
TEST(WantedRelease, IsTheNamedOne) {
  Observation o = Observed();
  o.provider.spec.fetch_config.emplace().selector = Json::object();
  o.releases.clear();
  for (const char* v : {"v0.4.9", "v0.4.10", "v0.5.0-rc.1", "v0.4.8"}) {
    o.releases.push_back({"aws-system", v, v, *api::Version::Parse(v), v});
  }
  o.releases.push_back({"aws-system", "nonsense", "nonsense", {}, "x"});
  o.provider.spec.version = "0.4.8";
  EXPECT_EQ(WantedRelease(o)->name, "v0.4.8");
  o.provider.spec.version = "v9.9.9";
  EXPECT_EQ(WantedRelease(o), nullptr);
}

// T12: what was fetched from elsewhere, or by another digest, isn't what a registry is named for; what somebody put
// there is.
TEST(WantedRelease, IsOfTheRegistryThatTheSpecNames_T12) {
  const std::string digest = "@sha256:" + std::string(64, 'a'), other = "@sha256:" + std::string(64, 'b');
  const std::tuple<std::string, std::string, bool, bool> cases[] = {
      {"r.example/a", "oci://r.example/a v1.12.0", true, true},
      {"oci://r.example/a", "oci://r.example/a v1.12.0", true, true},
      {"r.example/a", "oci://r.example/b v1.12.0", true, false},
      {"r.example/a", "http://r.example/a v1.12.0", true, false},
      {"r.example/a", "github.com/o/r v1.12.0", true, false},
      {"r.example/a", "", true, false},
      {"r.example/a", "", false, true},
      {"r.example/a" + digest, "oci://r.example/a" + digest + " v1.12.0", true, true},
      {"r.example/a" + digest, "oci://r.example/a" + other + " v1.12.0", true, false},
      {"r.example/a" + digest, "oci://r.example/a v1.12.0", true, false},
      {"", "oci://r.example/a v1.12.0", true, true},
  };
  for (const auto& [oci, source, fetched, wanted] : cases) {
    Observation o = Observed();
    o.provider.spec.version = "v1.12.0";
    o.provider.spec.fetch_config.emplace().oci = oci;
    o.releases = {{"aws-system", "a", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1", source, fetched}};
    EXPECT_EQ(WantedRelease(o) != nullptr, wanted) << oci << " " << source;
    EXPECT_EQ(InputsDigest(o).empty(), !wanted) << oci << " " << source;
    EXPECT_NE(WantedRelease(o, /*of_any_source=*/true), nullptr);
  }
}

// I5: two that were made in one second; what is installed, or has begun, stays, whatever its uid: refused, it would
// keep the other one from its objects for good.
TEST(GoesBefore, OneOfTwoAlways) {
  api::Provider a = NewProvider(api::ProviderType::kCore, "cluster-api"), b = a;
  a.uid = "1";
  b.uid = "2";
  EXPECT_TRUE(GoesBefore(a, b));
  EXPECT_FALSE(GoesBefore(b, a));
  const std::pair<std::string_view, std::function<void(api::ProviderStatus&)>> begun[] = {
      {"installed", [](auto& status) { status.installed_version = "v1.12.0"; }},
      {"announced",
       [](auto& status) {
         status.inventory = Json::array({{{"kind", "Service"}}});
       }},
      {"rolling out", [](auto& status) { status.history = {api::HistoryEntry{}}; }},
  };
  for (const auto& [name, begin] : begun) {
    SCOPED_TRACE(name);
    b.status = {};
    begin(b.status);
    EXPECT_TRUE(GoesBefore(b, a));
    EXPECT_FALSE(GoesBefore(a, b));
  }
  a.created = "2025-01-01T00:00:00Z";
  EXPECT_TRUE(GoesBefore(a, b)) << "the older one";
}

}  // namespace
}  // namespace capi::ops
