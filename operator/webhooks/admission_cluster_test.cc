// The webhooks behind a real API server: what it makes of their answers, and whom it asks about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reference_record.h"
#include "api/schema/crds.h"
#include "api/schema/webhooks.h"
#include "base/encoding.h"
#include "base/http/certificate.h"
#include "base/http/server/server.h"
#include "base/yaml/yaml.h"
#include "kube/testing/control_plane.h"
#include "operator/webhooks/admission_review.h"
#include "operator/webhooks/conversion_review.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

const std::string kKey(32, 'k');

// Everything that the manifests point at the operator's Service is served by the test.
class AdmissionCluster : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    kube::ControlPlane& plane = kube::ControlPlane::Shared(false);
    admin_ = plane.NewClient();
    access_ = std::make_unique<AccessReviews>(*admin_, SystemClock());
    admission_ = std::make_unique<Admission>(
        Admission::Needs{[](const api::ProviderId& id) { return id.name == "aws"; },
                         [](const Context&) -> Result<std::string> { return kKey; }, *access_});
    certificate_ = http::MakeSelfSigned({"127.0.0.1"}).value();
    http::ServerOptions options;
    options.cert_pem = certificate_.cert_pem;
    options.key_pem = certificate_.key_pem;
    server_ = http::Server::Start(options, Answer).value();
    for (const api::ProviderKind& kind : api::kProviderKinds) ApplyCrd(kind);
    for (const api::ProviderKind& kind : api::kProviderKinds) {
      ASSERT_TRUE(kube::Eventually([&] { return admin_->List({}, api::ResourceOf(kind.type), "").ok(); })) << kind.kind;
    }
    ApplyWebhooks(api::MutatingWebhookConfiguration());
    ApplyWebhooks(api::ValidatingWebhookConfiguration());
    kube::ApplyYaml(*admin_, R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: providers}
rules: [{apiGroups: [operator.cluster.x-k8s.io], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: providers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: providers}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice},
           {apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: one-secret, namespace: kube-public}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [s], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: one-secret, namespace: kube-public}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: one-secret}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
)");
    // Configurations reach the API server's admission a moment after they are stored.
    ASSERT_TRUE(kube::Eventually([] { return !Write(*admin_, "{version: one}").ok(); }));
  }
  static void TearDownTestSuite() {
    server_.reset();
    admission_.reset();
    access_.reset();
    admin_.reset();
  }

  static Result<Json> Judge(const http::ServerRequest& request) {
    Json review = TRY(ParseJson(request.body));
    if (request.path == "/convert") return ReviewConversion(std::move(review));
    if (!request.path.starts_with("/mutate-")) return admission_->Validate(std::move(review));
    return admission_->Mutate(Context{}.WithTimeout(Seconds(10)), std::move(review));
  }
  static http::Response Answer(const http::ServerRequest& request) {
    auto answer = Judge(request);
    http::Response response;
    response.status = answer.ok() ? 200 : 400;
    response.body = answer.ok() ? ToJsonText(*answer) : answer.error().message;
    response.headers.Set("Content-Type", "application/json");
    return response;
  }

  // A configuration that points at the operator's Service, pointed at the test.
  static void PointHere(Json& client_config) {
    const std::string path = GetString(client_config, {"service", "path"});
    client_config = {{"url", "https://" + server_->address() + path},
                     {"caBundle", Base64Encode(certificate_.cert_pem)}};
  }
  static void Apply(const Json& object) { kube::ApplyYaml(*admin_, ToJsonText(object)); }
  static void ApplyCrd(const api::ProviderKind& kind) {
    Json crd = api::CustomResourceDefinition(kind);
    if (Json* config = Find(crd, {"spec", "conversion", "webhook", "clientConfig"})) PointHere(*config);
    Apply(crd);
  }
  static void ApplyWebhooks(Json configuration) {
    for (Json& webhook : configuration["webhooks"]) PointHere(webhook["clientConfig"]);
    Apply(configuration);
  }

  static std::unique_ptr<kube::Client> As(const std::string& user) {
    kube::Config config = kube::ControlPlane::Shared(false).config();
    config.impersonate_user = user;
    config.impersonate_groups = {"system:authenticated"};
    auto client = kube::Client::Connect(config, {.user_agent = "admission-test"});
    EXPECT_TRUE(client.ok()) << client.error().message;
    return *std::move(client);
  }
  static Result<kube::Object> Write(kube::Client& client, std::string_view spec,
                                    std::vector<std::string>* warnings = nullptr,
                                    std::string_view version = api::kVersion) {
    kube::Resource resource = api::ResourceOf(api::ProviderType::kInfrastructure);
    resource.version = version;
    kube::Object object(Json{{"apiVersion", std::string(api::kGroup) + "/" + std::string(version)},
                             {"kind", "InfrastructureProvider"},
                             {"metadata", {{"name", "aws"}, {"namespace", "default"}}},
                             {"spec", ParseYaml(spec).value()}});
    kube::WriteOptions options{.field_manager = "test"};
    options.warnings = warnings;
    return client.Apply({}, resource, object, options);
  }
  void TearDown() override {
    (void)admin_->Delete({}, api::ResourceOf(api::ProviderType::kInfrastructure), "default", "aws");
  }

  static std::unique_ptr<kube::Client> admin_;
  static std::unique_ptr<AccessReviews> access_;
  static std::unique_ptr<Admission> admission_;
  static http::Certificate certificate_;
  static std::unique_ptr<http::Server> server_;
};

