#include "cli/declare/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "api/kinds.h"
#include "api/release_maps.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/install/provider_manifests.h"
#include "cli/upgrade/cluster_testing.h"
#include "fetch/git/git_testing.h"
#include "fetch/gitlab_testing.h"
#include "fetch/oci/oci_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 0, contract: v1beta2}\n- {major: 1, minor: 1, contract: v1beta2}\n";
constexpr std::string_view kRelease = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: docker-system}
data: {one: "--token=${TOKEN}", plain: "${PLAIN:=nothing}"}
)";
constexpr std::string_view kPruned = R"(
---
apiVersion: v1
kind: ConfigMap
metadata: {name: gone, namespace: docker-system}
data: {password: "${PASSWORD}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: list, namespace: docker-system}
args: ["--first", "--token=${TOKEN}"]
)";
constexpr std::string_view kShifted = R"(
---
apiVersion: v1
kind: ConfigMap
metadata: {name: list, namespace: docker-system}
args: ["--token=${TOKEN}"]
)";

constexpr std::string_view kRenamed = R"(
---
apiVersion: v1
kind: ConfigMap
metadata: {name: list, namespace: docker-system}
args: ["--auth=${TOKEN}", "--first"]
)";

// docker at v1.0.0, installed with values that its Secret has no longer; v1.1.0 lacks an object and shifts a list.
class DiffOfInstalled : public testing::Test {
 protected:
  DiffOfInstalled() {
    Release("v1.0.0", std::string(kRelease) + std::string(kPruned));
    Release("v1.1.0", std::string(kRelease) + std::string(kShifted));
    cluster_.folder.Put("clusterctl.yaml", "providers:\n- {name: docker, type: InfrastructureProvider, url: " +
                                               cluster_.folder.path() + "/r/infrastructure-docker/latest/c.yaml}\n");
    cluster_.Put("/api", {{"kind", "APIVersions"}, {"versions", {"v1"}}});
    cluster_.Put("/apis", {{"kind", "APIGroupList"}, {"groups", Json::array()}});
    Json kind = {{"name", "configmaps"}, {"kind", "ConfigMap"}, {"namespaced", true}, {"verbs", {"get", "list"}}};
    cluster_.Put("/api/v1", {{"kind", "APIResourceList"}, {"resources", Json::array({kind})}});
    cluster_.Add(kDocker);
    cluster_.Put("/api/v1/namespaces/docker-system/secrets/s",
                 {{"data", {{"TOKEN", Base64Encode("new-sesame")}, {"PASSWORD", Base64Encode("new-poppy")}}}});
    PutWhatIsLive("old");
    cluster_.Change(UpgradeCluster::PathOf(kDocker), [](Json& provider) {
      provider["spec"]["configSecret"]["name"] = "s";
      for (const char* name : {"c", "gone", "list"}) {
        provider["status"]["inventory"].push_back(
            {{"kind", "ConfigMap"}, {"namespace", "docker-system"}, {"name", name}, {"version", "v1"}});
      }
    });
  }
  void Release(const std::string& version, const std::string& components) {
    const std::string folder = "r/infrastructure-docker/" + version + "/";
    cluster_.folder.Put(folder + "metadata.yaml", kMetadata);
    cluster_.folder.Put(folder + "c.yaml", components);
  }
  void PutMap(const std::string& name, std::string_view text) {
    Json map = *ParseJson(text);
    map["apiVersion"] = "v1";
    map["kind"] = "ConfigMap";
    map["metadata"] = {
        {"name", name},
        {"namespace", "docker-system"},
        {"labels", {{"cluster.x-k8s.io/provider", "infrastructure-docker"}, {"clusterctl.cluster.x-k8s.io", ""}}}};
    cluster_.Put("/api/v1/namespaces/docker-system/configmaps/" + name, std::move(map));
  }
  // In the cluster, under a label of its own, with what the folder has.
  void PutRelease(const std::string& version, const std::string& label) {
    api::Release release;
    release.version = api::Version::Parse(version).value();
    release.metadata = *ReadFile(cluster_.folder / ("r/infrastructure-docker/" + version + "/metadata.yaml"));
    release.components = *ReadFile(cluster_.folder / ("r/infrastructure-docker/" + version + "/c.yaml"));
    Json map = ReleaseMapsOf({kDocker.type, kDocker.ns, kDocker.name}, release).back().json();
    if (!label.empty())
      map["metadata"]["labels"] = {{"release", label}, {std::string(api::kLabelReleaseVersion), version}};
    cluster_.Put("/api/v1/namespaces/docker-system/configmaps/" + GetString(map, {"metadata", "name"}), map);
  }
  std::string File(const std::string& spec) {
    return cluster_.folder.Put("docker.yaml",
                               "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
                               "metadata: {name: docker, namespace: docker-system}\nspec: " +
                                   spec + "\n");
  }
  void SetWriter(const std::string& manager, const std::string& field) {
    Json fields;
    fields["f:spec"]["f:" + field] = Json::object();
    cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
      provider["metadata"]["managedFields"] = Json::array({{{"manager", manager}, {"fieldsV1", fields}}});
    });
  }
  Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--config", cluster_.folder / "clusterctl.yaml"});
    return cluster_.Run(std::move(arguments));
  }
  // Made of values like "old-sesame".
  void PutWhatIsLive(const std::string& of) {
    PutMap("c", R"({"data": {"one": "--token=)" + of + R"(-sesame", "plain": "nothing"}})");
    PutMap("gone", R"({"data": {"password": ")" + of + R"(-poppy"}})");
    PutMap("list", R"({"args": ["--first", "--token=)" + of + R"(-sesame"]})");
  }
  // These are shown as different, and no value of a variable, former or not.
  static void ExpectMasked(const Outcome& got, std::initializer_list<const char*> shown) {
    EXPECT_EQ(got.code, 1) << got.err;
    for (const char* name : shown)
      EXPECT_THAT(got.out, HasSubstr(std::string("LIVE/v1.ConfigMap.docker-system.") + name + "\n"));
    EXPECT_THAT(got.out, HasSubstr("***"));
    for (const char* value : {"sesame", "poppy"}) EXPECT_THAT(got.out + got.err, Not(HasSubstr(value)));
  }

  const UpgradeProvider kDocker = {api::ProviderType::kInfrastructure, "docker-system", "docker", "v1.0.0", "v1beta2"};
  UpgradeCluster cluster_;
};

