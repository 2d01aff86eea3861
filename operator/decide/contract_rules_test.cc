#include "operator/decide/contract_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reasons.h"
#include "operator/decide/rules.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<api::Provider> Installed(api::ProviderType type, const std::string& name, const std::string& contract) {
  auto provider = std::make_shared<api::Provider>(testing::NewProvider(type, name));
  provider->spec.version = provider->status.installed_version = "v0.4.2";
  provider->status.contract = contract;
  return provider;
}

void Pause(api::Provider& provider) {
  provider.spec.paused = true;
  provider.status.conditions = {{"Paused", "True", "Paused", "", 1, ""}};
}

void Want(api::Provider& provider, const std::string& version, const std::string& contract) {
  provider.spec.version = provider.status.desired_version = version;
  provider.status.desired_contract = contract;
}

// A core and an infrastructure provider at one contract, and a bootstrap provider, which is the one that is looked at.
struct World {
  std::shared_ptr<api::Provider> core, aws, me;
  explicit World(const std::string& contract)
      : core(Installed(api::ProviderType::kCore, "cluster-api", contract)),
        aws(Installed(api::ProviderType::kInfrastructure, "aws", contract)),
        me(Installed(api::ProviderType::kBootstrap, "kubeadm", contract)) {}
  Observation Seen() const {
    Observation o;
    o.provider = *me;
    o.core = core;
    o.siblings = {core, aws};
    return o;
  }
};

// What holds back a move to `version`, whose contract that is.
std::optional<Hold> Move(const Observation& o, const std::string& version, const std::string& contract) {
  const Candidate to{.version = *api::Version::Parse(version), .contract = contract};
  return CheckInstall(InstallRule::Stage::kContract, o, to);
}

std::string ReasonOf(const std::optional<Hold>& hold) { return hold ? hold->reason : ""; }
std::string MessageOf(const std::optional<Hold>& hold) { return hold ? hold->message : ""; }

TEST(ContractRules, SayWhatToDo) {
  World world("v1alpha4");
  Want(*world.me, "v1.1.5", "v1beta1");
  auto check = [&] { return Move(world.Seen(), "v1.1.5", "v1beta1"); };

  auto hold = check();
  EXPECT_EQ(ReasonOf(hold), reason::kWaitingForPause) << "C3";
  EXPECT_EQ(hold->retry, Retry::kWaiting) << "it goes on by itself";
  EXPECT_THAT(hold->message, AllOf(HasSubstr("CoreProvider cluster-api-system/cluster-api (v1alpha4)"),
                                   HasSubstr("InfrastructureProvider aws-system/aws (v1alpha4)"),
                                   HasSubstr("BootstrapProvider kubeadm-system/kubeadm (v1alpha4)"),
                                   HasSubstr("set spec.version of CoreProvider")));
  Pause(*world.aws);
  Want(*world.core, "v1.1.5", "v1beta1");
  EXPECT_THAT(MessageOf(check()), AllOf(Not(HasSubstr("aws")), Not(HasSubstr("set spec.version"))))
      << "those that are paused aren't listed, and the core is asked already";
  Pause(*world.core);
  Pause(*world.me);
  EXPECT_EQ(ReasonOf(check()), reason::kWaitingForOrder) << "C4 the core first";
  world.core->status.contract = "v1beta1";
  world.core->status.installed_version = "v1.1.5";
  EXPECT_EQ(ReasonOf(check()), "") << "C4 then the rest";

  // C5: who may come back.
  EXPECT_THAT(MessageOf(StaysAtZero(world.Seen())),
              AllOf(HasSubstr("aws-system/aws (v1alpha4)"), HasSubstr("(v1beta1)")));
  world.me->status.contract = world.aws->status.contract = "v1beta1";
  world.me->status.installed_version = "v1.1.5";
  EXPECT_EQ(ReasonOf(StaysAtZero(world.Seen())), "");
}

