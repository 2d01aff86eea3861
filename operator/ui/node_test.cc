// B2, B3: a provider as the page has it.
#include "operator/ui/node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/report/secret_masks.h"
#include "operator/ui/ui_testing.h"

namespace capi::ops::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CachedPtr Cached(const Sample& sample) {
  Watched watched;
  watched.Put(sample);
  return watched.cache.Get(sample.Key());
}

Json Condition(std::string_view type, std::string_view status, std::string_view reason) {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", ""}};
}

TEST(StateOf, IsOneWord) {
  struct Case {
    const char* state;
    bool ready;
    std::string_view reason;
    Json conditions;
    Place place;
    std::string message = {};
  };
  const Json at_zero = Condition("Paused", "True", "Paused");
  const Case cases[] = {
      {"ready", true, api::reason::kWorkloadsReady, Json::array(), {}},
      {"paused", true, api::reason::kPaused, Json::array({Condition("Paused", "True", "Paused")}), {}},
      {"stalled", false, api::reason::kInvalidSpec, Json::array({Condition("Stalled", "True", "InvalidSpec")}), {}},
      // P2: the condition Paused stays, whatever holds up one that is at zero.
      {"paused", false, api::reason::kPaused, Json::array({at_zero}), {}},
      {"paused", false, api::reason::kProgressing, Json::array({Condition("Paused", "True", "HandsOff")}), {}},
      {"stalled",
       false,
       api::reason::kInvalidSpec,
       Json::array({at_zero, Condition("Stalled", "True", "InvalidSpec")}),
       {}},
      {"waiting", false, api::reason::kSecretNotFound, Json::array({at_zero}), {{}, {{"Secret", "n", "x"}}, ""}},
      {"waiting", false, api::reason::kWaitingForContracts, Json::array({at_zero}), {}, "Not there yet: n/gcp"},
      {"working", false, api::reason::kWaitingForContracts, Json::array({at_zero}), {}, "it is looked at first"},
      // Whether the other one can be shown or not.
      {"waiting", false, api::reason::kWaitingForCoreProviderReady, Json::array(), {}},
      {"waiting", false, api::reason::kMoreThanOneExists, Json::array(), {}, "it is older"},
      {"waiting", false, api::reason::kRateLimited, Json::array(), {}, "the built-in source"},
      {"waiting", false, api::reason::kSecretNotFound, Json::array(), {{}, {{"Secret", "n", "x"}}, ""}},
      {"waiting", false, api::reason::kWaitingForOrder, Json::array(), {{"a"}, {}, "a"}},
      {"working", false, api::reason::kProgressing, Json::array({Condition("Reconciling", "True", "x")}), {}},
  };
  for (const Case& c : cases) {
    Sample sample = Held("aws", c.reason, c.message);
    sample.ready = c.ready;
    sample.status = {{"conditions", c.conditions}};
    EXPECT_EQ(StateOf(*Cached(sample)->provider, c.place), c.state) << c.reason << ": " << c.message;
  }
  Sample unseen;
  unseen.status = {{"observedGeneration", 0}};
  EXPECT_EQ(StateOf(*Cached(unseen)->provider, {}), "unseen");
  api::Provider deleted = *Cached({})->provider;
  deleted.deleting = true;
  EXPECT_EQ(StateOf(deleted, {}), "deleting");
}

// B2: the words are those of `clusterctl why` (L9).
TEST(NodeOf, SaysTheCauseAndTheNextStep) {
  const Sample sample = Held("aws", api::reason::kSecretNotFound, "Secret n/creds doesn't exist");
  const Json node = NodeOf(*Cached(sample), nullptr, {});
  EXPECT_EQ(node["why"]["message"], "Secret n/creds doesn't exist");
  EXPECT_EQ(node["why"]["action"], api::FindReason(api::reason::kSecretNotFound)->action);
  EXPECT_FALSE(node["seen"].get<bool>()) << "no pass was made here";
}

// B3: of every object whether it is as it was applied, and who changed it.
TEST(DetailsOf, HasTheInventoryWithDrift) {
  kube::Inventory inventory;
  const kube::InventoryEntry applied{"v1", "h", "f", false};
  const kube::ObjectId kept{"apps", "Deployment", "n", "kept"}, changed{"", "ConfigMap", "n", "changed"},
      gone{"", "Service", "n", "gone"}, old{"", "Secret", "n", "old"}, coming{"", "Secret", "n", "coming"},
      crd{"apiextensions.k8s.io", "CustomResourceDefinition", "", "a.b"};
  for (const auto& id : {kept, changed, gone, crd}) inventory.Put(id, applied);
  inventory.Put(old, {"v1", "h", "f", true});
  inventory.Put(coming, {"v1", "", "", false});
  Sample sample;
  sample.status = {{"inventory", inventory.ToJson()}};
  Facts facts;
  facts.drifts = {{changed, false, "kubectl-edit (Update)"}, {gone, true, ""}};
  facts.pending_crds = {"a.b"};
  auto states = [&](const Facts* seen) {
    std::map<std::string, std::string> out;
    const Json details = DetailsOf(*Cached(sample), seen, {}, {});
    for (const Json& object : details["inventory"]["objects"]) {
      out[object["name"]] = object["state"];
      if (object.contains("by") && object["by"] != "") out[object["name"]] += " by " + object["by"].get<std::string>();
    }
    return out;
  };
  const std::map<std::string, std::string> expected = {
      {"kept", "applied"}, {"changed", "changed by kubectl-edit (Update)"},
      {"gone", "missing"}, {"a.b", "pending"},
      {"old", "leftover"}, {"coming", "pending"}};
  EXPECT_EQ(states(&facts), expected);
  EXPECT_EQ(states(nullptr)["kept"], "unknown") << "a replica that doesn't lead sees no objects";
  facts.blind = true;
  EXPECT_EQ(states(&facts)["kept"], "unknown");
}