// L18: what is live was made of what the Secret had.
TEST_F(DiffOfInstalled, ValuesOfBeforeARotationAreMaskedToo) {
  Outcome got = Run({"diff", "docker:v1.1.0"});
  ExpectMasked(got, {"gone", "list"});
}

TEST_F(DiffOfInstalled, WithoutTheInstalledReleaseNothingIsShown) {
  std::filesystem::remove_all(cluster_.folder / "r/infrastructure-docker/v1.0.0");
  Outcome got = Run({"diff", "docker:v1.1.0"});
  EXPECT_EQ(got.code, 2);
  EXPECT_EQ(got.out, "");
  EXPECT_THAT(got.err, HasSubstr("release v1.0.0 says where secrets are in what is installed"));
}

// L18: clusterctl's inventory says what is installed, as long as no object of it does.
TEST_F(DiffOfInstalled, ValuesOfWhatIsNotAdoptedYetAreMaskedToo) {
  Release("v1.2.0", std::string(kRenamed));
  cluster_.Remove(UpgradeCluster::PathOf(kDocker));
  Outcome got = Run({"diff", "-f", File("{version: v1.2.0, configSecret: {name: s}}")});
  ExpectMasked(got, {"list"});
}

// L18: what clusterctl installed isn't of the source that is declared.
TEST_F(DiffOfInstalled, WhatIsDeclaredSaysNothingOfWhatIsNotAdoptedYet) {
  Release("v1.2.0", std::string(kRenamed));
  PutRelease("v1.2.0", "mine");
  const std::string spec =
      "{version: v1.2.0, configSecret: {name: s}, fetchConfig: {selector: {matchLabels: {release: mine}}}}";
  const std::string path = UpgradeCluster::PathOf(kDocker);
  Json object = cluster_.Get(path);
  object.erase("status");
  object["spec"] = *ParseYaml(spec);
  for (bool declared : {false, true}) {
    SCOPED_TRACE(declared);
    declared ? cluster_.Put(path, object) : cluster_.Remove(path);
    PutMap("list", R"({"args": ["--first", "--token=old-sesame"]})");
    Outcome got = Run({"diff", "-f", File(spec)});
    ExpectMasked(got, {"list"});
  }
}

