#include "operator/decide/install_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/reasons.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using testing::NewCore;
using testing::NewProvider;
using ::testing::Not;
using testing::Observed;

// Whoever looks for a rule finds it by its number, once.
TEST(InstallRules, HaveNames) {
  std::set<std::string_view> names;
  for (const InstallRule& rule : InstallRules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
  for (const char* name : {"C1.core", "C2.order", "C3.pause", "C4.core-first", "C6.no-contract", "F2.metadata",
                           "I5.owners", "I8.once", "I13.kinds", "T2.digest", "T3.rights", "U3.stored-versions"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

// I5, C1.
TEST(InstallRules, WantSeriesAndContract) {
  struct Case {
    std::string name, series, core_contract;
    std::string message;  // "" for none
  };
  const Case cases[] = {
      {"fits", "{major: 1, minor: 12, contract: v1beta2}", "v1beta2", ""},
      {"an accepted older contract fits (C1)", "{major: 1, minor: 12, contract: v1beta1}", "v1beta2", ""},
      {"a newer contract doesn't (C1)", "{major: 1, minor: 12, contract: v1beta2}", "v1beta1", "accepts only v1beta1"},
      {"no series", "{major: 1, minor: 11, contract: v1beta2}", "v1beta2", "does not match any release series"},
      {"unknown contract", "{major: 1, minor: 12, contract: v99}", "v1beta2", "doesn't know"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    auto core = NewCore();
    core.status.contract = c.core_contract;
    o.core = std::make_shared<api::Provider>(core);
    auto metadata = api::Metadata::Parse(
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- " + c.series + "\n",
        "aws");
    ASSERT_TRUE(metadata.ok()) << metadata.error().message;
    o.siblings = {o.core};
    auto version = *api::Version::Parse("v1.12.0");
    Candidate candidate{.version = version, .metadata = *metadata};
    auto hold = CheckInstall(InstallRule::Stage::kRelease, o, candidate);
    if (!hold) {
      candidate.contract = *metadata->ContractOf(version);
      hold = CheckInstall(InstallRule::Stage::kContract, o, candidate);
    }
    EXPECT_EQ(hold.has_value(), !c.message.empty());
    if (hold) {
      EXPECT_THAT(hold->message, HasSubstr(c.message));
      EXPECT_EQ(hold->reason, api::reason::kCAPIVersionIncompatibility);
    }
  }
}

// T2.
TEST(InstallRules, RefuseOtherComponents) {
  auto check = [](const std::string& wanted, const std::string& digest, bool rollback = false) {
    return CheckInstall(InstallRule::Stage::kComponents, Observed(),
                        {.version = *api::Version::Parse("v1.12.0"),
                         .source = "github.com/a/b v1.12.0",
                         .digest = digest,
                         .wanted_digest = wanted,
                         .rollback = rollback});
  };
  EXPECT_FALSE(check("", "sha256:1")) << "no digest is asked for";
  EXPECT_FALSE(check("sha256:1", "sha256:1"));
  auto hold = check("sha256:1", "sha256:2");
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->condition, "ProviderInstalled");
  EXPECT_EQ(hold->reason, api::reason::kVerificationFailed);
  EXPECT_EQ(hold->retry, Retry::kRefused) << "T6: asked for again";
  EXPECT_THAT(hold->message, HasSubstr("github.com/a/b v1.12.0 have digest sha256:2, spec.fetchConfig.digest asks for "
                                       "sha256:1"));
  EXPECT_THAT(check("sha256:1", "sha256:2", true)->message,
              HasSubstr("have digest sha256:2, those that were applied before had sha256:1"));
}

// C1 to C4, C6: each row of the contract is what one kind of fleet meets first.
TEST(InstallRules, OfContractsEachHasItsFleet) {
  struct Case {
    const char *rule, *installed, *to;  // contracts: of all, and the one that this provider moves to
    bool core_too, at_zero;             // the core is asked to move there; everything is paused
    bool unsaid = false;                // the other provider's status is lost
  };
  const Case cases[] = {
      {"C1.core", "v1alpha4", "v1beta1", false, true},
      {"C2.order", "v1beta1", "v1beta2", true, false},
      {"C3.pause", "v1alpha4", "v1beta1", false, false},
      {"C4.core-first", "v1alpha4", "v1beta1", true, true},
      {"C6.no-contract", "v1alpha4", "v1beta1", false, false, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.rule);
    auto fleet_member = [&](api::ProviderType type, const char* name) {
      api::Provider provider = NewProvider(type, name);
      provider.spec.version = provider.status.installed_version = "v0.4.2";
      provider.status.contract = c.installed;
      if (c.at_zero) provider.status.conditions = {{.type = "Paused", .status = "True", .reason = "Paused"}};
      return provider;
    };
    api::Provider core = fleet_member(api::ProviderType::kCore, "cluster-api");
    api::Provider azure = fleet_member(api::ProviderType::kInfrastructure, "azure");
    if (c.core_too) {
      core.spec.version = core.status.desired_version = "v1.1.0";
      core.status.desired_contract = c.to;
    }
    Observation o = Observed();
    o.provider = fleet_member(api::ProviderType::kInfrastructure, "aws");
    if (c.unsaid) {
      azure.status = {};
      o.unjudged.insert(azure.id);
    }
    o.core = std::make_shared<api::Provider>(core);
    o.siblings = {o.core, std::make_shared<api::Provider>(azure)};
    const Candidate to{.version = *api::Version::Parse("v1.1.0"), .contract = c.to};
    std::string first;
    for (const InstallRule& rule : InstallRules()) {
      if (first.empty() && rule.stage == InstallRule::Stage::kContract && rule.check(o, to)) first = rule.name;
    }
    EXPECT_EQ(first, c.rule);
  }
}

// F2, I8, T3: what was found out of the release before is judged here.
TEST(InstallRules, RefuseWhatWasFoundOut) {
  using enum InstallRule::Stage;
  const kube::ObjectId entry{"clusterctl.cluster.x-k8s.io", "Provider", "aws-system", "infrastructure-aws"};
  struct Case {
    InstallRule::Stage stage;
    Candidate candidate;
    std::string_view reason, message;
  };
  const Case cases[] = {
      {kMetadata,
       {.metadata_error = Error{Code::kInvalidArgument, "line 1: no YAML", {}}},
       api::reason::kInvalidMetadata,
       "line 1: no YAML"},
      {kObjects, {.objects = {entry, entry}}, api::reason::kDuplicateObjects, "into clusterctl's inventory"},
      {kRights,
       {.lacking = {.rights = {{"", "services", "create", "aws-system", "s"}}}},
       api::reason::kPermissionsMissing,
       "the operator lacks"},
      {kRights,
       {.lacking = {.rights = {{"", "services", "create", "aws-system", "s"}}, .account = "tenant"}},
       api::reason::kPermissionsMissing,
       "ServiceAccount aws-system/tenant"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    EXPECT_FALSE(CheckInstall(c.stage, Observed(), {}));
    auto hold = CheckInstall(c.stage, Observed(), c.candidate);
    ASSERT_TRUE(hold);
    EXPECT_EQ(hold->reason, c.reason);
    EXPECT_THAT(hold->message, HasSubstr(c.message));
  }
}

// I5.
TEST(InstallRules, NameTheOtherProvider) {
  Observation o = Observed();
  auto check = [&](std::vector<kube::ObjectId> objects) {
    return CheckInstall(InstallRule::Stage::kObjects, o, {.objects = std::move(objects)});
  };
  auto other = NewProvider(api::ProviderType::kInfrastructure, "azure");
  kube::Inventory inventory;
  inventory.Put({"rbac.authorization.k8s.io", "ClusterRole", "", "shared-role"}, {"v1", "h", "f"});
  other.status.inventory = inventory.ToJson();
  o.siblings.push_back(std::make_shared<api::Provider>(other));
  EXPECT_FALSE(check({{"rbac.authorization.k8s.io", "ClusterRole", "", "mine"}}));
  auto hold = check({{"rbac.authorization.k8s.io", "ClusterRole", "", "shared-role"}});
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->reason, api::reason::kObjectOwnedByAnotherProvider);
  EXPECT_THAT(hold->message, HasSubstr("InfrastructureProvider/azure"));
  EXPECT_THAT(hold->message, HasSubstr("which installed it: "));
  const kube::ObjectId second{"", "Secret", "ns", "shared"};
  inventory.Put(second, {"v1", "h", "f"});
  other.status.inventory = inventory.ToJson();
  o.siblings.push_back(std::make_shared<api::Provider>(other));
  o.siblings.erase(o.siblings.end() - 2);
  hold = check({{"rbac.authorization.k8s.io", "ClusterRole", "", "shared-role"}, second});
  ASSERT_TRUE(hold);
  EXPECT_THAT(hold->message, HasSubstr("which installed them: "));
}

// I5: what has the name of an object of ours is another one where anything else differs; and who can't be read owns
// nothing.
TEST(InstallRules, AnObjectIsAnothersByAllThatNamesIt) {
  const kube::ObjectId ours{"apps", "Deployment", "ns", "manager"};
  const Json same = {
      {"group", "apps"}, {"kind", "Deployment"}, {"namespace", "ns"}, {"name", "manager"}, {"version", "v1"}};
  auto is_anothers = [&](const std::function<void(Json&)>& change) {
    Observation o = Observed();
    auto other = NewProvider(api::ProviderType::kInfrastructure, "azure");
    Json entry = same;
    change(entry);
    other.status.inventory = Json::array({{{"kind", "Node"}, {"name", "first"}, {"version", "v1"}}, entry});
    o.siblings.push_back(std::make_shared<api::Provider>(other));
    return CheckInstall(InstallRule::Stage::kObjects, o, {.objects = {ours}}).has_value();
  };
  EXPECT_TRUE(is_anothers([](Json&) {}));
  for (const char* member : {"group", "kind", "namespace", "name"}) {
    SCOPED_TRACE(member);
    EXPECT_FALSE(is_anothers([&](Json& entry) { entry[member] = "other"; }));
    EXPECT_FALSE(is_anothers([&](Json& entry) { entry.erase(member); }));
    EXPECT_FALSE(is_anothers([&](Json& entry) { entry[member] = 7; }));
  }
  EXPECT_FALSE(is_anothers([](Json& entry) { entry["stale"] = "not a boolean"; }));
}

// T8: a tenant can't find out by guesses what there is in other namespaces.
TEST(InstallRules, NameNoObjectOfAnotherNamespaceToWhoMayNotReadIt) {
  Observation o = Observed();
  o.provider.spec.service_account = "applier";
  auto other = NewProvider(api::ProviderType::kInfrastructure, "azure");
  const kube::ObjectId there{"apps", "Deployment", "azure-system", "manager"};
  const kube::ObjectId here{"apps", "Deployment", o.provider.id.ns, "manager"};
  kube::Inventory inventory;
  inventory.Put(there, {"v1", "h", "f"});
  inventory.Put(here, {"v1", "h", "f"});
  other.status.inventory = inventory.ToJson();
  o.siblings.push_back(std::make_shared<api::Provider>(other));
  auto held = [&](const kube::ObjectId& id, Sight sight) {
    auto hold = CheckInstall(InstallRule::Stage::kObjects, o, {.objects = {id}, .sight = sight});
    return hold ? hold->message : "";
  };
  const std::string whose = "belongs to InfrastructureProvider/azure";
  EXPECT_EQ(held(there, Sight::kUnasked), "") << "the rights come before it";
  EXPECT_THAT(held(there, Sight::kGiven), HasSubstr(whose));
  EXPECT_THAT(held(there, Sight::kUnknown), HasSubstr("may be another provider's")) << "I5 holds where nobody answers";
  EXPECT_THAT(held(there, Sight::kUnknown), Not(HasSubstr("InfrastructureProvider/azure")));
  for (Sight sight : {Sight::kUnasked, Sight::kUnknown}) EXPECT_THAT(held(here, sight), HasSubstr(whose));
  o.provider.spec.service_account = "";
  EXPECT_THAT(held(there, Sight::kUnasked), HasSubstr(whose));
}

// I13.
TEST(InstallRules, SayHowToGetKindsThatTheClusterLacks) {
  auto check = [](std::vector<std::string> kinds) {
    return CheckInstall(InstallRule::Stage::kKinds, Observed(), {.missing_kinds = std::move(kinds)});
  };
  EXPECT_FALSE(check({}));
  EXPECT_THAT(check({"cert-manager.io/v1 Issuer"})->message, HasSubstr("install cert-manager"));
  EXPECT_THAT(check({"example.com/v1 Widget"})->message, Not(HasSubstr("cert-manager")));
}

// U3: what can be migrated is, once its workloads can convert it; all else stops before the first write.
TEST(InstallRules, KeepStoredVersions) {
  struct Case {
    const char* name;
    bool migratable, paused, rollback, healthy;
    const char* message;   // null: the migration decides
    bool at_zero = false;  // though spec.paused is false (C5)
  };
  const Case cases[] = {
      {"no version stays", false, false, false, true, "go by a version of the provider"},
      {"paused: nobody converts", true, true, false, true, "set spec.paused to false"},
      {"at zero still: nobody converts (P3)", true, false, false, true, "set spec.version to what is installed", true},
      {"a rollback", true, false, true, true, "brought to the version that is stored now"},
      {"nobody converts yet", true, false, false, false, "its workloads aren't healthy"},
      {"it can be migrated", true, false, false, true, nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Observation o = Observed();
    o.provider.spec.paused = c.paused;
    if (c.at_zero) o.provider.status.conditions = {{.type = "Paused", .status = "True", .reason = "Paused"}};
    o.fleet.workloads = {
        testing::NewWorkload(c.healthy ? kube::HealthState::kCurrent : kube::HealthState::kInProgress)};
    auto hold =
        CheckInstall(InstallRule::Stage::kStoredVersions, o,
                     {.lost_versions = {{"things.example.com", "v1alpha1", c.migratable}}, .rollback = c.rollback});
    EXPECT_EQ(hold.has_value(), c.message != nullptr);
    if (hold && c.message) EXPECT_THAT(hold->message, HasSubstr(c.message));
  }
  EXPECT_FALSE(CheckInstall(InstallRule::Stage::kStoredVersions, Observed(), {}));
}

}  // namespace
}  // namespace capi::ops
