// The behaviour vectors about upgrades. What we do in another way, on purpose, is in one table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "api/moves/version_moves.h"
#include "base/strings.h"
#include "base/testing/vectors.h"
#include "cli/testing.h"
#include "cli/upgrade/known_versions.h"
#include "cli/upgrade/upgrade_plan.h"
#include "cli/upgrade/upgrade_reference.h"
#include "fetch/versions_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

// Ours, where the reference fails or does something else: whether ours goes well, and why.
struct Ours {
  bool ok;
  std::string_view why;
};
const std::map<std::string, Ours> kOurs = {
    {"U05", {true, "L12: a version whose metadata isn't there (yet) is left out"}},
    {"U07", {true, "L12: a version whose contract nobody can tell is left out, and told"}},
    {"U13", {true, "L12: a version whose metadata isn't there (yet) is left out"}},
    {"U17", {true, "L12: what is no version is left out"}},
    {"U23", {true, "I12: a version is the same with and without its v"}},
    {"L33", {true, "L12: a provider whose versions can't be told is told, and fails nobody else"}},
    {"L42", {false, "L12: the version that is asked for is the one that has no series"}},
    {"L45", {true, "C2: an upgrade within v1beta1 keeps the golden rule"}},
    {"L46", {true, "C2: an upgrade within v1beta1 keeps the golden rule"}},
    {"L21c", {false, "C7: from v1.10 on, three minor versions at a time, from whichever version"}},
    {"L21k", {false, "C7: a prerelease counts as its minor version"}},
};
// Texts that begin as the reference's, or say it in our words.
const std::map<std::string, std::string> kOtherWords = {
    {"L13", "the target version for the provider infra-system/infrastructure-infra implements the v1beta2 contract"},
    {"L42", "invalid target version: version v9.0.0 for the provider infra-system/infrastructure-infra does not"},
};

api::Metadata MetadataOf(const Json& series) {
  api::Metadata metadata;
  for (const Json& one : series) {
    auto version = api::Version::ParseTolerant(GetString(one, {"series"})).value();
    metadata.series.push_back({version.major, version.minor, GetString(one, {"contract"})});
  }
  return metadata;
}

std::string MetadataText(const Json& series) {
  std::string text = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:";
  if (series.empty()) return text + " []\n";
  for (const api::ReleaseSeries& one : MetadataOf(series).series)
    text += "\n- {major: " + std::to_string(one.major) + ", minor: " + std::to_string(one.minor) +
            ", contract: " + one.contract + "}";
  return text + "\n";
}

void PutMetadata(const TestFolder& folder, const std::string& label, const Json& c, const std::string& version,
                 const std::string& text) {
  folder.Put(label + "/" + version + "/metadata.yaml", text);
  auto named = api::Version::Parse(version);
  for (const Json& one : c.at("versions")) {
    const std::string other = one.get<std::string>();
    auto below = api::Version::Parse(other);
    if (!named.ok() || !below.ok() || !(*below < *named) || c.at("metadata").contains(other)) continue;
    folder.Put(label + "/" + other + "/metadata.yaml", text);
  }
}

// A repository as the vectors describe it, in a folder. The reference reads the metadata of the highest version alone,
// which they name; those below it have theirs here, too.
std::unique_ptr<fetch::Repository> RepositoryOf(const TestFolder& folder, const std::string& label, const Json& c) {
  for (const Json& version : c.at("versions"))
    folder.Put(label + "/" + version.get<std::string>() + "/components.yaml", "x: y\n");
  for (const auto& [version, series] : c.at("metadata").items())
    PutMetadata(folder, label, c, version, MetadataText(series));
  std::filesystem::create_directories(folder / label);
  return fetch::OpenFolder(folder.path(), label, "components.yaml").value();
}

void ExpectOutcome(const Json& c, bool ok, const std::string& message) {
  std::string id = GetString(c, {"id"});
  auto ours = kOurs.find(id);
  bool reference = !c.contains("error");
  if (ours != kOurs.end() && ours->second.ok != reference) {
    EXPECT_EQ(ok, ours->second.ok) << ours->second.why << ": " << message;
    return;
  }
  EXPECT_EQ(ok, reference) << message;
  if (ok || reference) return;
  auto words = kOtherWords.find(id);
  std::string want = words == kOtherWords.end() ? GetString(c, {"error"}) : words->second;
  if (size_t tail = want.find(": unable to get file"); tail != want.npos) want.resize(tail);
  EXPECT_THAT(message, HasSubstr(want));
}