TEST_F(DiffOfInstalled, AnObjectThatNobodyHasLookedAtYetSaysNothingOfWhatIsInstalled) {
  Release("v1.2.0", std::string(kRenamed));
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [](Json& provider) { provider.erase("status"); });
  Outcome got = Run({"diff", "docker:v1.2.0"});
  ExpectMasked(got, {"list"});
}

// L18, I14: its source may be gone, or have another one by now.
TEST_F(DiffOfInstalled, TheInstalledReleaseIsThatInTheCluster) {
  PutRelease("v1.0.0", "");
  std::filesystem::remove_all(cluster_.folder / "r/infrastructure-docker/v1.0.0");
  Outcome got = Run({"diff", "docker:v1.1.0"});
  ExpectMasked(got, {"gone"});
}

// L18, I14: of two of one version the one that the operator takes.
TEST_F(DiffOfInstalled, OfSeveralReleasesTheOneThatCountsIsShown) {
  PutRelease("v1.1.0", "mine");
  const std::string maps = "/api/v1/namespaces/docker-system/configmaps/";
  Json other = cluster_.Get(maps + "infrastructure-docker-v1.1.0");
  other["metadata"]["name"] = "z";
  other["data"]["components"] = ReplaceAll(GetString(other, {"data", "components"}), "nothing", "of-another");
  cluster_.Put(maps + "z", other);
  for (const char* version : {"version: v1.1.0, ", ""}) {
    const std::string selector = "fetchConfig: {selector: {matchLabels: {release: mine}}}}";
    Outcome got = Run({"diff", "-f", File("{" + std::string(version) + "configSecret: {name: s}, " + selector)});
    EXPECT_EQ(got.code, 1) << got.err;
    EXPECT_THAT(got.out, AllOf(HasSubstr("ConfigMap.docker-system.gone"), Not(HasSubstr("of-another"))));
    // Others may be large, and many.
    for (const std::string& path : {maps + "z", maps.substr(0, maps.size() - 1)})
      EXPECT_THAT(cluster_.whole_reads(), Not(testing::Contains(path)));
  }
}

// L18, I3: the newest that the core of the cluster takes, wherever the releases are.
TEST_F(DiffOfInstalled, WithoutAVersionTheOneThatFitsTheCoreIsShown) {
  const UpgradeProvider core = {api::ProviderType::kCore, "capi-system", "cluster-api", "v1.12.0", "v1beta2"};
  cluster_.Add(core);
  cluster_.folder.Put("r/infrastructure-docker/v1.1.0/metadata.yaml",
                      ReplaceAll(std::string(kMetadata), "minor: 0, contract: v1beta2", "minor: 0, contract: v1beta1"));
  for (const char* version : {"v1.0.0", "v1.1.0"}) PutRelease(version, "mine");
  const std::string selector = ", fetchConfig: {selector: {matchLabels: {release: mine}}}";
  for (const char* contract : {"v1beta2", "v1beta1"}) {
    cluster_.Change(UpgradeCluster::PathOf(core), [&](Json& object) { object["status"]["contract"] = contract; });
    for (const std::string& source : {selector, std::string()}) {
      SCOPED_TRACE(contract + source);
      Outcome got = Run({"diff", "-f", File("{configSecret: {name: s}" + source + "}")});
      EXPECT_EQ(got.code, 1) << got.err;
      const bool prunes = got.out.find(" +0,0 @@") != std::string::npos;  // as v1.1.0 does
      EXPECT_EQ(prunes, contract == std::string("v1beta2")) << got.out;
    }
  }
}