TEST(DetailsOf, SaysThatAnInventoryCantBeRead) {
  Sample sample;
  sample.status = {{"inventory", Json::array({1})}};
  EXPECT_THAT(ToJsonText(DetailsOf(*Cached(sample), nullptr, {}, {})["inventory"]), HasSubstr("error"));
}

// B3: what a spec names is named, and nothing of what stands beside it.
TEST(DetailsOf, NamesWhatTheSpecRefersTo) {
  Sample sample;
  sample.spec = {{"version", "v1.0.0"},
                 {"configSecret", {{"name", "creds"}}},
                 {"additionalManifests", {{"name", "more"}}},
                 {"fetchConfig",
                  {{"git", {{"url", "https://user:hunter2@a.example/x"}, {"secretRef", {{"name", "ssh"}}}}},
                   {"secretRef", {{"name", "token"}}},
                   {"verify", {{"secretRef", {{"name", "key"}}}}}}}};
  const Json details = DetailsOf(*Cached(sample), nullptr, {}, {});
  std::map<std::string, std::string> names;
  for (const Json& one : details["references"]) names[one["field"]] = one["name"];
  const std::map<std::string, std::string> expected = {{"spec.configSecret", "creds"},
                                                       {"spec.additionalManifests", "more"},
                                                       {"spec.fetchConfig.secretRef", "token"},
                                                       {"spec.fetchConfig.git.secretRef", "ssh"},
                                                       {"spec.fetchConfig.verify.secretRef", "key"}};
  EXPECT_EQ(names, expected);
  EXPECT_THAT(ToJsonText(details), Not(HasSubstr("hunter2")));
}

TEST(FactsOf, TakesWhatAPassSaw) {
  Observation o;
  Workload sick;
  sick.id = {"apps", "Deployment", "n", "manager"};
  sick.health = {kube::HealthState::kInProgress, "0 of 1 replicas are available"};
  o.fleet.workloads = {sick};
  o.fleet.drifts.push_back({{"", "Service", "n", "s"}, true, {}, {}});
  o.fleet.certificates.push_back({{"", "Secret", "n", "cert"}, {"serving", "", {}, WallTime(Seconds(1'800'000'000))}});
  StoredRelease newer{.ns = "n", .name = "a", .version_text = "v1.10.0", .version = *api::Version::Parse("v1.10.0")};
  StoredRelease older{.ns = "n", .name = "b", .version_text = "v1.9.0", .version = *api::Version::Parse("v1.9.0")};
  o.releases = {newer, older};
  const Facts facts = FactsOf(o, [](std::string text) { return text; });
  ASSERT_EQ(facts.workloads.size(), 1U);
  EXPECT_FALSE(facts.workloads[0].healthy);
  EXPECT_EQ(facts.workloads[0].message, "0 of 1 replicas are available");
  EXPECT_TRUE(facts.drifts.at(0).missing);
  EXPECT_EQ(facts.certificates.at(0).ends, "2027-01-15T08:00:00Z");
  EXPECT_THAT(facts.releases, ::testing::ElementsAre("v1.9.0", "v1.10.0"));
}

// I7: who changes objects chooses his name himself.
TEST(FactsOf, HasNoSecretsValue) {
  Observation o;
  o.fleet.drifts.push_back({{"", "Service", "n", "s"}, false, {}, {}});
  o.fleet.drifts.back().trace.by = "hunter22 (Update)";
  o.fights.push_back({.what = "spec.x is changed by hunter22"});
  SecretMasks masks;
  auto hide = [&](std::string text) { return masks.Hide("key", std::move(text)); };
  EXPECT_THAT(FactsOf(o, hide).drifts.at(0).by, Not(HasSubstr("Update"))) << "no value is known yet";
  SecretValues values;
  values.Add("hunter22");
  masks.Put("key", values);
  const Facts facts = FactsOf(o, hide);
  EXPECT_EQ(facts.drifts.at(0).by, "*** (Update)");
  EXPECT_EQ(facts.fights.at(0), "spec.x is changed by ***");
}

}  // namespace
}  // namespace capi::ops::ui
