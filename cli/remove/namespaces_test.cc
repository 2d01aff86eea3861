// L22: what goes with a Namespace, and what keeps it.
#include "cli/remove/namespaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::Object Of(const std::string& api_version, const std::string& kind, const std::string& name,
                Json metadata = Json::object()) {
  metadata["name"] = name;
  metadata["namespace"] = "capa";
  metadata["uid"] = "u-" + name;
  return kube::Object(Json{{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}});
}

Json OwnedBy(const std::string& name) {
  return {{"ownerReferences", Json::array({{{"kind", "X"}, {"name", name}, {"uid", "u-" + name}}})}};
}

Json Labels(const std::string& name, const std::string& value) { return {{"labels", {{name, value}}}}; }

// As preloaded releases have them (docs/formats.md), with no selector in a spec.
Json ReleaseOf(const std::string& name) {
  return {{"labels", {{"provider.cluster.x-k8s.io/type", "infrastructure"}, {"provider.cluster.x-k8s.io/name", name}}}};
}

Json OfCertificate(const std::string& name) { return {{"annotations", {{"cert-manager.io/certificate-name", name}}}}; }

NamespaceOwners Aws() {
  Target aws;
  aws.id = {api::ProviderType::kInfrastructure, "capa", "aws"};
  aws.object = true;
  aws.named = {{"", "Secret", "capa", "values"}};
  aws.release_maps = {{"matchLabels", {{"release", "aws"}}}};
  aws.inventory.Put({"cert-manager.io", "Certificate", "capa", "serving"}, {});
  aws.inventory.Put({"", "Service", "capa", "webhook"}, {});
  return {{aws}, false};
}