// L18, I3: whoever may read one namespace alone is told, and a core that nobody has looked at yet is of any contract.
TEST_F(DiffOfInstalled, WithoutTheCoresContractTheNewestOfAnyThatIsKnownIsShown) {
  const UpgradeProvider core = {api::ProviderType::kCore, "capi-system", "cluster-api", "v1.12.0", "v1beta2"};
  cluster_.Add(core);
  cluster_.Change(UpgradeCluster::PathOf(core), [](Json& object) { object.erase("status"); });
  cluster_.folder.Put("r/infrastructure-docker/v1.1.0/metadata.yaml",
                      ReplaceAll(std::string(kMetadata), "minor: 1, contract: v1beta2", "minor: 1, contract: v9"));
  const std::string all = "/v1alpha2/coreproviders";
  for (const std::string& forbidden : {std::string(), all}) {
    SCOPED_TRACE(forbidden);
    cluster_.forbidden = forbidden;
    Outcome got = Run({"diff", "-f", File("{configSecret: {name: s}}")});
    EXPECT_EQ(got.code, 1) << got.err;
    EXPECT_THAT(got.out, Not(HasSubstr(" +0,0 @@"))) << "as v1.1.0 would prune";
    EXPECT_EQ(got.err.find("the core's contract isn't known here") != std::string::npos, forbidden == all) << got.err;
  }
  // Whose own version that isn't asked for.
  for (const char* file : {"metadata.yaml", "c.yaml"}) {
    cluster_.folder.Put(std::string("r/cluster-api/v1.0.0/") + file,
                        *ReadFile(cluster_.folder / (std::string("r/infrastructure-docker/v1.0.0/") + file)));
  }
  cluster_.folder.Put("clusterctl.yaml", "providers:\n- {name: cluster-api, type: CoreProvider, url: " +
                                             cluster_.folder.path() + "/r/cluster-api/latest/c.yaml}\n");
  const std::string file = cluster_.folder.Put(
      "core.yaml",
      "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata: {name: cluster-api, namespace: "
      "capi-system}\nspec: {configSecret: {name: s, namespace: docker-system}}\n");
  EXPECT_THAT(Run({"diff", "-f", file}).err, Not(HasSubstr("CoreProviders of all namespaces")));
}

// L18, I14: also where it has no selector, or no version; with what the folder has, before its source is asked.
TEST_F(DiffOfInstalled, AReleaseInTheClusterGoesBeforeItsSource) {
  PutRelease("v1.1.0", "");
  Release("v1.1.0", ReplaceAll(std::string(kRelease), "nothing", "of-the-source"));
  const std::string map = "/api/v1/namespaces/docker-system/configmaps/infrastructure-docker-v1.1.0";
  for (const char* spec : {"", "{version: v1.1.0, configSecret: {name: s}}", "{configSecret: {name: s}}"}) {
    SCOPED_TRACE(spec);
    const bool named = std::string_view(spec).empty();
    if (!named && std::string_view(spec).find("version") == std::string_view::npos) {
      // No more of the source is read than its versions and their metadata.
      std::filesystem::remove(cluster_.folder / "r/infrastructure-docker/v1.1.0/c.yaml");
    }
    Outcome got = named ? Run({"diff", "docker:v1.1.0"}) : Run({"diff", "-f", File(spec)});
    EXPECT_EQ(got.code, 1) << got.err;
    EXPECT_THAT(got.out, AllOf(HasSubstr("ConfigMap.docker-system.gone"), Not(HasSubstr("of-the-source"))));
  }
  Release("v1.1.0", ReplaceAll(std::string(kRelease), "nothing", "of-the-source"));
  // T6: what was fetched and isn't asked for any more is fetched again; what somebody put there isn't.
  api::Release release;
  release.components = *ReadFile(cluster_.folder / "r/infrastructure-docker/v1.1.0/c.yaml");
  const std::string asked =
      "{version: v1.1.0, fetchConfig: {digest: '" + release.Digest() + "'}, configSecret: {name: s}}";
  Outcome refused = Run({"diff", "-f", File(asked)});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("spec.fetchConfig.digest: "));
  cluster_.Change(map, [](Json& stored) { stored["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "true"; });
  Outcome again = Run({"diff", "-f", File(asked)});
  EXPECT_THAT(again.out, HasSubstr("of-the-source")) << again.err;
  // T14: so it is with what lacks the signatures that are asked for.
  Outcome lacks = Run({"diff", "-f",
                       File("{version: v1.1.0, fetchConfig: {verify: {provider: cosign, secretRef: {name: keys}}}, "
                            "configSecret: {name: s}}")});
  EXPECT_THAT(lacks.out, HasSubstr("of-the-source")) << lacks.err;
  std::filesystem::remove_all(cluster_.folder / "r/infrastructure-docker/v1.1.0");
  Outcome apart = Run({"diff", "docker:v1.1.0"});
  EXPECT_EQ(apart.code, 1) << apart.err;
  EXPECT_THAT(apart.out, HasSubstr("ConfigMap.docker-system.gone"));
}

// L18: somebody put another text of the installed version there, which the operator takes next; its source has it
// still.
TEST_F(DiffOfInstalled, APatchedReleaseOfTheInstalledVersionIsShown) {
  api::Release release;
  release.components = *ReadFile(cluster_.folder / "r/infrastructure-docker/v1.0.0/c.yaml");
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
    provider["status"]["history"] = Json::array({{{"version", "v1.0.0"},
                                                  {"digest", release.Digest()},
                                                  {"time", "2026-01-01T00:00:00Z"},
                                                  {"outcome", "Succeeded"}}});
  });
  PutRelease("v1.0.0", "");
  cluster_.Change("/api/v1/namespaces/docker-system/configmaps/infrastructure-docker-v1.0.0", [](Json& map) {
    map["data"]["components"] = ReplaceAll(GetString(map, {"data", "components"}), "nothing", "patched");
  });
  Outcome got = Run({"diff", "docker"});
  EXPECT_THAT(got.out, HasSubstr("+  plain: patched\n"));
  ExpectMasked(got, {"c"});
}