std::unique_ptr<kube::Client> AdmissionCluster::admin_;
std::unique_ptr<AccessReviews> AdmissionCluster::access_;
std::unique_ptr<Admission> AdmissionCluster::admission_;
http::Certificate AdmissionCluster::certificate_;
std::unique_ptr<http::Server> AdmissionCluster::server_;

// I15: in the API server's words, with a warning for who writes.
TEST_F(AdmissionCluster, FillsInRefusesAndWarns) {
  std::vector<std::string> warnings;
  auto written = Write(*admin_, "{version: 1.2.3, configSecret: {name: s}}", &warnings);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(GetString(written->json(), {"spec", "configSecret", "namespace"}), "default");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("spec.version: 1.2.3 is taken as v1.2.3"));
  auto refused = Write(*admin_, "{version: one}");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kPermissionDenied) << "whatever a webhook denies";
  EXPECT_THAT(refused.error().message,
              HasSubstr("admission webhook \"vinfrastructureprovider.kb.io\" denied the request: "
                        "InfrastructureProvider.operator.cluster.x-k8s.io \"aws\" is invalid: spec.version: Invalid "
                        "value: \"one\": "));
}

// I15: matchPolicy Equivalent has what is written at v1alpha1 judged too.
TEST_F(AdmissionCluster, JudgesTheOldVersionToo) {
  auto refused = Write(*admin_, "{version: one, secretName: s}", nullptr, api::kOldVersion);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("is invalid: spec.version: Invalid value: \"one\": "));
  auto written = Write(*admin_, "{version: v1.0.0, secretName: s}", nullptr, api::kOldVersion);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(GetString(written->json(), {"spec", "secretNamespace"}), "default");
}

