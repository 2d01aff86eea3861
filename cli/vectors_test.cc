// The behaviour vectors that concern the command line. Cases whose outcome differs on purpose are in one table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/release.h"
#include "base/strings.h"
#include "base/testing/vectors.h"
#include "base/yaml/yaml.h"
#include "cli/clusters/rollout.h"
#include "cli/frame/config.h"
#include "cli/frame/lookup.h"
#include "cli/frame/overrides.h"
#include "cli/frame/provider_name.h"
#include "cli/frame/provider_release.h"
#include "cli/generate/generate_cluster.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

struct Superseded {
  std::string_view file, id, why;
};

// Texts of Go's decoders: ours say what is wrong and where, in the file's terms.
constexpr Superseded kOtherWords[] = {
    {"provider-config.json", "F05", "an entry that is no map is named by its line and column"},
    {"provider-config.json", "F10", "the key's line and column, and what it must be"},
    {"repository-url.json", "R28d", "the folder and what the system says of it"},
};

// Cases in which ours finds a version.
constexpr Superseded kFound[] = {
    {"repository-url.json", "R28c", "v1.0.0: L3, a newest release without metadata.yaml is passed over in folders too"},
};

bool Listed(const auto& table, std::string_view file, std::string_view name) {
  for (const Superseded& row : table) {
    if (row.file == file && row.id == name) return true;
  }
  return false;
}

Variables Env(const Json& c) {
  Variables out;
  if (!c.contains("env")) return out;
  for (const auto& [name, value] : c["env"].items()) out[name] = value.get<std::string>();
  return out;
}

Json ToObject(const ProviderSource& provider) {
  return {{"name", provider.name},
          {"type", api::KindOf(provider.type).kind},
          {"url", provider.url},
          {"label", api::ManifestLabel(provider.type, provider.name)}};
}

// The providers that the list has and the built-in one hasn't, with their index, as the vectors write them.
Json ChangedIn(const std::vector<ProviderSource>& providers) {
  Json changed = Json::array();
  for (size_t i = 0; i < providers.size(); ++i) {
    const api::KnownProvider* known = api::FindKnownProvider(providers[i].type, providers[i].name);
    if (known != nullptr && known->Url() == providers[i].url) continue;
    changed.push_back(ToObject(providers[i]));
  }
  return changed;
}

Json WithoutIndex(Json changed) {
  for (Json& entry : changed) entry.erase("index");
  return changed;
}

// A look-up of `get`, or the whole list. The look-up of a type that is none can only fail.
Result<Json> Ask(const Config& config, const Json& c) {
  if (!c.contains("get")) {
    auto providers = config.Providers();
    if (!providers.ok()) return providers.error();
    return Json{{"added", providers->size() - api::KnownProviders().size()}, {"changed", ChangedIn(*providers)}};
  }
  const auto* kind = api::KindByName(GetString(c["get"], {"type"}));
  auto found =
      config.FindProvider(kind == nullptr ? api::ProviderType::kCore : kind->type, GetString(c["get"], {"name"}));
  if (!found.ok()) return found.error();
  return ToObject(*found);
}

// Which release of clusterctl the built-in list is of is api/release_test.cc's; here counts are relative to the first
// case, which has no configuration.
TEST(ProviderConfig, FollowsTheVectors) {
  const Json cases = LoadCases("provider-config.json");
  std::int64_t builtin = GetInt(cases[0], {"want", "count"});
  for (const Json& c : cases) {
    std::string id = GetString(c, {"id"});
    SCOPED_TRACE(id);
    Json file = Json::object();
    if (c["providers"].is_array()) file["providers"] = c["providers"];
    if (c["providers"].is_string()) file["providers"] = ParseYaml(c["providers"].get<std::string>()).value();
    auto config = Config::Parse({"c.yaml", ToYaml(file)}, From(Env(c)));
    ASSERT_TRUE(config.ok()) << config.error().message;
    auto got = Ask(*config, c);
    if (c.contains("error")) {
      ASSERT_FALSE(got.ok());
      bool ours = Listed(kOtherWords, "provider-config.json", id);
      EXPECT_THAT(got.error().message, HasSubstr(ours ? "c.yaml, line " : GetString(c, {"error"})));
      continue;
    }
    ASSERT_TRUE(got.ok()) << got.error().message;
    if (c.contains("get")) {
      EXPECT_EQ(*got, c["want"]);
      continue;
    }
    EXPECT_EQ(GetInt(*got, {"added"}), GetInt(c, {"want", "count"}) - builtin);
    Json changed = c["want"].contains("changed") ? c["want"]["changed"] : Json::array();
    EXPECT_EQ((*got)["changed"], WithoutIndex(changed));
  }
}