// L18: what is to run (T12) says nothing of what did: the registry has another v1.0.0, which doesn't ask for PASSWORD.
TEST_F(DiffOfInstalled, TheInstalledReleaseIsThatInTheClusterWhateverItsSourceIs) {
  auto artifact = [](std::string_view rest) {
    const std::string components = std::string(kRelease) + std::string(rest);
    return fetch::OciArtifact{{{"metadata.yaml", std::string(kMetadata)}, {"components.yaml", components}}};
  };
  fetch::OciStandIn registry({{"v1.0.0", artifact("")}, {"v1.1.0", artifact(kShifted)}});
  for (const std::string version : {"v1.0.0", "v1.1.0"}) {
    PutRelease(version, "");
    cluster_.Change("/api/v1/namespaces/docker-system/configmaps/infrastructure-docker-" + version, [&](Json& map) {
      map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "true";
      map["metadata"]["annotations"][std::string(api::kLabelReleaseSource)] =
          "oci://former.example.com/docker " + version;
      map["data"]["components"] = ReplaceAll(GetString(map, {"data", "components"}), "nothing", "of-the-former");
    });
  }
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
    provider["spec"]["fetchConfig"] = {{"oci", registry.reference()}};
  });
  Outcome got = Run({"diff", "docker:v1.1.0"});
  ExpectMasked(got, {"gone"});
  EXPECT_THAT(got.out, Not(HasSubstr("+  plain: of-the-former"))) << "T12";
}

// L18, T15: with the Secret that git has; another folder of the same repository is another source.
TEST_F(DiffOfInstalled, AReleaseInGitIsThatOfItsOwnFolder) {
  fetch::GitStandIn server({.authorization = "Basic " + Base64Encode("me:s3cret")});
  const std::string components(kRelease), metadata(kMetadata);
  server.Release("v1.0.0", {{"former/metadata.yaml", metadata},
                            {"former/components.yaml", components + std::string(kPruned)},
                            {"next/metadata.yaml", metadata},
                            {"next/components.yaml", components}});
  cluster_.PutSecret("docker-system", "git", {{"username", "me"}, {"password", "s3cret"}});
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
    provider["spec"]["fetchConfig"]["git"] = {
        {"url", server.url()}, {"path", "former"}, {"secretRef", {{"name", "git"}}}};
  });
  const std::string next = "{git: {url: '" + server.url() + "', path: next, secretRef: {name: git}}}";
  Outcome got = Run({"diff", "-f", File("{version: v1.0.0, configSecret: {name: s}, fetchConfig: " + next + "}")});
  ExpectMasked(got, {"gone", "list"});
}