std::string Text(const std::optional<api::Version>& version) { return version ? version->ToString() : ""; }

InstalledProvider TheProvider(const Json& c) {
  return {api::ProviderType::kInfrastructure, "p1", "p1-system", GetString(c, {"current"})};
}

void ExpectInfo(const Json& c) {
  TestFolder folder;
  auto repository = RepositoryOf(folder, "infrastructure-p1", c);
  auto info = ReadUpgradeInfo({}, *repository, TheProvider(c));
  ExpectOutcome(c, info.ok(), info.ok() ? "" : info.error().message);
  if (!info.ok() || !c.contains("want")) return;
  const Json& want = c.at("want");
  EXPECT_EQ(info->contract, GetString(want, {"contract"}));
  EXPECT_EQ(Json(ContractsForUpgrade(*info)), want.at("contracts"));
  EXPECT_EQ(Json(fetch::Texts(info->next)), want.at("next"));
  for (const auto& [contract, latest] : want.at("latest").items())
    EXPECT_EQ(Text(LatestNext(*info, CompatibleWith(contract))), latest.get<std::string>()) << contract;
}

UpgradeInfo InfoOf(const Json& c) {
  UpgradeInfo info{api::Version::Parse(GetString(c, {"current"})).value(), "", MetadataOf(c.at("series")), {}, {}};
  for (const Json& next : c.value("next", Json::array()))
    info.next.push_back(api::Version::Parse(next.get<std::string>()).value());
  return info;
}

TEST(UpgradeInfo, FollowsTheVectors) {  // L12
  size_t run = 0;
  for (const Json& c : LoadCases("upgrade-info.json")) {
    SCOPED_TRACE(GetString(c, {"id"}) + " " + GetString(c, {"what"}));
    std::string kind = GetString(c, {"kind"});
    ++run;
    if (kind == "info") {
      ExpectInfo(c);
    } else if (kind == "contracts") {
      EXPECT_EQ(Json(ContractsForUpgrade(InfoOf(c))), c.at("want"));
    } else {
      ASSERT_EQ(kind, "latest");
      auto allowed = c.at("allow").get<std::vector<std::string>>();
      EXPECT_EQ(Text(LatestNext(InfoOf(c), allowed)), GetString(c, {"want"}));
    }
  }
  EXPECT_EQ(run, 36u);
}

std::vector<InstalledProvider> InstalledOf(const Json& c) {
  std::vector<InstalledProvider> out;
  for (const Json& one : c.at("installed")) {
    out.push_back({api::KindByName(GetString(one, {"type"}))->type, GetString(one, {"name"}),
                   GetString(one, {"namespace"}), GetString(one, {"version"})});
  }
  return out;
}

std::vector<UpgradeCandidate> CandidatesOf(const TestFolder& folder, const Json& c) {
  std::vector<UpgradeCandidate> out;
  for (const InstalledProvider& one : InstalledOf(c)) {
    std::string label = api::ManifestLabel(one.type, one.name);
    auto repository = RepositoryOf(folder, label, c.at("repositories").at(label));
    auto info = ReadUpgradeInfo({}, *repository, one);
    UpgradeCandidate candidate;
    candidate.provider = one;
    if (info.ok()) candidate.info = *info;
    if (!info.ok()) candidate.error = info.error();
    out.push_back(std::move(candidate));
  }
  return out;
}

Json ToJson(const std::vector<UpgradePlan>& plans) {
  Json out = Json::array();
  for (const UpgradePlan& plan : plans) {
    std::map<std::string, Json> items;
    for (const PlanItem& item : plan.items) {
      std::string name = InstanceName(item.provider);
      items[name] = {{"provider", name}, {"current", item.provider.version}, {"next", Text(item.next)}};
    }
    Json providers = Json::array();
    for (auto& [name, item] : items) providers.push_back(item);
    out.push_back({{"contract", plan.contract}, {"providers", providers}});
  }
  return out;
}

