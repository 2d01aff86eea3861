#include "cli/describe/providers/providers_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "cli/describe/grid.h"
#include "cli/describe/providers/providers_text.h"
#include "cli/testing.h"

namespace capi::cli::describe {
namespace {

using testing::HasSubstr;
using enum api::ProviderType;

const WallTime kNow = ParseTime("2026-01-11T00:00:00Z").value();

ProviderObject Object(api::ProviderType type, std::string ns, std::string name, std::string status, std::string reason,
                      std::string message = "") {
  ProviderObject out;
  out.provider.id = {type, std::move(ns), std::move(name)};
  out.provider.status.installed_version = "v1.12.0";
  out.provider.status.contract = "v1beta2";
  out.wanted = "v1.12.0";
  out.provider.status.conditions = {
      {"Ready", std::move(status), std::move(reason), std::move(message), 0, "2026-01-01T00:00:00Z"}};
  return out;
}

Workload WorkloadOf(std::string ns, std::string name, std::string label, std::string message = "") {
  return {"Deployment", std::move(ns), std::move(name), std::move(label), "v1.12.0", message.empty(), message};
}

ProvidersInput Fleet() {
  ProvidersInput in;
  in.operators = {WorkloadOf("capi-operator-system", "capi-operator-controller-manager", "")};
  in.objects = {Object(kCore, "capi-system", "cluster-api", "True", "WorkloadsReady"),
                Object(kBootstrap, "kubeadm-system", "kubeadm", "False", "WaitingForOrder",
                       "kubeadm v1.13.0 comes after CoreProvider capi-system/cluster-api (v1beta2); it goes on"),
                Object(kInfrastructure, "capd-system", "docker", "False", "WorkloadsNotReady", "0 of 1")};
  in.objects[1].wanted = "v1.13.0";
  in.objects[0].provider.status.available_upgrades = {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}};
  in.inventory = {{kCore, "cluster-api", "capi-system", "v1.12.0"}, {kAddon, "helm", "caaph-system", "v0.3.0"}};
  in.workloads = {WorkloadOf("capi-system", "capi-controller-manager", "cluster-api"),
                  WorkloadOf("capd-system", "capd-controller-manager", "infrastructure-docker", "0 of 1 are available"),
                  WorkloadOf("elsewhere", "other", "cluster-api"),
                  WorkloadOf("caaph-system", "caaph-controller-manager", "addon-helm")};
  return in;
}

// L16.
TEST(ProvidersTree, TellsWhoLooksAfterWhomAndHowTheyAre) {
  ProvidersTree tree = BuildProvidersTree(Fleet());
  EXPECT_EQ(
      ProvidersText(tree, {.now = kNow}),
      R"(NAME                                       NAMESPACE             VERSION            CONTRACT READY  REASON             MESSAGE
Operator/capi-operator-controller-manager  capi-operator-system  v1.12.0                     True
├─CoreProvider/cluster-api                 capi-system           v1.12.0            v1beta2  True   WorkloadsReady     holds up BootstrapProvider kubeadm-system/kubeadm
│ └─Deployment/capi-controller-manager     capi-system                                       True
├─BootstrapProvider/kubeadm                kubeadm-system        v1.12.0 → v1.13.0  v1beta2  False  WaitingForOrder    waits for CoreProvider capi-system/cluster-api
│                                                                                                                      kubeadm v1.13.0 comes after CoreProvider capi-system/cluster-api (v1beta2); it
│                                                                                                                      goes on
│                                                                                                                      Do: Wait, or upgrade that provider.
└─InfrastructureProvider/docker            capd-system           v1.12.0            v1beta2  False  WorkloadsNotReady  0 of 1
  │                                                                                                                    Do: Wait; if it stays, look at the pods of the workload that the message names.
  └─Deployment/capd-controller-manager     capd-system                                       False                     0 of 1 are available
Inventory                                                                                                              no operator looks after these providers: clusterctl installed them
└─AddonProvider/helm                       caaph-system          v0.3.0                      True   WorkloadsReady
  └─Deployment/caaph-controller-manager    caaph-system                                      True
)");
  std::string wide = ProvidersText(tree, {.wide = true, .now = kNow});
  EXPECT_THAT(wide, HasSubstr("WANTED"));
  EXPECT_THAT(wide, HasSubstr("v1.13.0"));
  EXPECT_THAT(wide, HasSubstr("  10d  "));
  EXPECT_THAT(wide, HasSubstr("newer: v1.13.0, v1.12.1")) << "U12";
  EXPECT_THAT(ProvidersNames(tree), testing::ElementsAre("coreprovider.operator.cluster.x-k8s.io/cluster-api",
                                                         "bootstrapprovider.operator.cluster.x-k8s.io/kubeadm",
                                                         "infrastructureprovider.operator.cluster.x-k8s.io/docker",
                                                         "provider.clusterctl.cluster.x-k8s.io/addon-helm"));
  Json json = ProvidersJson(tree);
  EXPECT_EQ(json["operators"][0]["ready"], true);
  EXPECT_EQ(json["providers"][0]["holdsUp"], Json({"BootstrapProvider kubeadm-system/kubeadm"}));
  EXPECT_EQ(json["providers"][1]["wantedVersion"], "v1.13.0");
  EXPECT_EQ(json["providers"][1]["waitsFor"], Json({"CoreProvider capi-system/cluster-api"}));
  EXPECT_EQ(json["providers"][3]["managedBy"], "clusterctl");
}

// L16, U12: of many the newest, and what has to come before one.
TEST(ProvidersTree, TheNewestVersionsAreToldFirst) {
  ProvidersInput in = Fleet();
  auto& upgrades = in.objects[0].provider.status.available_upgrades;
  upgrades.clear();
  for (int minor = 13; minor < 20; ++minor) upgrades.push_back({"v1." + std::to_string(minor) + ".0", "v1beta2"});
  upgrades.back().needs = "Pause";
  upgrades[1].refused = api::UpgradeRefusal{"inputs", "since", "until", "AWS_REGION has no value"};
  const ProvidersTree tree = BuildProvidersTree(in);
  EXPECT_THAT(ProvidersText(tree, {.wide = true, .now = kNow}),
              HasSubstr("newer: v1.19.0 (needs Pause), v1.18.0, v1.17.0, v1.16.0, v1.15.0 and 2 more"));
  const Json json = ProvidersJson(tree)["providers"][0]["availableUpgrades"];
  ASSERT_EQ(json.size(), 7u);
  EXPECT_EQ(json[0], Json({{"version", "v1.13.0"}, {"contract", "v1beta2"}}));
  EXPECT_EQ(GetString(json[1], {"refused", "message"}), "AWS_REGION has no value") << "U13: as in the status";
  EXPECT_EQ(json[6], Json({{"version", "v1.19.0"}, {"contract", "v1beta2"}, {"needs", "Pause"}}));
}

// L16: by what their conditions say.
TEST(ProvidersTree, WhoWaitsForWhom) {
  struct Case {
    const char *status, *reason, *message;
    std::vector<std::string> waits_for;
  };
  const std::string core = "CoreProvider capi-system/cluster-api", other = "InfrastructureProvider a/docker";
  const Case cases[] = {
      {"True", "WorkloadsReady", "", {}},
      {"False", "WaitingForCoreProviderReady", "there is no word of it", {core}},
      {"False", "WaitingForPause", "not paused: InfrastructureProvider a/docker (v1beta1), x", {other}},
      {"False", "WaitingForContracts", "capi-system/cluster-api and a/docker", {core, other}},
      {"False", "WaitingForOrder", "InfrastructureProvider a/docker-2 (v1), b-a/docker", {}},
      {"False", "DeletionBlocked", "there is InfrastructureProvider a/docker.", {other}},
      {"False", "WorkloadsNotReady", "Deployment a/docker isn't there", {}},
      {"False", "WaitingForOrder", "kubeadm-system/kubeadm itself", {}},
  };
  for (const Case& c : cases) {
    ProvidersInput in;
    in.objects = {Object(kCore, "capi-system", "cluster-api", "True", "WorkloadsReady"),
                  Object(kBootstrap, "kubeadm-system", "kubeadm", c.status, c.reason, c.message),
                  Object(kInfrastructure, "a", "docker", "True", "WorkloadsReady")};
    EXPECT_EQ(BuildProvidersTree(in).providers[1].waits_for, c.waits_for) << c.message;
  }
}

TEST(ProvidersTree, WhatTheOperatorHasNotLookedAtIsUnknown) {
  ProvidersInput in;
  in.objects = {Object(kCore, "capi-system", "cluster-api", "True", "WorkloadsReady"), ProviderObject()};
  in.objects[0].provider.generation = 2;
  in.objects[1].provider.id = {kAddon, "x", "y"};
  ProvidersTree tree = BuildProvidersTree(in);
  EXPECT_EQ(tree.providers[0].ready, "Unknown");
  EXPECT_THAT(tree.providers[0].message, HasSubstr("The operator has not looked at the last change of it yet"));
  EXPECT_EQ(tree.providers[1].ready, "Unknown");
  EXPECT_EQ(tree.providers[1].message, "The operator has not looked at it yet.");
  const std::string text = ProvidersText(tree, {.now = kNow});
  EXPECT_THAT(text, HasSubstr("no Deployment has the label app.kubernetes.io/name=capi-operator: it runs\n"));
  EXPECT_THAT(text, HasSubstr("Do: Wait; if it stays, see that the operator runs, and read its log.\n"));
}

// L16: the end of the chain is named where it isn't the next one; what holds beside the cause is told.
TEST(ProvidersTree, TheCauseAndTheNextStepAreThoseOfWhy) {
  ProvidersInput in;
  in.objects = {Object(kCore, "capi-system", "cluster-api", "False", "SecretNotFound", "there is no Secret a/b"),
                Object(kBootstrap, "b", "kubeadm", "False", "WaitingForCoreProviderReady", ""),
                Object(kInfrastructure, "a", "docker", "False", "WaitingForOrder", "comes after b/kubeadm")};
  in.objects[0].provider.status.desired_contract = "v1beta3";
  in.objects[1].provider.status.conditions.push_back({"Drifted", "True", "Changed", "2 objects", 0, ""});
  const ProvidersTree tree = BuildProvidersTree(in);
  EXPECT_EQ(tree.providers[0].root, "");
  EXPECT_EQ(tree.providers[1].root, "CoreProvider capi-system/cluster-api");
  EXPECT_EQ(tree.providers[2].root, "CoreProvider capi-system/cluster-api");
  for (const ProviderLine& line : tree.providers) {
    const advice::Explanation why = advice::Explain(in.objects[line.id.type == kCore        ? 0
                                                               : line.id.type == kBootstrap ? 1
                                                                                            : 2]
                                                        .provider);
    EXPECT_EQ(line.message, why.message);
    EXPECT_EQ(line.meaning, why.meaning);
    EXPECT_EQ(line.action, why.action);
    EXPECT_NE(line.action, "");
  }
  const std::string text = ProvidersText(tree, {.now = kNow});
  EXPECT_THAT(text, HasSubstr("v1beta2 → v1beta3"));
  EXPECT_THAT(text, HasSubstr("the cause is at CoreProvider capi-system/cluster-api\n"));
  EXPECT_THAT(text, HasSubstr("Do: " + tree.providers[0].action.substr(0, 30)));
  EXPECT_THAT(text, HasSubstr("also Drifted (Changed): 2 objects\n"));
  size_t named = 0;
  for (size_t at = text.find("the cause is at"); at != text.npos; at = text.find("the cause is at", at + 1)) ++named;
  EXPECT_EQ(named, 1U) << "of the one whose next isn't the cause";
  const Json json = ProvidersJson(tree)["providers"];
  EXPECT_EQ(json[2]["root"], "CoreProvider capi-system/cluster-api");
  EXPECT_EQ(json[0]["contractToCome"], "v1beta3");
  EXPECT_EQ(json[0]["see"], "docs/reasons.md#secretnotfound");
  EXPECT_EQ(json[1]["also"][0]["type"], "Drifted");
}

// L16: in a narrow window messages are below, and the state is beside the name.
TEST(ProvidersText, FitsTheWindow) {
  const ProvidersTree tree = BuildProvidersTree(Fleet());
  const std::string narrow = ProvidersText(tree, {.columns = 80, .now = kNow});
  EXPECT_THAT(narrow,
              testing::StartsWith(R"(NAME                                       READY  VERSION            CONTRACT
Operator/capi-operator-controller-manager  True   v1.12.0
├─CoreProvider/cluster-api                 True   v1.12.0            v1beta2
│ │   holds up BootstrapProvider kubeadm-system/kubeadm
│ └─Deployment/capi-controller-manager     True
├─BootstrapProvider/kubeadm                False  v1.12.0 → v1.13.0  v1beta2
│   WaitingForOrder
│   waits for CoreProvider capi-system/cluster-api
│   kubeadm v1.13.0 comes after CoreProvider capi-system/cluster-api (v1beta2);
│   it goes on
│   Do: )"));
  EXPECT_THAT(ProvidersText(tree, {.wide = true, .columns = 80, .now = kNow}), HasSubstr("WaitingForOrder for 10d\n"));
  for (size_t columns : {80, 100, 140, 160, 200, 300}) {
    for (const bool wide : {false, true}) {
      const std::string text = ProvidersText(tree, {.wide = wide, .columns = columns, .now = kNow});
      for (const std::string& line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), columns) << line;
      EXPECT_EQ(text.find("NAMESPACE") != text.npos, columns >= (wide ? 200 : 160)) << columns;
    }
  }
  EXPECT_EQ(ProvidersText(tree, {.columns = 300, .now = kNow}), ProvidersText(tree, {.now = kNow}));
}

// L16: colours say how each is, and nothing else depends on them.
TEST(ProvidersText, ColoursAddNothingButColour) {
  ProvidersInput in = Fleet();
  in.objects[2].provider.status.observed_generation = -1;
  const ProvidersTree tree = BuildProvidersTree(in);
  for (size_t columns : {0, 80}) {
    std::string text = ProvidersText(tree, {.colours = true, .columns = columns, .now = kNow});
    EXPECT_THAT(text, HasSubstr("\x1b[32mTrue\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("\x1b[31mFalse\x1b[0m"));
    EXPECT_THAT(text, HasSubstr("\x1b[33mUnknown\x1b[0m"));
    for (const char* sequence : {"\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[90m"})
      text = ReplaceAll(text, sequence, "");
    EXPECT_EQ(text, ProvidersText(tree, {.columns = columns, .now = kNow}));
  }
}

// L16: what steers a terminal is replaced wherever somebody may have written it.
TEST(ProvidersText, HostileTextIsReplaced) {
  const std::string evil = "a\x1b[2J\xC2\x9B\rb\nc";
  ProvidersInput in;
  in.operators = {WorkloadOf(evil, evil, "", evil)};
  in.objects = {Object(kCore, evil, evil, "False", evil, evil),
                Object(kAddon, "x", "y", "False", "WaitingForOrder", "")};
  in.objects[0].provider.status.installed_version = in.objects[0].provider.status.contract = evil;
  in.objects[0].provider.status.desired_contract = in.objects[0].wanted = evil + "2";
  in.objects[0].provider.status.available_upgrades = {{evil, evil, evil}};
  in.objects[0].provider.status.conditions.push_back({"Drifted", "True", evil, evil, 0, ""});
  in.workloads = {WorkloadOf(evil, evil, api::ManifestLabel(kCore, evil), evil)};
  const ProvidersTree tree = BuildProvidersTree(in);
  for (size_t columns : {0, 80}) {
    for (const bool wide : {false, true}) {
      const std::string text = ProvidersText(tree, {.wide = wide, .columns = columns, .now = kNow});
      for (const char* bad : {"\x1b", "\r", "\xC2\x9B"}) EXPECT_EQ(text.find(bad), text.npos) << text;
    }
  }
}

TEST(ProvidersText, HealthyWorkloadsMayBeLeftOut) {
  const std::string text = ProvidersText(BuildProvidersTree(Fleet()), {.ill_alone = true, .now = kNow});
  EXPECT_THAT(text, testing::Not(HasSubstr("Deployment/capi-controller-manager")));
  EXPECT_THAT(text, HasSubstr("  └─Deployment/capd-controller-manager"));
}

// L16: a cluster in which clusterctl installed all.
TEST(ProvidersTree, WithoutAnOperatorProvidersAreAsTheirWorkloadsAre) {
  ProvidersInput in;
  in.inventory = {{kCore, "cluster-api", "a", "v1"}, {kIpam, "in-cluster", "b", "v2"}, {kAddon, "helm", "c", "v3"}};
  in.workloads = {WorkloadOf("a", "m", "cluster-api"), WorkloadOf("b", "n", "ipam-in-cluster", "0 of 1")};
  ProvidersTree tree = BuildProvidersTree(in);
  ASSERT_EQ(tree.providers.size(), 3U);
  EXPECT_EQ(tree.providers[0].ready, "True");
  EXPECT_EQ(tree.providers[1].ready, "False");
  EXPECT_EQ(tree.providers[1].message, "Deployment n: 0 of 1");
  EXPECT_EQ(tree.providers[2].ready, "Unknown");
  EXPECT_EQ(tree.providers[2].message, "no workload has its label");
  std::string text = ProvidersText(tree, {.now = kNow});
  EXPECT_THAT(text, HasSubstr("no operator looks after these providers"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Operator ")));
  in.workloads_known = false;
  in.workloads.clear();
  EXPECT_EQ(BuildProvidersTree(in).providers[0].message, "its workloads can't be read");
  EXPECT_EQ(ProvidersText(BuildProvidersTree({}), {.now = kNow}),
            "There are no providers in the cluster: `clusterctl init` installs them.\n");
}

TEST(ProvidersTree, AWorkloadIsRead) {
  struct Case {
    const char *containers, *version;
  };
  const Case cases[] = {
      {R"([{"name":"manager","image":"r:5000/a/b:v1.2.3@sha256:00"}])", "v1.2.3"},
      {R"([{"name":"proxy","image":"p:v9"},{"name":"manager","image":"a:v1"}])", "v1"},
      {R"([{"name":"manager","image":"r:5000/a/b"}])", ""},
      {R"([{"name":"manager"}])", ""},
      {R"(7)", ""},
  };
  for (const Case& c : cases) {
    std::string json =
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n","generation":2,
        "labels":{"cluster.x-k8s.io/provider":"cluster-api"}},
        "spec":{"template":{"spec":{"containers":)" +
        std::string(c.containers) + "}}}}";
    Workload got = ReadWorkload(kube::Object(ParseJson(json).value()));
    EXPECT_EQ(got.version, c.version) << c.containers;
    EXPECT_EQ(got.label, "cluster-api");
    EXPECT_FALSE(got.healthy);
    EXPECT_NE(got.message, "");
  }
}

TEST(ProvidersTree, LongMessagesAreCutShort) {
  ProvidersInput in;
  in.objects = {Object(kCore, "a", "b", "False", "InstallFailed", "1\n2\n3\n4\n5\n6\x1b[2J")};
  std::string text = ProvidersText(BuildProvidersTree(in), {.now = kNow});
  EXPECT_THAT(text, HasSubstr("5 ...\n"));
  in.objects[0].provider.status.conditions[0].message = "a\x1b[2J";
  EXPECT_THAT(ProvidersText(BuildProvidersTree(in), {.now = kNow}), HasSubstr("a?[2J"));
}

// L15, L16.
TEST(Describe, BadArgumentsAreToldBeforeAnyClusterIsLookedFor) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"describe", "cluster"}, "please specify a cluster name"},
      {{"describe", "cluster", "a", "b"}, "please specify a cluster name"},
      {{"describe", "cluster", "a", "-o", "x"},
       "invalid output format \"x\", valid values: [json name table text wide yaml]"},
      {{"describe", "cluster", "a", "--show-conditions", "a b"}, "whitespace is not allowed"},
      {{"describe", "providers", "-o", "x"},
       "invalid output format \"x\", valid values: [json name table text wide yaml]"},
      {{"describe", "provider"}, "unknown command"},
  };
  for (const auto& [arguments, error] : cases) {
    Outcome outcome = Clusterctl(arguments, {{"HOME", "/nowhere"}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(error));
  }
  Outcome old =
      Clusterctl({"describe", "cluster", "a", "--v1beta2=false", "--disable-grouping"}, {{"HOME", "/nowhere"}});
  EXPECT_THAT(old.err, HasSubstr("Warning: --v1beta2 is deprecated"));
  EXPECT_THAT(old.err, HasSubstr("Warning: --disable-grouping is deprecated; write --grouping=false"));
}

}  // namespace
}  // namespace capi::cli::describe
