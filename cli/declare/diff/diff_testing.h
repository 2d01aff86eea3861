// For tests of diff: a provider that is installed, and what the API server has of it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "api/release_maps.h"
#include "base/encoding.h"
#include "base/files.h"
#include "cli/install/provider_manifests.h"
#include "cli/upgrade/cluster_testing.h"

namespace capi::cli {

inline constexpr std::string_view kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 0, contract: v1beta2}\n- {major: 1, minor: 1, contract: v1beta2}\n";
inline constexpr std::string_view kRelease = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: docker-system}
data: {one: "--token=${TOKEN}", plain: "${PLAIN:=nothing}"}
)";
inline constexpr std::string_view kPruned = R"(
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
inline constexpr std::string_view kShifted = R"(
---
apiVersion: v1
kind: ConfigMap
metadata: {name: list, namespace: docker-system}
args: ["--token=${TOKEN}"]
)";
inline constexpr std::string_view kRenamed = R"(
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
      EXPECT_THAT(got.out, testing::HasSubstr(std::string("LIVE/v1.ConfigMap.docker-system.") + name + "\n"));
    EXPECT_THAT(got.out, testing::HasSubstr("***"));
    for (const char* value : {"sesame", "poppy"})
      EXPECT_THAT(got.out + got.err, testing::Not(testing::HasSubstr(value)));
  }

  const UpgradeProvider kDocker = {api::ProviderType::kInfrastructure, "docker-system", "docker", "v1.0.0", "v1beta2"};
  UpgradeCluster cluster_;
};

}  // namespace capi::cli