TEST(ProviderReference, FollowsTheVectors) {
  const Json cases = LoadCases("provider-reference.json");
  for (const Json& c : cases) {
    if (GetString(c, {"kind"}) == "namespaced") continue;  // cli/upgrade/upgrade_vectors_test.cc
    SCOPED_TRACE(GetString(c, {"id"}));
    ASSERT_EQ(GetString(c, {"kind"}), "name");
    auto got = ProviderName::Parse(GetString(c, {"input"}));
    if (c.contains("error")) {
      ASSERT_FALSE(got.ok());
      EXPECT_EQ(got.error().message, GetString(c, {"error"}));
      continue;
    }
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(got->name, GetString(c, {"want", "name"}));
    EXPECT_EQ(got->version, GetString(c, {"want", "version"}));
  }
}

// Taking URLs apart is fetch/url_test.cc's; module proxies (GOPROXY) are no source of versions here.
TEST(DefaultVersions, FollowTheVectors_L3) {
  const Json cases = LoadCases("repository-url.json");
  size_t run = 0;
  for (const Json& c : cases) {
    std::string id = GetString(c, {"id"}), error = GetString(c, {"error"});
    if (GetString(c, {"kind"}) != "local" || error.starts_with("invalid ")) continue;
    SCOPED_TRACE(id);
    TestFolder folder;
    for (const Json& name : c["tree"]) {
      auto path = name.get<std::string>();
      if (path.ends_with('/')) {
        std::filesystem::create_directories(folder / path);
      } else {
        folder.Put(path,
                   "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
                   "- {major: 1, minor: 0, contract: v1beta2}\n");
      }
    }
    std::string url = ReplaceAll(GetString(c, {"url"}), "BASE", folder.path());
    std::string label = api::ManifestLabel(api::KindByName(GetString(c, {"provider", "type"}))->type,
                                           GetString(c, {"provider", "name"}));
    auto repository = fetch::OpenUrl(url, label, {});
    ASSERT_TRUE(repository.ok()) << repository.error().message;
    auto got = DefaultVersion({}, **repository, url, label);
    ++run;
    if (Listed(kFound, "repository-url.json", id)) {
      ASSERT_TRUE(got.ok()) << got.error().message;
      EXPECT_EQ(got->ToString(), "v1.0.0");
    } else if (error.empty()) {
      ASSERT_TRUE(got.ok()) << got.error().message;
      EXPECT_EQ(*got, api::Version::Parse(GetString(c, {"want", "default_version"})).value());
    } else {
      ASSERT_FALSE(got.ok());
      bool ours = Listed(kOtherWords, "repository-url.json", id);
      EXPECT_THAT(got.error().message, HasSubstr(ours ? "failed to get latest version: " : error));
    }
  }
  EXPECT_GT(run, 5u);
}

void ExpectVariable(const Json& c) {
  Variables environment = Env(c);
  auto config = Config::Parse({"c.yaml", GetString(c, {"file"})}, From(environment));
  std::optional<std::string> value;
  if (config.ok()) value = config->Get(GetString(c, {"key"})).value();
  if (c.contains("error")) {
    EXPECT_FALSE(value);
  } else {
    EXPECT_EQ(value, GetString(c, {"want"}));
  }
}

void ExpectOverridesPath(const Json& c) {
  Variables environment = Env(c);
  environment["XDG_CONFIG_HOME"] = "/xdg";
  Json file = Json::object();
  if (c["setting"].is_string()) file["overridesFolder"] = c["setting"];
  auto config = Config::Parse({"c.yaml", ToYaml(file)}, From(environment));
  ASSERT_TRUE(config.ok());
  auto folder = config->OverridesFolder();
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(OverridePath(*folder, GetString(c, {"provider"}), GetString(c, {"version"}), GetString(c, {"file"})),
            ReplaceAll(GetString(c, {"want"}), "<config>", "/xdg/cluster-api"));
}

void ExpectLogLine(const Json& c) {
  std::ostringstream err;
  Notes(err).Say(0, GetString(c, {"message"}));
  EXPECT_EQ(err.str(), GetString(c, {"want"}) + "\n");
}