void ExpectPlans(const Json& c) {
  TestFolder folder;
  auto candidates = CandidatesOf(folder, c);
  auto plans = MakePlans(candidates);
  ExpectOutcome(c, plans.ok(), plans.ok() ? "" : plans.error().message);
  if (plans.ok() && c.contains("want")) EXPECT_EQ(ToJson(*plans), c.at("want").at("plans"));
}

Result<std::string> Check(const TestFolder& folder, const Json& c) {
  auto candidates = CandidatesOf(folder, c);
  std::vector<InstalledProvider> installed = InstalledOf(c);
  std::vector<WantedVersion> wanted;
  for (const Json& item : c.at("items")) {
    UpgradeReference reference{GetString(item, {"namespace"}), GetString(item, {"name"}), GetString(item, {"next"})};
    size_t at =
        TRY(FindInstalled(installed, api::KindByName(GetString(item, {"type"}))->type, reference, reference.name));
    wanted.push_back({at, api::Version::Parse(reference.version).value()});
  }
  return CheckUpgrade(candidates, wanted);
}

TEST(UpgradePlan, FollowsTheVectors) {  // L12, L13
  size_t run = 0;
  for (const Json& c : LoadCases("upgrade-plan.json")) {
    SCOPED_TRACE(GetString(c, {"id"}) + " " + GetString(c, {"what"}));
    std::string kind = GetString(c, {"kind"});
    ++run;
    if (kind == "plan") {
      ExpectPlans(c);
    } else if (kind == "custom") {
      TestFolder folder;
      auto contract = Check(folder, c);
      ExpectOutcome(c, contract.ok(), contract.ok() ? "" : contract.error().message);
      if (contract.ok() && c.contains("want")) EXPECT_EQ(*contract, GetString(c, {"want", "contract"}));
    } else {
      ASSERT_EQ(kind, "single-instance");
      auto single = CheckSingleInstances(InstalledOf(c));
      ExpectOutcome(c, single.ok(), single.ok() ? "" : single.error().message);
    }
  }
  EXPECT_GE(run, 38u);
}

TEST(UpgradeReference, FollowsTheVectors) {  // L13
  size_t run = 0;
  for (const Json& c : LoadCases("provider-reference.json")) {
    if (GetString(c, {"kind"}) != "namespaced") continue;
    SCOPED_TRACE(GetString(c, {"id"}));
    ++run;
    auto got = UpgradeReference::Parse(GetString(c, {"input"}));
    ExpectOutcome(c, got.ok(), got.ok() ? "" : got.error().message);
    if (!got.ok() || !c.contains("want")) continue;
    EXPECT_EQ(got->ns, GetString(c, {"want", "namespace"}));
    EXPECT_EQ(got->name, GetString(c, {"want", "name"}));
    EXPECT_EQ(got->version, GetString(c, {"want", "version"}));
  }
  EXPECT_EQ(run, 8u);
}

TEST(UpgradeSkips, FollowTheVectors) {  // C7
  size_t run = 0;
  for (const Json& c : LoadCases("cli.json")) {
    if (GetString(c, {"kind"}) != "skip-rule") continue;
    SCOPED_TRACE(GetString(c, {"id"}));
    ++run;
    std::string instance = GetString(c, {"provider"}), label = instance.substr(instance.find('/') + 1);
    api::ProviderId id{api::ProviderType::kCore, "cluster-api-system", label};
    for (const api::ProviderKind& kind : api::kProviderKinds) {
      if (kind.label_prefix.empty() || !label.starts_with(kind.label_prefix)) continue;
      id = {kind.type, id.ns, label.substr(kind.label_prefix.size())};
    }
    auto furthest = api::TooFar(id, api::Version::Parse(GetString(c, {"current"})).value(),
                                api::Version::Parse(GetString(c, {"next"})).value());
    auto ours = kOurs.find(GetString(c, {"id"}));
    EXPECT_EQ(!furthest, ours == kOurs.end() ? !c.contains("error") : ours->second.ok);
  }
  EXPECT_EQ(run, 12u);
}

}  // namespace
}  // namespace capi::cli
