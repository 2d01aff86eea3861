// What clusterctl does with contracts (testdata/vectors) beside what this operator does, case by case. Where they
// differ on purpose, kExceptions names the rule that says so.
#include <gtest/gtest.h>

#include <map>

#include "base/testing/vectors.h"
#include "operator/decide/contract_rules.h"
#include "operator/decide/rules.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

// Ours, where it isn't the reference's.
const std::map<std::string, std::pair<bool, std::string>> kExceptions = {
    {"L18", {false, "C3: the reference changes all at once; here every provider is paused first"}},
    {"L45", {true, "C2: an upgrade within v1beta1 keeps the golden rule; the reference knows v1beta2 alone"}},
    {"L46", {true, "C2: an upgrade within v1beta1 keeps the golden rule; the reference knows v1beta2 alone"}},
    {"T07", {true, "C1: v1alpha4 is a known contract and accepts itself"}},
};

// About other rules: which provider there is (I1, I4, I5), and files that are missing (F2).
const std::map<std::string, std::string> kOtherRules = {
    {"T05", "I5"}, {"T06", "I5"}, {"T21", "I5"}, {"T22", "I5"}, {"T28", "I5"},
    {"T20", "I4"}, {"T24", "F2"}, {"L40", "I1"}, {"L41", "I1"},
};

api::ProviderType TypeOf(const std::string& kind) { return api::KindByName(kind)->type; }

api::Metadata MetadataOf(const Json& repositories, const std::string& label, const std::string& version) {
  api::Metadata metadata;
  const Json* series = Find(repositories, {label, "metadata", version});
  for (const Json& s : series == nullptr ? Json::array() : *series) {
    auto parsed = api::Version::ParseTolerant(GetString(s, {"series"}));
    if (parsed.ok()) metadata.series.push_back({parsed->major, parsed->minor, GetString(s, {"contract"})});
  }
  return metadata;
}

struct World {
  Json repositories;
  std::map<std::string, std::shared_ptr<api::Provider>> fleet;  // by label

  api::Provider& Put(const std::string& type, const std::string& name) {
    auto& slot = fleet[api::ManifestLabel(TypeOf(type), name)];
    if (!slot) slot = std::make_shared<api::Provider>(testing::NewProvider(TypeOf(type), name));
    return *slot;
  }
  std::string ContractOf(const api::Provider& provider, const std::string& version) const {
    std::string label = api::ManifestLabel(provider.id.type, provider.id.name);
    return MetadataOf(repositories, label, version).ContractOf(*api::Version::Parse(version)).value_or("");
  }
  // Accepted: it goes now, or after another of the same request.
  bool Accepts(const std::string& label) const {
    Observation o;
    o.provider = *fleet.at(label);
    for (const auto& [name, provider] : fleet) {
      if (provider->id.type == api::ProviderType::kCore) o.core = provider;
      if (name != label) o.siblings.push_back(provider);
    }
    auto version = *api::Version::Parse(o.provider.spec.version);
    auto metadata = MetadataOf(repositories, label, o.provider.spec.version);
    Candidate candidate{.version = version, .metadata = metadata};
    if (CheckInstall(InstallRule::Stage::kRelease, o, candidate)) return false;
    candidate.contract = *metadata.ContractOf(version);
    auto hold = CheckInstall(InstallRule::Stage::kContract, o, candidate);
    return !hold || hold->reason == "WaitingForOrder";
  }
};

void Want(api::Provider& provider, const World& world, const std::string& version) {
  provider.spec.version = version;
  provider.status.desired_version = version;
  provider.status.desired_contract = world.ContractOf(provider, version);
}

World WorldOf(const Json& c, const Json& repositories) {
  World world;
  world.repositories = repositories;
  for (const Json& p : c.at("installed")) {
    api::Provider& provider = world.Put(GetString(p, {"type"}), GetString(p, {"name"}));
    provider.spec.version = provider.status.installed_version = GetString(p, {"version"});
    provider.status.contract = world.ContractOf(provider, provider.spec.version);
  }
  return world;
}

void Compare(const Json& c, const World& world, const std::vector<std::string>& asked) {
  std::string id = GetString(c, {"id"});
  bool ours = std::all_of(asked.begin(), asked.end(), [&](const std::string& label) { return world.Accepts(label); });
  auto exception = kExceptions.find(id);
  bool reference = !c.contains("error");
  if (exception != kExceptions.end()) {
    EXPECT_NE(exception->second.first, reference) << id << ": no exception is needed";
    EXPECT_EQ(ours, exception->second.first) << id << " " << exception->second.second;
  } else {
    EXPECT_EQ(ours, reference) << id << " " << GetString(c, {"what"}) << ": " << GetString(c, {"error"});
  }
}

// C1 to C3, on upgrades of providers by name.
TEST(ContractVectors, Upgrades) {
  const Json cases = LoadCases("upgrade-plan.json");
  int compared = 0;
  for (const Json& c : cases) {
    if (GetString(c, {"kind"}) != "custom" || kOtherRules.contains(GetString(c, {"id"}))) continue;
    World world = WorldOf(c, c.at("repositories"));
    std::vector<std::string> asked;
    for (const Json& item : c.at("items")) {
      api::Provider& provider = world.Put(GetString(item, {"type"}), GetString(item, {"name"}));
      Want(provider, world, GetString(item, {"next"}));
      asked.push_back(api::ManifestLabel(provider.id.type, provider.id.name));
    }
    Compare(c, world, asked);
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

// C1, on installations. The core is there before the others are looked at (I4).
TEST(ContractVectors, Installations) {
  const Json vectors = LoadVectors("install-validation.json");
  const Json &cases = vectors["cases"], &defaults = vectors["default_repositories"];
  int compared = 0;
  for (const Json& c : cases) {
    if (kOtherRules.contains(GetString(c, {"id"}))) continue;
    World world = WorldOf(c, c.at("repositories").is_string() ? defaults : c.at("repositories"));
    std::vector<std::string> asked;
    for (const Json& p : c.at("queue")) {
      api::Provider& provider = world.Put(GetString(p, {"type"}), GetString(p, {"name"}));
      provider.spec.version = GetString(p, {"version"});
      if (provider.id.type == api::ProviderType::kCore) {
        provider.status.contract = world.ContractOf(provider, provider.spec.version);
      }
      asked.push_back(api::ManifestLabel(provider.id.type, provider.id.name));
    }
    Compare(c, world, asked);
    ++compared;
  }
  EXPECT_GE(compared, 12);
}

}  // namespace
}  // namespace capi::ops
