// The pure pieces of upgrades: differences, variables, what a status says, patches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/upgrade/difference.h"
#include "cli/upgrade/progress.h"
#include "cli/upgrade/rollback.h"
#include "cli/upgrade/rollout.h"
#include "cli/upgrade/target.h"
#include "cli/upgrade/write.h"

namespace capi::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

kube::Object Thing(const std::string& kind, const std::string& name, Json spec) {
  return kube::Object(
      {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", std::move(spec)}});
}

TEST(Compare, NamesWhatIsAddedChangedAndRemoved) {  // L13
  Json list = Json::array({1, 2});
  std::vector<kube::Object> before = {Thing("A", "same", {{"x", 1}}), Thing("A", "other", {{"x", 1}, {"l", list}}),
                                      Thing("B", "gone", {})};
  std::vector<kube::Object> after = {Thing("A", "same", {{"x", 1}}),
                                     Thing("A", "other", {{"x", 2}, {"l", Json::array({1, 3})}, {"a.b", 1}}),
                                     Thing("C", "new", {})};
  EXPECT_EQ(AsLines(CompareObjects(before, after)),
            "  ~ A/other: .spec.l[1], .spec.x, .spec[\"a.b\"]\n  - B/gone\n  + C/new\n");
  EXPECT_TRUE(CompareObjects(after, after).empty());
}

api::Release ReleaseOf(std::string components) {
  api::Release release;
  release.components = std::move(components);
  return release;
}

TEST(FindVariables, TakesWhatOnlyTheNewReleaseAsksFor) {  // L13
  api::Release former = ReleaseOf("a: ${OLD}\nb: ${ENV}\nc: ${BOTH:=x}\n");
  api::Release release =
      ReleaseOf("a: ${OLD}\nb: ${ENV}\nc: ${BOTH:=x}\nd: ${NEW}\ne: ${NONE}\nf: ${OPTION:=off}\ng: ${UNSET:=off}\n");
  auto configured = [](const std::string& name) -> std::optional<std::string> {
    if (name == "UNSET" || name == "NONE") return std::nullopt;
    return "of-" + name;
  };
  auto got = FindVariables(release, &former, {{"OLD", "1"}}, configured);
  EXPECT_EQ(got.found, (std::map<std::string, std::string>{{"NEW", "of-NEW"}, {"OPTION", "of-OPTION"}}));
  EXPECT_THAT(got.missing, ElementsAre("NONE"));
  // Without the former release only what is needed is looked for, and ENV may be somebody else's.
  got = FindVariables(release, nullptr, {{"OLD", "1"}}, configured);
  EXPECT_EQ(got.found, (std::map<std::string, std::string>{{"ENV", "of-ENV"}, {"NEW", "of-NEW"}}));
  EXPECT_THAT(got.missing, ElementsAre("NONE"));
  EXPECT_TRUE(FindVariables(former, &former, {}, configured).found.empty());
}

api::Provider Provider(const std::string& installed, std::int64_t observed, std::vector<kube::Condition> conditions) {
  api::Provider out;
  out.id = {api::ProviderType::kInfrastructure, "capa-system", "aws"};
  out.status.installed_version = installed;
  out.status.observed_generation = observed;
  out.status.conditions = std::move(conditions);
  return out;
}

TEST(StageOf, BelievesOnlyAStatusAboutTheSpecThatWasWritten) {  // L13
  const AwaitedUpgrade awaited{{}, "v2", 5};
  const kube::Condition ready{"Ready", "True", "WorkloadsReady", ""}, not_ready{"Ready", "False", "Upgrading", "going"};
  const kube::Condition stalled{"Stalled", "True", "VersionNotFound", "no such"};
  EXPECT_EQ(StageOf(Provider("v2", 4, {ready}), awaited), UpgradeStage::kPending);
  EXPECT_EQ(StageOf(Provider("v1", 5, {ready}), awaited), UpgradeStage::kPending);
  EXPECT_EQ(StageOf(Provider("v2", 5, {not_ready}), awaited), UpgradeStage::kInstalled);
  EXPECT_EQ(StageOf(Provider("v2", 5, {ready}), awaited), UpgradeStage::kReady);
  EXPECT_EQ(StageOf(Provider("v1", 5, {not_ready, stalled}), awaited), UpgradeStage::kRefused);
  EXPECT_EQ(StageOf(Provider("v1", 4, {not_ready, stalled}), awaited), UpgradeStage::kPending);
  EXPECT_EQ(StageOf(Provider("v3", 5, {ready}), {{}, "", 5}), UpgradeStage::kReady) << "whichever it is";
  // What is installed by the status is what was there before a change that hasn't come up.
  for (const auto& [outcome, want] : std::map<std::string, UpgradeStage>{{"", UpgradeStage::kInstalled},
                                                                         {"Succeeded", UpgradeStage::kInstalled},
                                                                         {"RolledBack", UpgradeStage::kInstalled},
                                                                         {"Applying", UpgradeStage::kPending},
                                                                         {"RollingOut", UpgradeStage::kPending},
                                                                         {"Failed", UpgradeStage::kPending},
                                                                         {"RollingBack", UpgradeStage::kPending}}) {
    api::Provider provider = Provider("v2", 5, {not_ready});
    provider.status.history = {{.version = "v3", .contract = "", .digest = "", .outcome = outcome}};
    EXPECT_EQ(StageOf(provider, awaited), want) << outcome;
  }
  // What the status said before annotations alone were written is what they are to change.
  const api::Provider failed = Provider("v3", 5, {not_ready, stalled});
  AwaitedUpgrade back{{}, "v2", 5, failed.status};
  EXPECT_EQ(StageOf(failed, back), UpgradeStage::kPending);
  const kube::Condition other{"Stalled", "True", "MissingVariables", "no value"};
  EXPECT_EQ(StageOf(Provider("v3", 5, {not_ready, other}), back), UpgradeStage::kRefused);
  back.generation = 6;
  EXPECT_EQ(StageOf(Provider("v3", 6, {not_ready, stalled}), back), UpgradeStage::kRefused) << "of what was written";
  EXPECT_EQ(TellStatus(Provider("v1", 5, {not_ready})), "v1, Upgrading: going");
  EXPECT_EQ(TellStatus(Provider("v2", 5, {ready})), "v2, ready");
  EXPECT_EQ(TellStatus(Provider("", 0, {})), "not installed");
}

// A policy goes on from what has come up as soon as it may: what was asked for was there.
TEST(StageOf, SeesThatAPolicyHasGoneOn) {  // L13, U13
  api::Provider provider = Provider("v3.0.0", 5, {{"Ready", "False", "Upgrading", "going"}});
  provider.status.history = {
      {.version = "v3.0.0", .contract = "", .digest = "", .started = "1", .instead_of = "v2.0.0"}};
  EXPECT_EQ(StageOf(provider, {{}, "v2.0.0", 5, {}}), UpgradeStage::kReady);
  EXPECT_EQ(StageOf(provider, {{}, "v1.0.0", 5, {}}), UpgradeStage::kPending);
  provider.annotations[std::string(api::kAnnotationAllowDowngrade)] = "true";
  EXPECT_EQ(StageOf(provider, {{}, "v2.0.0", 5, {}}), UpgradeStage::kPending) << "it is what is to be left";
  provider.annotations.clear();
  provider.status.history.front().outcome = "RolledBack";
  EXPECT_EQ(StageOf(provider, {{}, "v2.0.0", 5, {}}), UpgradeStage::kPending) << "and it isn't there yet";
  provider.status.conditions.push_back({"Stalled", "True", "MissingVariables", "no value"});
  EXPECT_EQ(StageOf(provider, {{}, "v2.0.0", 5, {}}), UpgradeStage::kRefused);
}

// Of those that only go on what is to run is waited for, which isn't what spec.version names where a policy has led on.
TEST(StageOf, SeesThatAPolicyHasGoneOnFromWhatItHadComeTo) {  // L13, U13
  api::Provider provider = Provider("v2.0.0", 5, {{"Ready", "False", "Upgrading", "going"}});
  provider.status.history = {{.version = "v2.0.1", .contract = "", .digest = "", .instead_of = "v1.0.0"},
                             {.version = "v2.0.0", .contract = "", .digest = "", .instead_of = "v1.0.0"}};
  for (const char* outcome : {"Applying", "RollingOut", "Succeeded"}) {
    provider.status.history.front().outcome = outcome;
    EXPECT_EQ(StageOf(provider, {{}, "v2.0.0", 5, {}}), UpgradeStage::kReady) << outcome;
  }
  EXPECT_EQ(StageOf(provider, {{}, "v1.9.0", 5, {}}), UpgradeStage::kPending) << "it never came up";
  provider.status.history.front().instead_of.clear();
  EXPECT_NE(StageOf(provider, {{}, "v2.0.0", 5, {}}), UpgradeStage::kReady) << "a person's";
}

TEST(LastGoodVersion, IsTheNewestThatCameUpAndIsNotDeclared) {  // L14
  using api::HistoryEntry;
  auto good = [](std::string wanted, std::vector<HistoryEntry> history) {
    ProviderObject object{Provider("v3", 1, {}), std::move(wanted)};
    object.provider.status.history = std::move(history);
    auto got = LastGoodVersion(object);
    return got.ok() ? *got : got.error().message;
  };
  HistoryEntry v1{"v1"}, v2{"v2"}, v3{"v3"}, v4{"v4"};
  v2.outcome = "Failed";
  v3.outcome = "Succeeded";
  v4.outcome = "RollingOut";
  EXPECT_EQ(good("v3", {v3, v2, v1}), "v1");
  EXPECT_EQ(good("v4", {v4, v3, v2, v1}), "v3");
  EXPECT_EQ(good("", {v3, v2, v1}), "v1");
  EXPECT_EQ(good("3", {v3}), "v3");  // another text, and no version
  EXPECT_THAT(good("v3", {v3, v2}), HasSubstr("no version in its history that came up, other than v3"));
  EXPECT_THAT(good("v3", {}), HasSubstr("--to-version"));
}

// What a policy had begun was rolled back: what runs is well, and one further back isn't what is meant.
TEST(LastGoodVersion, IsAskedForWhereTheOperatorHasGoneBack) {  // L14, U13
  ProviderObject object{Provider("v2", 1, {}), "v2"};
  object.provider.status.history = {
      {.version = "v3", .contract = "", .digest = "", .outcome = "RolledBack", .instead_of = "v2"},
      {.version = "v2", .contract = "", .digest = "", .outcome = "Succeeded"},
      {.version = "v1", .contract = "", .digest = "", .outcome = "Succeeded"}};
  auto got = LastGoodVersion(object);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("was rolled back from v3 to v2 already"));
  object.provider.status.history[0].instead_of = "";  // a person's, that is in spec.version still
  object.wanted = "v3";
  EXPECT_EQ(LastGoodVersion(object).value(), "v2");
}

TEST(PatchOf, HasWhatChangesAndNothingElse) {  // L13
  EXPECT_EQ(PatchOf({}), Json::object());
  EXPECT_EQ(PatchOf({.version = "v2"}), (Json{{"spec", {{"version", "v2"}}}}));
  Json pause = PatchOf({.version = "v2", .secret = "s", .pause = true});
  EXPECT_EQ(pause["spec"], (Json{{"version", "v2"}, {"configSecret", {{"name", "s"}}}, {"paused", true}}));
  EXPECT_EQ(pause["metadata"]["annotations"], (Json{{std::string(kAnnotationPausedForUpgrade), "true"}}));
  Json unpause = PatchOf({.unpause = true});
  EXPECT_EQ(unpause["spec"]["paused"], false);
  EXPECT_TRUE(unpause["metadata"]["annotations"][std::string(kAnnotationPausedForUpgrade)].is_null());
}

TEST(RollbackNoteOf, SaysWhereToAndWhoseTheLeaveIs) {  // L14
  const std::string allow(api::kAnnotationAllowDowngrade), key(kAnnotationAllowedForRollback);
  api::Provider provider = Provider("v1.12.0", 1, {});
  EXPECT_FALSE(RollbackNoteOf(provider));
  for (bool leave : {false, true}) {
    Json written = PatchOf({.begin_rollback = RollbackNote{"v1.11.0", leave}, .allow_downgrade = leave});
    const Json& annotations = written["metadata"]["annotations"];
    EXPECT_EQ(annotations.at(key), leave ? "v1.11.0 allow-downgrade" : "v1.11.0");
    EXPECT_EQ(annotations.contains(allow), leave);
    provider.annotations[key] = GetString(annotations, {key});
    auto note = RollbackNoteOf(provider);
    ASSERT_TRUE(note);
    EXPECT_EQ(note->to, "v1.11.0");
    EXPECT_EQ(note->leave, leave);
    Json ended = PatchOf({.end_rollback = true, .forbid_downgrade = leave})["metadata"]["annotations"];
    EXPECT_TRUE(ended.at(key).is_null());
    EXPECT_EQ(ended.contains(allow), leave);
  }
}

ProviderObject Member(api::ProviderType type, const std::string& name, const std::string& contract) {
  ProviderObject out;
  out.provider.id = {type, name, name};
  out.provider.status.contract = contract;
  out.provider.status.installed_version = "v1.0.0";
  out.wanted = "v1.0.0";
  return out;
}

TEST(NeedsPause, WhereNoOrderKeepsTheGoldenRule) {  // L13, C3
  auto needs = [](const std::string& core_from, const std::string& core_to, const std::string& from,
                  const std::string& to) {
    std::vector<ProviderObject> fleet = {Member(api::ProviderType::kCore, "cluster-api", core_from),
                                         Member(api::ProviderType::kInfrastructure, "aws", from)};
    std::vector<UpgradeTarget> targets(2);
    for (size_t i = 0; i < 2; ++i) {
      targets[i].object = fleet[i];
      targets[i].to_contract = i == 0 ? core_to : to;
    }
    auto got = NeedsPause(fleet, targets);
    return got.ok() ? (*got ? "pause" : "go") : "error";
  };
  EXPECT_STREQ(needs("v1beta1", "v1beta1", "v1beta1", "v1beta1"), "go");
  EXPECT_STREQ(needs("v1beta1", "v1beta2", "v1beta1", "v1beta2"), "go");
  EXPECT_STREQ(needs("v1alpha4", "v1beta1", "v1alpha4", "v1beta1"), "pause");
  EXPECT_STREQ(needs("v1alpha4", "v1beta1", "", "v1beta1"), "pause");  // it runs, at a contract that nobody knows
}

// The operator takes neither of these to zero replicas, and all others would wait there.
TEST(CheckPausable, RefusesAPauseThatCanNeverBeComplete) {  // L13, C3
  auto check = [](auto edit) {
    std::vector<ProviderObject> fleet = {Member(api::ProviderType::kCore, "cluster-api", "v1alpha4"),
                                         Member(api::ProviderType::kInfrastructure, "aws", "v1alpha4")};
    edit(fleet[1].provider);
    auto got = CheckPausable(fleet);
    return got.ok() ? std::string("fine") : got.error().message;
  };
  auto hands_off = [](api::Provider& aws) { aws.annotations[std::string(api::kAnnotationPaused)] = ""; };
  auto says_paused = [](api::Provider& aws, const char* reason) {
    aws.status.conditions.push_back({.type = "Paused", .status = "True", .reason = reason});
  };
  EXPECT_EQ(check([](api::Provider&) {}), "fine");
  EXPECT_THAT(check(hands_off), HasSubstr("InfrastructureProvider aws/aws has annotation cluster.x-k8s.io/paused"));
  EXPECT_THAT(check([](api::Provider& aws) { aws.deleting = true; }), HasSubstr("aws/aws is being deleted"));
  EXPECT_THAT(check([&](api::Provider& aws) {
                hands_off(aws);
                says_paused(aws, "HandsOff");
              }),
              HasSubstr("has annotation"))
      << "it runs on";
  EXPECT_EQ(check([&](api::Provider& aws) {
              hands_off(aws);
              says_paused(aws, "Paused");
            }),
            "fine")
      << "it is at zero already";
  EXPECT_EQ(check([&](api::Provider& aws) {
              hands_off(aws);
              aws.status.installed_version = "";
            }),
            "fine");
}

TEST(AsText, OfARolloutHasNoValues) {  // L13
  UpgradeRollout rollout;
  UpgradeTarget target;
  target.object = Member(api::ProviderType::kInfrastructure, "aws", "v1beta1");
  target.from = target.leaves = "v1.0.0";
  target.to = *api::Version::Parse("v1.1.0");
  target.from_contract = target.to_contract = "v1beta1";
  target.variables = {{"TOKEN", "s3cret-value"}};
  rollout.targets = {target};
  rollout.pause = true;
  std::string text = AsText(rollout);
  EXPECT_THAT(text, HasSubstr("InfrastructureProvider aws/aws: v1.0.0 -> v1.1.0, contract v1beta1"));
  EXPECT_THAT(text, HasSubstr("Secret aws/infrastructure-aws-variables gets TOKEN"));
  EXPECT_THAT(text, HasSubstr("at zero replicas"));
  EXPECT_EQ(text.find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace capi::cli