// C6: a sibling without a status, or one that was always at odds with the core, is nobody's business.
TEST(ContractRules, LeaveBrokenSiblingsAlone) {
  World world("v1beta1");
  world.aws->status.contract = "v1alpha3";
  EXPECT_FALSE(Move(world.Seen(), "v1.1.6", "v1beta1"));
  Pause(*world.me);
  EXPECT_FALSE(StaysAtZero(world.Seen()));
  EXPECT_EQ(ReasonOf(ContractMismatch(world.Seen(), "v1alpha3")), reason::kCAPIVersionIncompatibility);
  EXPECT_FALSE(ContractMismatch(world.Seen(), "v1beta1"));
}

// F7, C3: providers of a kind that can't be listed may be there, and run.
TEST(ContractRules, ChangeNoContractOfProvidersThatNobodySees) {
  World world("v1alpha4");
  Want(*world.core, "v1.1.5", "v1beta1");
  Observation o = world.Seen();
  o.provider = *world.core;
  o.siblings.clear();
  auto move = [&](const std::string& contract) { return Move(o, "v1.1.5", contract); };
  EXPECT_FALSE(move("v1beta1"));
  o.unlisted = {"AddonProvider"};
  auto hold = move("v1beta1");
  EXPECT_EQ(ReasonOf(hold), reason::kWaitingForPause);
  EXPECT_THAT(MessageOf(hold), HasSubstr("AddonProvider"));
  EXPECT_EQ(hold->retry, Retry::kBackoff) << "no event tells that they can be listed";
  EXPECT_FALSE(move("v1alpha4")) << "no change of contract";
  o.provider.status.contract = "v1beta1";
  EXPECT_FALSE(move("v1beta2")) << "it accepts what the former did";
}

// U11, A2: what runs without a contract in its status was one that the core accepts; a core that moves away from it is
// held like by any other. The bug: for an instant the core was free to go.
TEST(ContractRules, AssumeTheContractOfWhatRunsWithoutAStatus) {
  World world("v1alpha4");
  world.aws->status = {};
  auto go = [&](const api::Provider& who) {
    Observation o = world.Seen();
    o.provider = who;
    o.siblings.clear();
    for (const auto& other : {world.core, world.aws, world.me}) {
      if (other->id != who.id) o.siblings.push_back(other);
    }
    return o;
  };
  Want(*world.core, "v1.1.5", "v1beta1");
  Pause(*world.core);
  Pause(*world.me);
  auto core_moves = [&](bool runs) {
    Observation o = go(*world.core);
    if (runs) o.unjudged.insert(world.aws->id);
    return Move(o, "v1.1.5", "v1beta1");
  };
  EXPECT_FALSE(core_moves(false)) << "what was never installed needs no pause (C6)";
  auto hold = core_moves(true);
  EXPECT_EQ(ReasonOf(hold), reason::kWaitingForPause);
  EXPECT_THAT(hold->message,
              HasSubstr("aws-system/aws (it runs, but its status names no contract: see its conditions)"));
  Pause(*world.aws);
  EXPECT_FALSE(core_moves(true)) << "at zero, it may be anything";

  // A core that goes on accepting what it did waits for nobody.
  world.core->status.contract = "v1beta1";
  world.aws->status = {};
  Observation o = go(*world.core);
  o.unjudged.insert(world.aws->id);
  EXPECT_FALSE(Move(o, "v1.11.0", "v1beta2")) << MessageOf(core_moves(true));
  // Nor does anybody else, for its sake.
  o = go(*world.me);
  o.unjudged.insert(world.aws->id);
  EXPECT_FALSE(Move(o, "v1.1.6", "v1beta1"));
}

