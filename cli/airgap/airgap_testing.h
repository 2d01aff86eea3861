// Releases in a folder, and the commands on them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "cli/upgrade/cluster_testing.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/oci_testing.h"

namespace capi::cli {

inline constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 2, minor: 0, contract: v1beta2}\n- {major: 2, minor: 1, contract: v1beta2}\n";
inline const std::string kAwsMap = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.0.0";
inline const std::string kGcpMap = "/api/v1/namespaces/capg-system/configmaps/infrastructure-gcp-v2.0.0";

// aws and gcp in a folder, which the configuration names.
class AirGap : public testing::Test {
 protected:
  AirGap() {
    std::string config = "providers:\n";
    for (const auto& [name, ns] : {std::pair("aws", "capa-system"), std::pair("gcp", "capg-system")}) {
      for (const char* version : {"v2.0.0", "v2.1.0"}) {
        const std::string folder = std::string("r/infrastructure-") + name + "/" + version + "/";
        cluster_.folder.Put(folder + "metadata.yaml", kMetadata);
        cluster_.folder.Put(folder + "infrastructure-components.yaml", ComponentsOf(name, ns, version));
      }
      config += std::string("- {name: ") + name + ", type: InfrastructureProvider, url: " + cluster_.folder.path() +
                "/r/infrastructure-" + name + "/latest/infrastructure-components.yaml}\n";
    }
    cluster_.folder.Put("clusterctl.yaml", config);
  }

  static std::string ComponentsOf(const std::string& name, const std::string& ns, const std::string& version) {
    return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + ns + ", labels: {of: " + name +
           "}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: manager, namespace: " + ns +
           "}\nspec: {template: {spec: {containers: [{name: manager, image: 'registry.k8s.io/" + name + ":" + version +
           "'}]}}}\n";
  }

  Outcome Run(std::vector<std::string> arguments, Variables environment = {}) {
    arguments.insert(arguments.end(), {"--config", cluster_.folder / "clusterctl.yaml"});
    return cluster_.Run(std::move(arguments), std::move(environment));
  }
  // Of a command that takes no cluster.
  Outcome RunAlone(std::vector<std::string> arguments, Variables environment = {}, const std::string& input = "") {
    arguments.insert(arguments.end(), {"--config", cluster_.folder / "clusterctl.yaml"});
    environment.try_emplace("HOME", cluster_.folder.path());
    return Clusterctl(std::move(arguments), std::move(environment), input);
  }
  UpgradeCluster cluster_;
};

inline const Variables kUser = {{"OCI_USERNAME", std::string(fetch::kOciUser)},
                                {"OCI_PASSWORD", std::string(fetch::kOciPassword)}};

// Has the artifact of a tag signed, as cosign does it; with what, nobody looks.
inline void Sign(fetch::OciStandIn& registry, const std::string& tag, const std::string& signature) {
  const std::string payload = "payload", base = "/v2/org/provider/", blob = fetch::OciDigest(payload);
  const std::string place = base + "manifests/sha256-" + registry.digest(tag).substr(7) + ".sig";
  const Json layer = {{"mediaType", "application/vnd.dev.cosign.simplesigning.v1+json"},
                      {"digest", blob},
                      {"size", payload.size()},
                      {"annotations", {{"dev.cosignproject.cosign/signature", signature}}}};
  const std::string manifest = ToJsonText({{"layers", Json::array({layer})}});
  registry.set_registry_fault([=](const http::ServerRequest& request) -> std::optional<http::Response> {
    if (request.path == place) return fetch::OciAnswer(200, manifest);
    if (request.path == base + "blobs/" + blob) return fetch::OciAnswer(200, payload);
    return std::nullopt;
  });
}

inline std::string Object(const std::string& spec, const std::string& ns = ", namespace: capa-system") {
  return "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\nmetadata: {name: aws" + ns +
         "}\nspec: " + spec + "\n";
}

// A folder with a release, and with what nobody should see.
inline std::string ReleaseFolder(const TestFolder& folder) {
  folder.Put("out/metadata.yaml", kMetadata);
  folder.Put("out/infrastructure-components.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n");
  folder.Put("out/kubeconfig", "s3cret");
  folder.Put("out/notes-components.yaml", "s3cret");
  folder.Put("more/cluster-template.yaml", "kind: Cluster\n");
  return folder / "out";
}

}  // namespace capi::cli