// I15: every rule of validation, as it is broken in the words of v1alpha1: by the schema, the conversion or the
// webhook.
TEST_F(AdmissionCluster, RefusesTheOldVersionsSpellings) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{version: one}", "spec.version: Invalid value: \"one\""},
      {"{secretName: Not_A_Name}", "spec.configSecret.name: Invalid value: \"Not_A_Name\""},
      {"{secretNamespace: kube-public}", "spec.configSecret.name: Required value"},
      {"{secretName: s, secretNamespace: Kube_Public}", "spec.configSecret.namespace: Invalid value"},
      {"{additionalManifests: {name: No_Name}}", "spec.additionalManifests.name: Invalid value"},
      {"{serviceAccountName: No_Name}", "spec.serviceAccountName: Invalid value"},
      {"{fetchConfig: {}}", "Must specify one and only one of"},
      {"{fetchConfig: {url: 'https://gitlab.com/a/b'}}", "spec.fetchConfig.url: Invalid value"},
      {"{fetchConfig: {oci: a}}", "spec.fetchConfig.oci: Invalid value"},
      {"{fetchConfig: {git: {url: a}}}", "spec.fetchConfig.git.url: Invalid value"},
      {"{fetchConfig: {selector: {matchExpressions: [{key: a, operator: Like}]}}}", "spec.fetchConfig.selector"},
      {"{fetchConfig: {url: 'https://github.com/a/b/releases', secretRef: {name: s}}}",
       "spec.fetchConfig.secretRef: Forbidden"},
      // The admission webhook is for v1alpha2: conversion comes before the schema's own rule.
      {"{manager: {metricsAddress: ':1', metrics: {bindAddress: ':2'}}}",
       "spec.manager.metricsAddress: is the same as metrics.bindAddress, which is set too"},
      {"{manager: {syncPeriod: never}}", "spec.manager.syncPeriod"},
      {"{manager: {leaderElection: {leaseDuration: soon}}}", "spec.manager.leaderElection.leaseDuration"},
      {"{manager: {webhook: {port: 70000}}}", "spec.manager.webhook.port: Invalid value: \"70000\""},
      {"{manager: {verbosity: -1}}", "spec.manager.verbosity"},
      {"{manager: {additionalArgs: {a: [1]}}}", "spec.manager.additionalArgs[a]: must be a text"},
      {"{deployment: {containers: [{name: m, image: {tga: v1}}]}}", "containers[0].image.tga: unknown field"},
      {"{deployment: {containers: [{name: m, image: {tag: 1}}]}}", "containers[0].image.tag: must be a text"},
      {"{deployment: {containers: [{name: m, image: 5}]}}", "containers[0].image: must be a text or an object"},
      {"{deployment: {containers: [{name: m, args: {a: 1.5}}]}}",
       "containers[0].args[a]: must be a text, a whole number, true or false"},
      {"{deployment: {containers: [{name: m, args: {a: 1, --a: 2}}]}}", "is given with and without dashes"},
      {"{deployment: {initContainers: [{name: i, image: {tga: v1}}]}}", "initContainers[0].image.tga: unknown field"},
      {"{additionalDeployments: {other: {manager: {metricsAddress: ':1', metrics: {bindAddress: ':2'}}}}}",
       "spec.additionalDeployments[other].manager.metricsAddress: is the same as metrics.bindAddress"},
      {"{additionalDeployments: {other: {manager: {webhook: {port: 70000}}}}}",
       "spec.additionalDeployments[other].manager.webhook.port: Invalid value"},
      {"{patches: [{patch: 'a: ['}]}", "spec.patches[0].patch"},
      {"{manifestPatches: ['a: [']}", "spec.manifestPatches[0]"},
      {"{rollout: {timeout: 0s}}", "spec.rollout.timeout: Invalid value"},
  };
  for (const auto& [spec, message] : cases) {
    auto refused = Write(*admin_, spec, nullptr, api::kOldVersion);
    ASSERT_FALSE(refused.ok()) << spec;
    EXPECT_THAT(refused.error().message, HasSubstr(std::string(message))) << spec;
  }
}

// T1: as the API server's own rights say, for who writes the reference.
TEST_F(AdmissionCluster, AReferenceNeedsTheRightToReadThere) {
  constexpr std::string_view kForeign = "{version: v1.0.0, configSecret: {name: s, namespace: kube-public}}";
  auto alice = As("alice"), bob = As("bob");
  auto refused = Write(*bob, kForeign);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kPermissionDenied);
  EXPECT_THAT(refused.error().message, HasSubstr("spec.configSecret.namespace: Forbidden: user \"bob\" cannot get "
                                                 "resource \"secrets\""));
  EXPECT_FALSE(Write(*alice, "{configSecret: {name: other, namespace: kube-public}}").ok()) << "that one Secret alone";

  auto written = Write(*alice, kForeign);
  ASSERT_TRUE(written.ok()) << written.error().message;
  const api::ProviderId aws{api::ProviderType::kInfrastructure, "default", "aws"};
  const std::vector<api::ForeignReference> references = {{"spec.configSecret.namespace", "kube-public", "Secret", "s"}};
  auto record = [](const kube::Object& object) { return object.annotation(api::kAnnotationAllowedReferences); };
  EXPECT_TRUE(api::RecordCovers(record(*written), kKey, aws, references)) << record(*written);
  auto changed = Write(*bob, "{version: v1.1.0, configSecret: {name: s, namespace: kube-public}}");
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(record(*changed), record(*written)) << "the reference is still Alice's";
  auto gone = Write(*bob, "{version: v1.1.0}");
  ASSERT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_EQ(record(*gone), "");
  EXPECT_FALSE(Write(*bob, kForeign).ok());
}

}  // namespace
}  // namespace capi::ops