// A contract that was told for another version says nothing.
TEST(ContractRules, KnowWhatASiblingWants) {
  World world("v1beta1");
  Want(*world.core, "v1.11.0", "v1beta2");
  EXPECT_EQ(DesiredContract(*world.core), "v1beta2");
  EXPECT_EQ(ReasonOf(Move(world.Seen(), "v1.11.0", "v1beta2")), reason::kWaitingForOrder);
  world.core->spec.version = "v1.10.4";
  EXPECT_EQ(DesiredContract(*world.core), "");
  world.core->spec.version = world.core->status.installed_version;
  EXPECT_EQ(DesiredContract(*world.core), "");
}

TEST(ContractRules, AChangeOfVersionNeedsBoth) {
  struct Case {
    const char *installed, *wanted;
    bool pending;
  };
  const Case cases[] = {{"", "", false},
                        {"", "v1.1.5", false},
                        {"v1.1.5", "", false},
                        {"v1.1.5", "1.1.5", false},  // I12
                        {"v1.1.5", "v1.1.6", true}};
  for (const Case& c : cases) {
    World world("v1beta1");
    world.me->status.installed_version = c.installed;
    world.me->spec.version = c.wanted;
    EXPECT_EQ(VersionPending(*world.me), c.pending) << c.installed << " to " << c.wanted;
  }
}

// C1: where nobody says a contract, none is broken.
TEST(ContractRules, WithoutACoreNothingIsAtOdds) {
  World world("v1beta1");
  Observation o = world.Seen();
  EXPECT_FALSE(ContractMismatch(o, ""));
  ASSERT_TRUE(ContractMismatch(o, "v1beta2"));
  world.core->status.contract = "";
  EXPECT_FALSE(ContractMismatch(o, "v1beta2"));
  o.core = nullptr;
  EXPECT_FALSE(ContractMismatch(o, "v1beta2"));
}

TEST(ContractRules, C7CountsMinorVersions) {
  struct Case {
    const char *installed, *wanted, *next;  // next: "" where it may go
  };
  const Case cases[] = {
      {"v1.1.5", "v1.8.0", ""},      {"v1.8.0", "v1.10.4", ""},      {"v1.10.4", "v1.13.0", ""},
      {"v1.10.4", "v1.11.0", ""},    {"v1.8.0", "v1.12.0", "v1.11"}, {"v1.1.5", "v1.10.4", "v1.9"},
      {"v0.4.2", "v1.10.4", "v1.9"}, {"v0.4.2", "v1.1.5", ""},       {"v1.12.0", "v1.16.0", "v1.15"},
      {"v1.12.0", "v1.8.0", ""},     {"v1.9.9", "v1.13.0", "v1.12"}, {"v1.12.0", "v2.0.0", ""},
      {"", "v1.12.0", ""},           {"v1.12.0", "v2.16.0", ""},     {"v2.0.0", "v1.12.0", ""},
      {"v1.12.0", "latest", ""},     {"latest", "v1.12.0", ""},
  };
  for (const Case& c : cases) {
    World world("v1beta1");
    world.me->status.installed_version = c.installed;
    world.me->spec.version = c.wanted;
    auto hold = SkipsMinorVersions(world.Seen());
    SCOPED_TRACE(std::string(c.installed) + " to " + c.wanted);
    ASSERT_EQ(hold.has_value(), *c.next != '\0');
    if (!hold) continue;
    EXPECT_EQ(hold->reason, reason::kUnsupportedVersionSkip);
    EXPECT_EQ(hold->retry, Retry::kOnChange);
    EXPECT_THAT(hold->message, HasSubstr(std::string("Set spec.version to a ") + c.next + " release first"));
    world.me->id.name = "k3s";
    EXPECT_FALSE(SkipsMinorVersions(world.Seen())) << "others count as they like";
    world.me->id = {api::ProviderType::kControlPlane, "x", "kubeadm"};
    EXPECT_TRUE(SkipsMinorVersions(world.Seen()));
    world.me->id.type = api::ProviderType::kInfrastructure;
    EXPECT_FALSE(SkipsMinorVersions(world.Seen())) << "a name alone says nothing";
  }
}

}  // namespace
}  // namespace capi::ops