// What flags set goes before the environment.
void ExpectFlag(const Json& c) {
  auto config = Config::Parse({"c.yaml", GetString(c, {"file"})}, From(Env(c)));
  ASSERT_TRUE(config.ok());
  std::map<std::string, std::string> flags;
  for (const auto& [name, value] : c["set"].items()) flags[name] = value.get<std::string>();
  EXPECT_EQ(Lookup(*config, flags).function()(GetString(c, {"key"})), GetString(c, {"want"}));
}

void ExpectTemplateOptions(const Json& c) {
  Variables environment;
  if (c.contains("variables")) {
    for (const auto& [name, value] : c["variables"].items()) environment[name] = value.get<std::string>();
  }
  auto config = Config::Parse({"", ""}, From(environment));
  ASSERT_TRUE(config.ok());
  const Json& given = c["options"];
  GenerateClusterOptions options;
  options.names = {GetString(given, {"cluster"})};
  options.target_namespace = GetString(given, {"namespace"});
  options.kubernetes_version = GetString(given, {"kubernetes_version"});
  if (given.contains("control_plane_machines"))
    options.control_plane_machines = given["control_plane_machines"].get<int>();
  if (given.contains("worker_machines")) options.worker_machines = given["worker_machines"].get<int>();
  auto got = VariablesOf(options, *config);
  if (c.contains("error")) {
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().message, GetString(c, {"error"}));
  } else {
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(Json(*got), c["want"]);
  }
}

// Our error goes on to say what the system says of the file.
void ExpectGeneratedYaml(const Json& c) {
  std::vector<std::string> arguments = {"generate", "yaml"};
  std::string missing = "/nowhere/template.yaml";
  if (c["input"].is_null()) arguments.insert(arguments.end(), {"--from", missing});
  if (GetBool(c, {"list_variables"})) arguments.emplace_back("--list-variables");
  Outcome outcome = Clusterctl(arguments, {}, c["input"].is_null() ? "" : c["input"].get<std::string>());
  if (c.contains("error")) {
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("Error: " + ReplaceAll(GetString(c, {"error"}), "<path>", missing)));
  } else {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, GetString(c, {"want"}));
  }
}

// Of the variables of a template and its ClusterClass.
void ExpectMerged(const Json& c) {
  TestFolder folder;
  const std::string release = "r/infrastructure-p/v1.0.0/";
  folder.Put(release + "cluster-template.yaml",
             "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a}\nspec: {topology: {classRef: "
             "{name: c}}}\n# " +
                 c["inputs"][0].get<std::string>());
  folder.Put(release + "clusterclass-c.yaml", c["inputs"][1].get<std::string>());
  std::string config =
      folder.Put("c.yaml", "providers: [{name: p, type: InfrastructureProvider, url: " + folder.path() +
                               "/r/infrastructure-p/latest/c.yaml}]\n");
  Outcome outcome =
      Clusterctl({"generate", "cluster", "a", "-n", "ns", "-i", "p:v1.0.0", "--list-variables", "--config", config},
                 {{"HOME", folder.path()}});
  std::string want = "\nOptional Variables:\n";
  for (const auto& [name, value] : c["want"].items())
    want += "  - " + name + "  (defaults to \"" + value.get<std::string>() + "\")\n";
  EXPECT_EQ(outcome.out, want + "\n") << outcome.err;
}

TEST(CommandLineVectors, AreFollowed) {
  const Json cases = LoadCases("cli.json");
  for (const Json& c : cases) {
    std::string kind = GetString(c, {"kind"});
    if (IsOfOthersAlone("cli.json", c) || kind == "skip-rule")
      continue;  // the latter: cli/upgrade/upgrade_vectors_test.cc
    SCOPED_TRACE(GetString(c, {"id"}));
    if (GetString(c, {"id"}) == "W11d") {
      ExpectFlag(c);
    } else if (kind == "template-options") {
      ExpectTemplateOptions(c);
    } else if (kind == "generate-yaml") {
      ExpectGeneratedYaml(c);
    } else if (kind == "merge-templates") {
      ExpectMerged(c);
    } else if (kind == "variable-lookup") {
      ExpectVariable(c);
    } else if (kind == "overrides-path") {
      ExpectOverridesPath(c);
    } else if (kind == "rollout-references") {
      EXPECT_EQ(ParseRolloutTargets(c["references"]).ok(), !c.contains("error"));
    } else if (kind == "log-line") {
      ExpectLogLine(c);
    } else {
      ADD_FAILURE() << "no test for kind " << kind;
    }
  }
}

}  // namespace
}  // namespace capi::cli