TEST(Strangers, WhatIsNotOfTheProvider) {
  struct Case {
    std::string name;
    kube::Object object;
    bool stranger;
  };
  const std::string cm = "ConfigMap";
  const Case cases[] = {
      {"the provider's label", Of("v1", cm, "a", Labels("cluster.x-k8s.io/provider", "infrastructure-aws")), false},
      {"another's", Of("v1", cm, "a", Labels("cluster.x-k8s.io/provider", "infrastructure-x")), true},
      {"its object", Of("operator.cluster.x-k8s.io/v1alpha2", "InfrastructureProvider", "aws"), false},
      {"another's object", Of("operator.cluster.x-k8s.io/v1alpha2", "InfrastructureProvider", "gcp"), true},
      {"named by its spec", Of("v1", "Secret", "values"), false},
      {"another of that kind", Of("v1", "Secret", "mine-kubeconfig"), true},
      {"of that name", Of("v1", cm, "values"), true},
      {"its release", Of("v1", cm, "v1.0.0", Labels("release", "aws")), false},
      {"a release labelled for it", Of("v1", cm, "v1.0.0", ReleaseOf("aws")), false},
      {"one labelled for another", Of("v1", cm, "v1.0.0", ReleaseOf("gcp")), true},
      {"another kind with these labels", Of("v1", "Secret", "v1.0.0", ReleaseOf("aws")), true},
      {"in its inventory", Of("v1", "Service", "webhook"), false},
      {"a Cluster", Of("cluster.x-k8s.io/v1beta2", "Cluster", "mine"), true},
      {"a controller's", Of("v1", cm, "kube-root-ca.crt"), false},
      {"Istio's", Of("v1", cm, "istio-ca-root-cert"), false},
      {"a user's of a controller's kind", Of("v1", "ServiceAccount", "builder"), true},
      {"an election", Of("coordination.k8s.io/v1", "Lease", "controller-leader-election-capa"), false},
      {"of a Certificate of its release", Of("v1", "Secret", "tls", OfCertificate("serving")), false},
      {"of one that is gone", Of("v1", "Secret", "tls", OfCertificate("mine")), true},
      {"another kind with that annotation", Of("v1", cm, "a", OfCertificate("serving")), true},
      {"the operator's", Of("v1", "Service", "s", Labels("app.kubernetes.io/name", "capi-operator")), true},
      {"owned by what is elsewhere", Of("v1", cm, "a", OwnedBy("elsewhere")), true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::set<std::string> known;
    EXPECT_EQ(Strangers({c.object}, Aws(), known).size(), c.stranger ? 1U : 0U);
    EXPECT_EQ(known.size(), c.stranger ? 0U : 1U);
  }
}

// cert-manager leaves a Secret whose Certificate goes.
TEST(Strangers, ASecretIsItsCertificates) {
  const kube::Object secret = Of("v1", "Secret", "tls", OfCertificate("mine")),
                     certificate = Of("cert-manager.io/v1", "Certificate", "mine");
  std::set<std::string> known;
  EXPECT_THAT(Strangers({secret, certificate}, Aws(), known), ElementsAre("Certificate.cert-manager.io/capa/mine"));
  Target aws;
  aws.id = Aws().targets[0].id;
  known.clear();
  EXPECT_THAT(Strangers({secret}, {{aws}, false}, known),
              ElementsAre(testing::StartsWith("Secret/capa/tls (its Certificate is gone")));
  aws.noted = true;
  EXPECT_THAT(Strangers({secret}, {{aws}, false}, known), IsEmpty())
      << "which Certificates it had nobody knows any more";
  known.clear();
  EXPECT_THAT(Strangers({Of("v1", "ConfigMap", "a", OfCertificate("mine"))}, {{aws}, false}, known),
              ElementsAre("ConfigMap/capa/a"));
}

// A note that an earlier run has left, where the provider is there, or there again.
TEST(Strangers, AnInventoryKnowsMoreThanANote) {
  NamespaceOwners owners = Aws();
  owners.targets[0].noted = true;
  std::set<std::string> known;
  EXPECT_THAT(Strangers({Of("v1", "Secret", "tls", OfCertificate("serving"))}, owners, known), IsEmpty());
  EXPECT_THAT(Strangers({Of("v1", "Secret", "other", OfCertificate("mine"))}, owners, known),
              ElementsAre(testing::StartsWith("Secret/capa/other (its Certificate is gone")));
  owners.targets[0].inventory = {};
  owners.targets[0].inventory_error = "can't be read";
  EXPECT_EQ(Strangers({Of("v1", "Secret", "other", OfCertificate("mine"))}, owners, known).size(), 1U);
}

// Without an operator there is no inventory. L22: it has to be the provider's own.
TEST(Strangers, AnIssuerThatIsThereKnowsMoreThanANote) {
  const kube::Object issuer =
      Of("cert-manager.io/v1", "Issuer", "i", Labels("cluster.x-k8s.io/provider", "infrastructure-aws"));
  const kube::Object secret = Of("v1", "Secret", "tls", OfCertificate("mine"));
  Target aws;
  aws.id = Aws().targets[0].id;
  aws.noted = true;
  std::set<std::string> known;
  EXPECT_THAT(Strangers({issuer, secret}, {{aws}, false}, known), IsEmpty()) << "it is left of what is gone";
  aws.entry = true;
  known.clear();
  EXPECT_EQ(Strangers({issuer, secret}, {{aws}, false}, known).size(), 1U);
  known.clear();
  EXPECT_THAT(Strangers({secret}, {{aws}, false}, known), IsEmpty()) << "the earlier run had come that far";
  Target gcp;
  gcp.id = {api::ProviderType::kInfrastructure, "capa", "gcp"};
  gcp.entry = true;
  const kube::Object others =
      Of("cert-manager.io/v1", "Issuer", "i2", Labels("cluster.x-k8s.io/provider", "infrastructure-gcp"));
  known.clear();
  EXPECT_THAT(Strangers({others, secret}, {{aws, gcp}, false}, known), IsEmpty()) << "another's Issuer says nothing";
  known.clear();
  EXPECT_EQ(Strangers({others, secret}, {{gcp}, false}, known).size(), 1U);
}

// By a Certificate that a release has renamed, or that went with cert-manager's kinds.
TEST(Strangers, ASecretWhoseCertificateIsGoneIsItsIssuers) {
  const Json provider = Labels("cluster.x-k8s.io/provider", "infrastructure-aws");
  const kube::Object issuer = Of("cert-manager.io/v1", "Issuer", "selfsigned", provider);
  auto secret = [](const std::string& kind, const std::string& name) {
    Json metadata = OfCertificate("gone");
    metadata["annotations"]["cert-manager.io/issuer-kind"] = kind;
    metadata["annotations"]["cert-manager.io/issuer-name"] = name;
    return Of("v1", "Secret", "tls", metadata);
  };
  const NamespaceOwners owners = Aws();
  NamespaceOwners recorded = Aws();
  recorded.targets[0].inventory.Put(issuer.id(), {});
  struct Case {
    std::string name;
    std::vector<kube::Object> objects;
    NamespaceOwners owners;
    bool stranger;
  };
  const Case cases[] = {
      {"the provider's", {secret("Issuer", "selfsigned"), issuer}, owners, false},
      {"in its inventory", {secret("Issuer", "selfsigned")}, recorded, false},
      {"gone too", {secret("Issuer", "selfsigned")}, owners, true},
      {"one for all namespaces", {secret("ClusterIssuer", "selfsigned"), issuer}, recorded, true},
      {"another", {secret("Issuer", "mine"), issuer}, recorded, true},
      {"somebody's",
       {secret("Issuer", "mine"), Of("cert-manager.io/v1", "Issuer", "mine", OwnedBy("x"))},
       owners,
       true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::set<std::string> known;
    const auto got = Strangers(c.objects, c.owners, known);
    EXPECT_EQ(std::count_if(got.begin(), got.end(), [](const auto& name) { return name.starts_with("Secret/"); }),
              c.stranger ? 1 : 0);
  }
}

// Further parts name the first.
TEST(Strangers, PartsOfARelease) {
  const kube::Object first = Of("v1", "ConfigMap", "aws-v1", ReleaseOf("aws")),
                     part =
                         Of("v1", "ConfigMap", "aws-v1-part-2", Labels("operator.cluster.x-k8s.io/part-of", "aws-v1"));
  std::set<std::string> known;
  EXPECT_THAT(Strangers({part, first}, Aws(), known), IsEmpty());
  known.clear();
  EXPECT_THAT(Strangers({part}, Aws(), known), ElementsAre("ConfigMap/capa/aws-v1-part-2"));
}

// An API server that has them under a second group has them with the same uid.
TEST(Strangers, WhatControllersPutIntoEachNamespaceOfOpenShift) {
  const std::string role_bindings = "rbac.authorization.k8s.io/v1";
  std::vector<kube::Object> objects = {Of("v1", "ServiceAccount", "builder"),
                                       Of("v1", "ServiceAccount", "deployer"),
                                       Of(role_bindings, "RoleBinding", "system:image-pullers"),
                                       Of(role_bindings, "RoleBinding", "system:image-builders"),
                                       Of(role_bindings, "RoleBinding", "system:deployers"),
                                       Of("authorization.openshift.io/v1", "RoleBinding", "system:deployers")};
  std::set<std::string> known;
  EXPECT_EQ(Strangers(objects, Aws(), known).size(), objects.size()) << "elsewhere somebody made them";
  objects.push_back(Of("v1", "ConfigMap", "openshift-service-ca.crt"));
  EXPECT_THAT(Strangers(objects, Aws(), known), IsEmpty());
}

TEST(Strangers, WhatTheOperatorHasGoesWithIt) {
  NamespaceOwners owners = Aws();
  owners.with_operator = true;
  std::set<std::string> known;
  EXPECT_THAT(Strangers({Of("v1", "Service", "s", Labels("app.kubernetes.io/name", "capi-operator")),
                         Of("v1", "Secret", "capi-operator-webhook-cert")},
                        owners, known),
              IsEmpty());
}

TEST(Strangers, AnObjectIsItsOwners) {
  const kube::Object manager =
                         Of("apps/v1", "Deployment", "m", Labels("cluster.x-k8s.io/provider", "infrastructure-aws")),
                     set = Of("apps/v1", "ReplicaSet", "m-1", OwnedBy("m")),
                     pod = Of("v1", "Pod", "m-1-1", OwnedBy("m-1")), mine = Of("batch/v1", "Job", "mine"),
                     its = Of("v1", "Pod", "mine-1", OwnedBy("mine"));
  std::set<std::string> known;
  EXPECT_THAT(Strangers({pod, set, manager, its, mine}, Aws(), known), ElementsAre("Job.batch/capa/mine"));
  // Pods that end after the rest are still the provider's, and so is one that was made meanwhile.
  EXPECT_THAT(Strangers({pod, Of("v1", "Pod", "m-1-2", OwnedBy("m-1"))}, Aws(), known), IsEmpty());
}

TEST(IsOfKubernetes, NamespacesThatNobodyDeletes) {
  EXPECT_TRUE(IsOfKubernetes("default") && IsOfKubernetes("kube-system") && IsOfKubernetes("kube-node-lease"));
  EXPECT_FALSE(IsOfKubernetes("capi-system") || IsOfKubernetes("default-system") || IsOfKubernetes("kubeadm"));
}

TEST(NotedDeletions, OfTheNamespaceItself) {
  const std::string prefix = "delete.operator.cluster.x-k8s.io/";
  auto noted = [&](Json annotations) {
    return NotedDeletions({kube::Object(
        Json{{"kind", "Namespace"}, {"metadata", {{"name", "capa"}, {"annotations", std::move(annotations)}}}})});
  };
  const api::ProviderId aws{api::ProviderType::kInfrastructure, "capa", "aws"};
  EXPECT_THAT(noted({{prefix + "infrastructure-aws", aws.Key()}, {"other", "x"}}),
              ElementsAre(NotedProvider{aws, {}, {}}));
  EXPECT_THAT(
      noted({{prefix + "infrastructure-aws",
              aws.Key() + R"( Secret/values ConfigMap/more Pod/x x {"matchLabels":{"release":"aws"}} entry/u1)"}}),
      ElementsAre(NotedProvider{aws,
                                {{"", "ConfigMap", "capa", "more"}, {"", "Secret", "capa", "values"}},
                                {{"matchLabels", {{"release", "aws"}}}},
                                "u1"}));
  EXPECT_THAT(noted({{prefix + "infrastructure-aws", "InfrastructureProvider/default/aws"}}), IsEmpty());
  EXPECT_THAT(noted({{prefix + "infrastructure-aws", "true"}}), IsEmpty());
  EXPECT_THAT(noted(Json()), IsEmpty());
}

}  // namespace
}  // namespace capi::cli
