// B2: who waits for whom, and for what.
#include "operator/ui/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/ui/ui_testing.h"

namespace capi::ops::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::map<std::string, Place> PlacesOf(const std::vector<Sample>& samples) {
  Watched watched;
  for (const Sample& sample : samples) watched.Put(sample);
  return Connect(watched.cache.All());
}

const Json kSecret = {{"version", "v1.0.0"}, {"configSecret", {{"name", "creds"}}}};

// B2: one Secret that isn't there, and everybody whom it holds up names it as the same thing.
TEST(Connect, WhatSeveralNeedIsOneThing) {
  std::vector<Sample> all = {Core()};
  for (const char* name : {"aws", "azure", "gcp"}) {
    all.push_back(
        Held(name, api::reason::kSecretNotFound, "Secret n/creds (spec.configSecret) doesn't exist: create it"));
    all.back().spec = kSecret;
  }
  auto places = PlacesOf(all);
  EXPECT_THAT(places[Core().Key()].needs, IsEmpty());
  for (size_t i = 1; i < all.size(); ++i) {
    EXPECT_THAT(places[all[i].Key()].needs, ElementsAre(Need{"Secret", "n", "creds"}));
  }
}

TEST(Connect, NeedsByTheReason) {
  struct Case {
    std::string_view reason;
    std::string message;
    Json spec;
    std::vector<Need> needs;
  };
  const Case cases[] = {
      {api::reason::kSecretNotFound,
       "Secret n/keys (spec.fetchConfig.verify.secretRef) doesn't exist",
       {{"configSecret", {{"name", "creds"}}},
        {"fetchConfig",
         {{"url", "https://x"}, {"verify", {{"provider", "cosign"}, {"secretRef", {{"name", "keys"}}}}}}}},
       {{"Secret", "n", "keys"}}},
      {api::reason::kMissingVariables, "TOKEN", kSecret, {{"Secret", "n", "creds"}}},
      {api::reason::kMissingVariables, "TOKEN", Json::object(), {}},
      {api::reason::kAdditionalManifestsNotFound,
       "x",
       {{"additionalManifests", {{"name", "more"}}}},
       {{"ConfigMap", "n", "more"}}},
      {api::reason::kServiceAccountNotFound,
       "x",
       {{"serviceAccountName", "tenant"}},
       {{"ServiceAccount", "n", "tenant"}}},
      {api::reason::kSourceUnreachable,
       "x",
       {{"fetchConfig", {{"url", "https://u:secret@a.example:8443/b/c?d"}}}},
       {{"Source", "", "a.example:8443"}}},
      {api::reason::kRateLimited,
       "x",
       {{"fetchConfig", {{"oci", "registry.example/a:v1"}}}},
       {{"Source", "", "registry.example"}}},
      {api::reason::kSourceUnreachable,
       "git, the short form",
       {{"fetchConfig", {{"git", {{"url", "git@Git.example.com:org/r.git"}}}}}},
       {{"Source", "", "git.example.com"}}},
      {api::reason::kSourceCredentialsRejected,
       "git over https",
       {{"fetchConfig", {{"git", {{"url", "https://git.example.com:443/org/r.git"}}}}}},
       {{"Source", "", "git.example.com"}}},
      {api::reason::kSourceUnreachable,
       "the default port",
       {{"fetchConfig", {{"url", "https://A.example:443/b"}}}},
       {{"Source", "", "a.example"}}},
      {api::reason::kSourceUnreachable, "no host", {{"fetchConfig", {{"url", "nowhere"}}}}, {}},
      {api::reason::kSourceUnreachable, "x", Json::object(), {}},
      {api::reason::kInvalidSpec, "Secret n/creds doesn't matter", kSecret, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message + " " + std::string(c.reason));
    Sample sample = Held("aws", c.reason, c.message);
    sample.spec = c.spec;
    EXPECT_EQ(PlacesOf({sample})[sample.Key()].needs, c.needs);
  }
}

