// Which release diff looks at: of what is installed, and of what is to run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/declare/diff/diff_testing.h"
#include "fetch/git/git_testing.h"
#include "fetch/gitlab_testing.h"
#include "fetch/oci/oci_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

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

}  // namespace
}  // namespace capi::cli