// L18: a change of the same version that hangs has replaced the text of which the objects are.
TEST_F(DiffOfInstalled, AnotherTextOfTheInstalledVersionIsNotTheInstalledRelease) {
  auto digest = [&] {
    api::Release release;
    release.components = *ReadFile(cluster_.folder / "r/infrastructure-docker/v1.0.0/c.yaml");
    return release.Digest();
  };
  const std::string was = digest(), whole = std::string(kRelease) + std::string(kPruned);
  Release("v1.0.0", std::string(kRelease));
  PutRelease("v1.0.0", "");
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
    provider["status"]["history"] = Json::array(
        {{{"version", "v1.0.0"}, {"digest", digest()}, {"time", "2026-01-02T00:00:00Z"}, {"outcome", "Applying"}},
         {{"version", "v1.0.0"}, {"digest", was}, {"time", "2026-01-01T00:00:00Z"}, {"outcome", "Succeeded"}}});
  });
  Outcome got = Run({"diff", "docker:v1.1.0"});
  EXPECT_EQ(got.code, 2);
  EXPECT_EQ(got.out, "");
  EXPECT_THAT(got.err, HasSubstr("release v1.0.0 says where secrets are in what is installed"));
  EXPECT_THAT(got.err, HasSubstr("has another text by now than what was applied (status.history: " + was + ")"));
  Release("v1.0.0", whole);  // its source has it still
  got = Run({"diff", "docker:v1.1.0"});
  ExpectMasked(got, {"gone"});
}

// L18: what the operator would fetch again (I14) mustn't keep anybody from seeing a difference.
TEST_F(DiffOfInstalled, ADamagedReleaseInTheClusterIsThatOfItsSource) {
  PutRelease("v1.0.0", "");
  const std::string path = "/api/v1/namespaces/docker-system/configmaps/infrastructure-docker-v1.0.0";
  const Json whole = cluster_.Get(path);
  Json lacks_a_key = whole, lacks_a_part = whole;
  lacks_a_key["data"].erase("metadata");
  lacks_a_part["data"].erase("components");
  lacks_a_part["binaryData"] = {{"components", Base64Encode("the first part")}};
  lacks_a_part["metadata"]["annotations"] = {{std::string(api::kAnnotationCompressed), "true"},
                                             {std::string(api::kAnnotationParts), "2"},
                                             {std::string(api::kAnnotationPartsDigest), "0123456789ab"}};
  for (const Json& damaged : {lacks_a_key, lacks_a_part}) {
    SCOPED_TRACE(ToJsonText(damaged));
    cluster_.Put(path, damaged);
    Outcome got = Run({"diff", "docker:v1.1.0"});
    ExpectMasked(got, {"gone"});
  }
}

// T10: neither to a host that the configuration names, nor to that of what is installed.
TEST_F(DiffOfInstalled, TheTokenOfTheSecretGoesToTheHostOfTheDeclaredUrlAlone) {
  std::vector<fetch::GitLabPackage> packages;
  for (const auto& [version, rest] : {std::pair("v1.1.0", kShifted), std::pair("v1.0.0", kPruned)}) {
    const std::string components = std::string(kRelease) + std::string(rest);
    packages.push_back({version, {{"metadata.yaml", std::string(kMetadata)}, {"c.yaml", components}}});
  }
  fetch::GitLabStandIn gitlab(packages);
  const fetch::TrustedCa trusted(gitlab.ca_file());
  cluster_.Change("/api/v1/namespaces/docker-system/secrets/s",
                  [](Json& secret) { secret["data"]["gitlab-access-token"] = Base64Encode("glpat-secret"); });
  const std::string url = gitlab.url("latest", "c.yaml"), folder = cluster_.folder.path();
  struct Case {
    std::string configured, live, declared;
    bool sent;
  };
  for (const Case& c : {Case{url, "", "", false}, Case{"", url, "", false}, Case{"", url, url, true}}) {
    SCOPED_TRACE(c.configured + "|" + c.live + "|" + c.declared);
    cluster_.folder.Put("clusterctl.yaml",
                        "providers:\n- {name: docker, type: InfrastructureProvider, url: '" +
                            (c.configured.empty() ? folder + "/r/infrastructure-docker/latest/c.yaml" : url) + "'}\n");
    cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
      provider["spec"].erase("fetchConfig");
      if (!c.live.empty()) provider["spec"]["fetchConfig"]["url"] = c.live;
    });
    const std::string source = c.declared.empty() ? "" : ", fetchConfig: {url: '" + c.declared + "'}";
    const size_t before = gitlab.seen().size();
    Outcome got = Run({"diff", "-f", File("{version: v1.1.0, configSecret: {name: s}" + source + "}")});
    EXPECT_EQ(got.code, 1) << got.err;
    const auto seen = gitlab.seen();
    for (size_t i = before; i < seen.size(); ++i) {
      EXPECT_EQ(seen[i].authorization, c.sent && seen[i].host == "gitlab" ? "Bearer glpat-secret" : "")
          << seen[i].target;
    }
    EXPECT_GT(seen.size(), before);
  }
}