// B2: the cause is told of whom it is, however long the chain.
TEST(Connect, TheRootIsTheEndOfTheChain) {
  Sample core = Core();
  core.ready = false;
  core.reason = api::reason::kSecretNotFound;
  const Sample second = Held("kubeadm", api::reason::kWaitingForCoreProviderReady, "waits");
  const Sample third =
      Held("aws", api::reason::kWaitingForOrder, "comes after InfrastructureProvider n/kubeadm (v1beta1)");
  auto places = PlacesOf({core, second, third});
  EXPECT_EQ(places[core.Key()].root, "");
  EXPECT_THAT(places[second.Key()].waits_for, ElementsAre(core.Key()));
  EXPECT_EQ(places[second.Key()].root, core.Key());
  EXPECT_THAT(places[third.Key()].waits_for, ElementsAre(second.Key()));
  EXPECT_EQ(places[third.Key()].root, core.Key());
}

// One that is ready has no cause: what has to be done stands in the message of who waits for it.
TEST(Connect, WhatIsReadyIsNobodysRoot) {
  Sample ready;
  ready.name = "ready";
  const Sample held = Held("held", api::reason::kWaitingForPause, "not paused: InfrastructureProvider n/ready");
  const Sample behind = Held("behind", api::reason::kWaitingForOrder, "comes after InfrastructureProvider n/held");
  auto places = PlacesOf({ready, held, behind});
  EXPECT_THAT(places[held.Key()].waits_for, ElementsAre(ready.Key()));
  EXPECT_EQ(places[held.Key()].root, "");
  EXPECT_EQ(places[behind.Key()].root, held.Key());
}

// In the words of X3 and I5, which name a kind and a name.
TEST(Connect, WhomAMessageNamesByKind) {
  Sample core = Core();
  core.ready = false;
  core.reason = api::reason::kDeletionBlocked;
  core.message =
      "other providers need the core: InfrastructureProvider/second, InfrastructureProvider/aws; delete these first";
  const Sample second = Held("second", api::reason::kObjectOwnedByAnotherProvider,
                             "ClusterRole.rbac.authorization.k8s.io/x belongs to InfrastructureProvider/aws "
                             "(namespace n), which installed it: two providers can't own one object");
  const Sample other = Held("other", api::reason::kWaitingForOrder,
                            "InfrastructureProvider/aws v2.0.0 (contract v1beta2) comes after n/second");
  auto places = PlacesOf({core, second, other, Sample()});
  EXPECT_THAT(places[core.Key()].waits_for, UnorderedElementsAre(second.Key(), Sample().Key()));
  EXPECT_EQ(places[core.Key()].root, "") << "it waits for both";
  EXPECT_THAT(places[second.Key()].waits_for, ElementsAre(Sample().Key()));
  EXPECT_THAT(places[other.Key()].waits_for, ElementsAre(second.Key()));
}

TEST(Connect, ACircleAndSeveralHaveNoRoot) {
  const Sample one = Held("one", api::reason::kWaitingForPause, "not paused: n/two");
  const Sample two = Held("two", api::reason::kWaitingForOrder, "comes after n/one");
  const Sample both = Held("both", api::reason::kWaitingForPause, "not paused: n/one, n/two");
  auto places = PlacesOf({one, two, both});
  EXPECT_EQ(places[one.Key()].root, "");
  EXPECT_EQ(places[two.Key()].root, "");
  EXPECT_THAT(places[both.Key()].waits_for, UnorderedElementsAre(one.Key(), two.Key()));
  EXPECT_EQ(places[both.Key()].root, "");
}

TEST(Connect, WithoutACoreItIsTheCoreThatIsNeeded) {
  const Sample aws = Held("aws", api::reason::kWaitingForCoreProviderReady, "there is no CoreProvider object");
  auto places = PlacesOf({aws});
  EXPECT_THAT(places[aws.Key()].waits_for, IsEmpty());
  EXPECT_THAT(places[aws.Key()].needs, ElementsAre(Need{"CoreProvider", "", "cluster-api"}));
}

TEST(Connect, WhatIsReadyWaitsForNothing) {
  Sample aws = Held("aws", api::reason::kWaitingForOrder, "comes after n/gcp");
  aws.ready = true;
  auto places = PlacesOf({aws, Held("gcp", api::reason::kProgressing, "")});
  EXPECT_THAT(places[aws.Key()].waits_for, IsEmpty());
}

}  // namespace
}  // namespace capi::ops::ui