// L18: also where an upgrade to the other one has begun.
TEST_F(DiffOfInstalled, ADefaultOfEitherReleaseIsNoSecret) {
  Release("v1.3.0", ReplaceAll(std::string(kRelease), "nothing", "something"));
  for (bool begun : {false, true}) {
    SCOPED_TRACE(begun);
    cluster_.Change(UpgradeCluster::PathOf(kDocker), [&](Json& provider) {
      if (begun) provider["status"]["history"] = Json::array({{{"version", "v1.3.0"}}});
    });
    PutMap("c", R"({"data": {"one": "--token=old-sesame", "plain": "nothing"}})");
    Outcome got = Run({"diff", "docker:v1.3.0"});
    EXPECT_THAT(got.out, HasSubstr("-  plain: nothing\n"));
    EXPECT_THAT(got.out, HasSubstr("+  plain: something\n"));
    ExpectMasked(got, {"c"});
    // What is live already of the one that isn't installed yet.
    PutMap("c", R"({"data": {"one": "--token=old-sesame", "plain": "something"}})");
    got = Run({"diff", "docker:v1.3.0"});
    EXPECT_THAT(got.out, HasSubstr("   plain: something\n"));
    ExpectMasked(got, {"c"});
  }
}

// L18, I12, A2: an apply leaves what the operator or clusterctl has filled in, and takes away what another one wrote.
TEST_F(DiffOfInstalled, AFileWithoutAVersionIsNoUpgrade) {
  PutWhatIsLive("new");
  const std::string file = File("{configSecret: {name: s}}");
  for (const char* writer : {"capi-operator", "clusterctl"}) {
    SCOPED_TRACE(writer);
    SetWriter(writer, "version");
    Outcome same = Run({"diff", "-f", file});
    EXPECT_THAT(same.out, Not(HasSubstr("ConfigMap.docker-system.gone")));
    EXPECT_EQ(same.code, 0) << same.out << same.err;
  }
  SetWriter("kustomize-controller", "version");
  Outcome got = Run({"diff", "-f", file});
  EXPECT_THAT(got.out, HasSubstr("ConfigMap.docker-system.gone"));
  EXPECT_EQ(got.code, 1) << got.out << got.err;
}

// L18: whatever of the spec it is.
TEST_F(DiffOfInstalled, AFileWithoutASourceHasTheOneThatClusterctlChose) {
  PutWhatIsLive("new");
  PutRelease("v1.0.0", "mine");
  std::filesystem::remove_all(cluster_.folder / "r/infrastructure-docker/v1.0.0");
  cluster_.Change(UpgradeCluster::PathOf(kDocker), [](Json& provider) {
    provider["spec"]["fetchConfig"]["selector"]["matchLabels"]["release"] = "mine";
  });
  const std::string file = File("{version: v1.0.0, configSecret: {name: s}}");
  SetWriter("clusterctl", "fetchConfig");
  Outcome got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 0) << got.out << got.err;
  SetWriter("kustomize-controller", "fetchConfig");
  got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 2) << got.out;
  EXPECT_THAT(got.err, HasSubstr("v1.0.0"));
}

TEST_F(DiffOfInstalled, AFileWithoutASecretHasTheOneThatTheOperatorMade) {
  SetWriter("capi-operator", "configSecret");
  PutWhatIsLive("new");
  const std::string file = File("{version: v1.0.0}");
  Outcome got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 0) << got.out << got.err;
  SetWriter("kustomize-controller", "configSecret");
  got = Run({"diff", "-f", file});
  EXPECT_EQ(got.code, 2) << got.out;
  EXPECT_THAT(got.err, HasSubstr("needs [PASSWORD, TOKEN]"));
}

}  // namespace
}  // namespace capi::cli
