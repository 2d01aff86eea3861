// The operator's webhooks on the real API server: v1alpha1 as the proposal writes it, the certificate that the operator
// makes, keeps and tells API servers of, and what holds while the webhooks are away (behaviour.md T7, U3).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "api/schema/webhooks.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/http/client.h"
#include "base/strings.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "e2e/support/audit.h"
#include "e2e/support/cluster.h"
#include "e2e/support/operator_process.h"
#include "kube/testing/ports.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kNs = "default";  // the operator's own, and so of its Secrets
constexpr const char* kLeaseNs = "leases";
constexpr const char* kSecret = "capi-operator-webhook-cert";
const std::string kMutating(api::kMutatingConfiguration), kValidating(api::kValidatingConfiguration);

// Those of which there is a v1alpha1, and so a conversion.
constexpr ProviderType kOldTypes[] = {ProviderType::kCore, ProviderType::kBootstrap, ProviderType::kControlPlane,
                                      ProviderType::kInfrastructure};

kube::Resource At(ProviderType type, std::string_view version) {
  kube::Resource resource = api::ResourceOf(type);
  resource.version = version;
  return resource;
}

std::string CrdName(ProviderType type) { return fmt::format("{}.{}", api::KindOf(type).plural, api::kGroup); }

kube::Object Parse(std::string_view yaml) { return kube::Object(ValueOrAbort(ParseYaml(yaml), "an example")); }

class WebhooksTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    cluster_ = new Cluster(kube::ControlPlane::Shared(false), false);
    for (const char* ns : {"webhooks", kLeaseNs}) cluster_->CreateNamespace(ns);
  }
  static void TearDownTestSuite() {
    delete cluster_;
    cluster_ = nullptr;
  }

  void SetUp() override {
    port_ = kube::FreePorts(1).front();
    for (ProviderType type : kOldTypes) CallAt(type, port_);
  }
  void TearDown() override {
    if (operator_) operator_.reset();
    for (const auto& kind : api::kProviderKinds) {
      auto all = cluster_->client().List(cluster_->ctx(), At(kind.type, "v1alpha2"), "");
      for (const auto& object : all.ok() ? all->items : std::vector<kube::Object>()) {
        Json none = {{"metadata", {{"finalizers", nullptr}}}};
        (void)cluster_->client().Patch(cluster_->ctx(), At(kind.type, "v1alpha2"), object.ns(), object.name(),
                                       kube::PatchType::kMerge, none);
        (void)cluster_->client().Delete(cluster_->ctx(), At(kind.type, "v1alpha2"), object.ns(), object.name());
      }
    }
  }

  // An API server outside of the cluster knows no Services.
  void CallAt(ProviderType type, int port) {
    const std::string url = fmt::format("https://127.0.0.1:{}/convert", port);
    Json patch = {
        {"spec",
         {{"conversion",
           {{"strategy", "Webhook"}, {"webhook", {{"clientConfig", {{"service", nullptr}, {"url", url}}}}}}}}}};
    Patch("CustomResourceDefinition", "", CrdName(type), patch);
  }

  static std::vector<std::string> Arguments(int port) {
    return {fmt::format("--webhook-port={}", port), "--webhook-hosts=127.0.0.1", "--github-api-url=http://127.0.0.1:9",
            "--github-url=http://127.0.0.1:9", fmt::format("--leader-elect-namespace={}", kLeaseNs)};
  }
  void Start() {
    operator_ = std::make_unique<OperatorProcess>(cluster_->plane().kubeconfig(), Arguments(port_));
    ASSERT_TRUE(AwaitInjected());
  }

  std::string Bundle() {
    auto secret = cluster_->client().Get(cluster_->ctx(), kube::Builtin("Secret"), kNs, kSecret);
    return secret.ok() ? GetString(secret->json(), {"data", "ca.crt"}) : "";
  }
  std::string InjectedInto(ProviderType type) {
    auto crd = cluster_->Get("CustomResourceDefinition", "", CrdName(type));
    return GetString(crd.json(), {"spec", "conversion", "webhook", "clientConfig", "caBundle"});
  }
  void Patch(const char* kind, const std::string& ns, const std::string& name, const Json& patch) {
    auto live =
        cluster_->client().Patch(cluster_->ctx(), kube::Builtin(kind), ns, name, kube::PatchType::kMerge, patch);
    ValueOrAbort(std::move(live), name);
  }
  void RemoveBundle(ProviderType type) {
    Patch("CustomResourceDefinition", "", CrdName(type),
          *ParseJson(R"({"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":null}}}}})"));
  }
  // All CRDs are trusted by what the Secret has.
  bool AwaitInjected() {
    return kube::Eventually([&] {
      std::string bundle = Bundle();
      bool all = !bundle.empty();
      for (ProviderType type : kOldTypes) all = all && InjectedInto(type) == bundle;
      return all;
    });
  }
  void PatchSecret(const Json& data) { Patch("Secret", kNs, kSecret, {{"data", data}}); }

  Result<kube::Object> Create(const kube::Object& object) {
    const api::ProviderKind& kind = *api::KindByName(object.kind());
    kube::WriteOptions strict;
    strict.strict = true;
    return cluster_->client().Create(cluster_->ctx(), At(kind.type, object.group_version().version), object, strict);
  }
  Result<kube::Object> Read(ProviderType type, std::string_view version, const std::string& name) {
    return cluster_->client().Get(cluster_->ctx(), At(type, version), "webhooks", name);
  }

  static Cluster* cluster_;
  int port_ = 0;
  std::unique_ptr<OperatorProcess> operator_;
};

Cluster* WebhooksTest::cluster_ = nullptr;

struct Example {
  std::string name;
  ProviderType type;
  std::string old_spec, new_spec;  // as written at v1alpha1, as read at v1alpha2
};

kube::Object OldObject(ProviderType type, const std::string& name, std::string_view spec) {
  kube::Object object =
      Parse(fmt::format("{{apiVersion: {}/v1alpha1, kind: {}, metadata: {{name: {}, namespace: "
                        "webhooks}}}}",
                        api::kGroup, api::KindOf(type).kind, name));
  object.json()["spec"] = ValueOrAbort(ParseYaml(spec), "spec");
  return object;
}

// The proposal's, with their missing lines filled in.
const Example kExamples[] = {
    {"aws", ProviderType::kInfrastructure,
     R"({version: v2.1.4, secretName: aws-variables,
manager: {metricsAddress: ":8181", syncPeriod: 660},
deployment: {containers: [{name: manager, args: {awscluster-concurrency: 12, awsmachine-concurrency: 11}}]}})",
     R"({version: v2.1.4, configSecret: {name: aws-variables},
manager: {metrics: {bindAddress: ":8181"}, syncPeriod: 660s},
deployment: {containers: [{name: manager,
 args: {--awscluster-concurrency: "12", --awsmachine-concurrency: "11"}}]}})"},
    {"aws-image", ProviderType::kInfrastructure,
     R"({version: v2.1.4, secretName: aws-variables,
deployment: {containers: [{name: manager, image: "gcr.io/myregistry/capa-controller:v0.6.0-foo"}]}})",
     R"({version: v2.1.4, configSecret: {name: aws-variables},
deployment: {containers: [{name: manager, imageUrl: "gcr.io/myregistry/capa-controller:v0.6.0-foo"}]}})"},
    {"aws-resources", ProviderType::kInfrastructure,
     R"({version: v2.1.4, secretName: aws-variables,
deployment: {containers: [{name: manager, resources: {limits: {cpu: 100m, memory: 30Mi},
 requests: {cpu: 100m, memory: 20Mi}}}]}})",
     R"({version: v2.1.4, configSecret: {name: aws-variables},
deployment: {containers: [{name: manager, resources: {limits: {cpu: 100m, memory: 30Mi},
 requests: {cpu: 100m, memory: 20Mi}}}]}})"},
    {"myazure", ProviderType::kInfrastructure,
     R"({version: v1.9.3, secretName: azure-variables,
fetchConfig: {url: "https://github.com/myorg/awesome-azure-provider/releases"}})",
     R"({version: v1.9.3, configSecret: {name: azure-variables},
fetchConfig: {url: "https://github.com/myorg/awesome-azure-provider/releases"}})"},
    {"vsphere", ProviderType::kInfrastructure, R"({version: v1.6.1, secretName: vsphere-variables})",
     R"({version: v1.6.1, configSecret: {name: vsphere-variables}})"},
    {"azure", ProviderType::kInfrastructure,
     R"({version: v0.4.9, secretName: azure-variables,
fetchConfig: {selector: {matchLabels: {provider-components: azure}}}})",
     R"({version: v0.4.9, configSecret: {name: azure-variables},
fetchConfig: {selector: {matchLabels: {provider-components: azure}}}})"},
};

// The one that the CRDs have.
Json WithDefaults(std::string_view spec) {
  Json out = ValueOrAbort(ParseYaml(spec), "spec");
  if (out.contains("manager")) out["manager"]["verbosity"] = 1;
  return out;
}

TEST_F(WebhooksTest, TheProposalsExamplesAreTakenAsTheyAreWritten) {
  Start();
  for (const char* version : {"v0.4.8", "v0.4.9"}) {
    cluster_->StoreConfigMap("webhooks", version, {{"provider-components", "azure"}}, {});
  }
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.name);
    auto made = Create(OldObject(example.type, example.name, example.old_spec));
    ASSERT_TRUE(made.ok()) << made.error().message;
    const Json written = WithDefaults(example.old_spec);
    EXPECT_EQ(made->json()["spec"], written);
    auto old_one = Read(example.type, "v1alpha1", example.name), new_one = Read(example.type, "v1alpha2", example.name);
    ASSERT_TRUE(old_one.ok()) << old_one.error().message;
    ASSERT_TRUE(new_one.ok()) << new_one.error().message;
    EXPECT_EQ(old_one->json()["spec"], written);
    EXPECT_EQ(new_one->json()["spec"], WithDefaults(example.new_spec));
  }
  // The operator works on them.
  EXPECT_TRUE(cluster_->AwaitReason(ProviderType::kInfrastructure, "webhooks", "vsphere", "PreflightCheckPassed",
                                    "WaitingForCoreProviderReady"))
      << cluster_->See(ProviderType::kInfrastructure, "webhooks", "vsphere").Describe();
}

TEST_F(WebhooksTest, ATypoIsRefusedWithItsPath) {
  Start();
  auto refused = Create(OldObject(ProviderType::kInfrastructure, "typo",
                                  "{version: v1.0.0, deployment: {containers: [{name: manager, image: {tga: v1}}]}}"));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("spec.deployment.containers[0].image"));
  EXPECT_THAT(refused.error().message, HasSubstr("tga"));
}

// Asks for one and the same object at the version that has to be converted, until told to stop.
class Load {
 public:
  explicit Load(std::function<Result<kube::Object>()> read)
      : thread_([this, read = std::move(read)](auto stop) {
          while (!stop.stop_requested()) {
            auto answer = read();
            if (!answer.ok()) {
              MutexLock lock(mu_);
              errors_.push_back(answer.error().message);
            }
            ++count_;
          }
        }) {}
  bool AwaitMore(int more) {
    int until = count_ + more;
    return kube::Eventually([&] { return count_ >= until; });
  }
  std::vector<std::string> End() {
    thread_.request_stop();
    thread_.join();
    MutexLock lock(mu_);
    return errors_;
  }

 private:
  Mutex mu_;
  std::vector<std::string> errors_ CAPI_GUARDED_BY(mu_);
  std::atomic<int> count_ = 0;
  std::jthread thread_;
};

TEST_F(WebhooksTest, ARotationUnderLoadLosesNoRequest) {
  Start();
  ASSERT_TRUE(Create(OldObject(ProviderType::kInfrastructure, "load", "{version: v1.0.0}")).ok());
  auto value = [&](const char* key) { return GetString(cluster_->Get("Secret", kNs, kSecret).json(), {"data", key}); };
  Load load([&] { return Read(ProviderType::kInfrastructure, "v1alpha1", "load"); });
  EXPECT_TRUE(load.AwaitMore(50));
  const std::string first_leaf = value("tls.crt"), first_bundle = value("ca.crt");
  // The CA's key is lost: a next CA comes into the bundle, and what is served goes on.
  PatchSecret({{"ca.key", nullptr}});
  EXPECT_TRUE(kube::Eventually([&] { return !value("next-ca.key").empty(); }));
  EXPECT_EQ(value("tls.crt"), first_leaf);
  EXPECT_THAT(*Base64Decode(value("ca.crt")), HasSubstr(*Base64Decode(first_bundle)));
  EXPECT_TRUE(AwaitInjected());
  EXPECT_TRUE(load.AwaitMore(100));
  // Then the certificate: the next CA issues one at once, and all trust it.
  PatchSecret({{"tls.crt", Base64Encode("nonsense")}});
  EXPECT_TRUE(kube::Eventually([&] { return value("next-ca.key").empty() && value("tls.crt") != first_leaf; }));
  EXPECT_EQ(value("ca.crt"), InjectedInto(ProviderType::kInfrastructure));
  EXPECT_TRUE(load.AwaitMore(100));
  EXPECT_THAT(load.End(), ::testing::IsEmpty());
}

TEST_F(WebhooksTest, WhatIsTakenAwayComesBack) {
  Start();
  auto bundle = InjectedInto(ProviderType::kCore);
  RemoveBundle(ProviderType::kCore);
  EXPECT_TRUE(AwaitInjected());
  EXPECT_EQ(InjectedInto(ProviderType::kCore), bundle);
  // A lost Secret, and one that holds something else.
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("Secret"), kNs, kSecret).ok());
  EXPECT_TRUE(kube::Eventually([&] { return !Bundle().empty() && Bundle() != bundle; }));
  EXPECT_TRUE(AwaitInjected());
  bundle = Bundle();
  PatchSecret({{"ca.crt", Base64Encode("nonsense")}, {"password", "eA=="}});
  EXPECT_TRUE(kube::Eventually([&] { return Bundle() != bundle && Bundle() != Base64Encode("nonsense"); }));
  EXPECT_TRUE(AwaitInjected());
  // With a CA that nobody trusted before, API servers need a moment.
  const kube::Object again = OldObject(ProviderType::kInfrastructure, "again", "{version: v1.0.0}");
  EXPECT_TRUE(kube::Eventually([&] { return Create(again).ok(); }));
  EXPECT_TRUE(kube::Eventually([&] { return Read(ProviderType::kInfrastructure, "v1alpha1", "again").ok(); }));
}

// The webhooks of an admission configuration are told, too.
TEST_F(WebhooksTest, AdmissionIsToldWhomToTrust) {
  kube::ApplyYaml(cluster_->client(), R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: capi-operator-validating-webhook-configuration}
webhooks:
- {name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Ignore,
   clientConfig: {url: "https://127.0.0.1:9/a"}}
- {name: b.example.com, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Ignore,
   clientConfig: {url: "https://127.0.0.1:9/b"}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: capi-operator-mutating-webhook-configuration,
           annotations: {cert-manager.io/inject-ca-from: elsewhere/certificate}}
webhooks:
- {name: c.example.com, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Ignore,
   clientConfig: {url: "https://127.0.0.1:9/c"}}
)");
  Start();
  EXPECT_TRUE(kube::Eventually([&] {
    auto configuration = cluster_->Get("ValidatingWebhookConfiguration", "", kValidating);
    bool all = true;
    for (const Json& webhook : configuration.json()["webhooks"]) {
      all = all && GetString(webhook, {"clientConfig", "caBundle"}) == Bundle();
    }
    return all && configuration.json()["webhooks"].size() == 2;
  }));
  // What names another injector is left to that, and the operator says so.
  EXPECT_TRUE(kube::Eventually([&] {
    return operator_->Log().find("annotation=cert-manager.io/inject-ca-from") != std::string::npos;
  })) << operator_->Log();
  // The pass that said so has ended when a later one has brought this back.
  RemoveBundle(ProviderType::kCore);
  EXPECT_TRUE(AwaitInjected());
  const kube::Object mutating = cluster_->Get("MutatingWebhookConfiguration", "", kMutating);
  EXPECT_FALSE(mutating.json()["webhooks"][0]["clientConfig"].contains("caBundle"));
  (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ValidatingWebhookConfiguration"), "", kValidating);
  (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("MutatingWebhookConfiguration"), "", kMutating);
}

TEST_F(WebhooksTest, WithoutThemTheStoredVersionIsReadAndWritten) {
  Start();
  ASSERT_TRUE(Create(OldObject(ProviderType::kInfrastructure, "vsphere", "{version: v1.6.1}")).ok());
  EXPECT_EQ(operator_->Terminate(), 0);
  EXPECT_FALSE(Read(ProviderType::kInfrastructure, "v1alpha1", "vsphere").ok());
  EXPECT_TRUE(Read(ProviderType::kInfrastructure, "v1alpha2", "vsphere").ok());
  cluster_->PatchProvider(ProviderType::kInfrastructure, "webhooks", "vsphere", {{"spec", {{"version", "v1.6.2"}}}});
  // An operator whose webhooks nobody reaches works all the same.
  CallAt(ProviderType::kInfrastructure, 9);
  operator_->Restart();
  EXPECT_TRUE(cluster_->AwaitReason(ProviderType::kInfrastructure, "webhooks", "vsphere", "PreflightCheckPassed",
                                    "WaitingForCoreProviderReady"));
  EXPECT_FALSE(Read(ProviderType::kInfrastructure, "v1alpha1", "vsphere").ok());
  CallAt(ProviderType::kInfrastructure, port_);
  EXPECT_TRUE(kube::Eventually([&] { return Read(ProviderType::kInfrastructure, "v1alpha1", "vsphere").ok(); }));
  EXPECT_EQ(GetString(Read(ProviderType::kInfrastructure, "v1alpha1", "vsphere")->json(), {"spec", "version"}),
            "v1.6.2");
}

constexpr const char* kConversionReview = R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
"request": {"uid": "u", "desiredAPIVersion": "operator.cluster.x-k8s.io/v1alpha2", "objects": []}})";

// Sends a review as the API server does, to one replica.
Result<http::Response> Ask(int port, const std::string& ca_pem, const std::string& path = "/convert",
                           const std::string& review = kConversionReview) {
  http::Options options;
  options.tls.ca_pem = ca_pem;
  auto client = TRY(http::Client::Create(fmt::format("https://127.0.0.1:{}", port), options));
  http::Request request{.method = "POST", .target = path};
  request.content_type = "application/json";
  request.body = review;
  return client->Do(Context().WithTimeout(Seconds(20)), std::move(request));
}

TEST_F(WebhooksTest, AllReplicasServeWhoeverLeads) {
  Start();
  int other_port = kube::FreePorts(1).front();
  OperatorProcess other(cluster_->plane().kubeconfig(), Arguments(other_port));
  std::string ca = *Base64Decode(Bundle());
  for (int port : {port_, other_port}) {
    auto answer = Ask(port, ca);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_THAT(answer->body, HasSubstr("\"status\":\"Success\""));
  }
  EXPECT_EQ(operator_->Terminate(), 0);
  auto answer = Ask(other_port, ca);
  EXPECT_TRUE(answer.ok() && answer->status == 200);
  // The new leader keeps the Secret.
  PatchSecret({{"tls.key", Base64Encode("nonsense")}});
  EXPECT_TRUE(kube::Eventually([&] {
    auto secret = cluster_->Get("Secret", kNs, kSecret);
    return GetString(secret.json(), {"data", "tls.key"}) != Base64Encode("nonsense");
  }));
}

// T7: both Secrets are where the operator and its Service are; only the Lease of all these tests is elsewhere.
TEST_F(WebhooksTest, SecretsAreOfTheOwnNamespaceWhereverTheLeaseIs) {
  Start();
  EXPECT_TRUE(cluster_->Exists({"coordination.k8s.io", "Lease", kLeaseNs, "controller-leader-election-capi-operator"}));
  // A reference into another namespace makes a record, which needs the key.
  auto answer = Ask(port_, *Base64Decode(Bundle()), "/mutate-operator-cluster-x-k8s-io-v1alpha2-infrastructureprovider",
                    R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
"uid": "u", "name": "aws", "namespace": "webhooks", "userInfo": {"username": "u", "groups": ["system:masters"]},
"kind": {"group": "operator.cluster.x-k8s.io", "version": "v1alpha2", "kind": "InfrastructureProvider"},
"operation": "CREATE", "object": {"apiVersion": "operator.cluster.x-k8s.io/v1alpha2", "kind": "InfrastructureProvider",
"metadata": {"name": "aws"}, "spec": {"configSecret": {"name": "variables", "namespace": "elsewhere"}}}}})");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_THAT(answer->body, HasSubstr("\"allowed\":true"));
  for (const char* name : {kSecret, "capi-operator-inventory-key"}) {
    EXPECT_TRUE(cluster_->Exists({"", "Secret", kNs, name})) << name;
    EXPECT_FALSE(cluster_->Exists({"", "Secret", kLeaseNs, name})) << name;
  }
}

// Requests of operators that have to do with a certificate that they make, and that came after `since`.
std::vector<std::string> CertificateRequests(const kube::ControlPlane& plane, const std::string& since) {
  std::vector<std::string> found;
  for (const AuditedRequest& request : AuditLog(plane)) {
    if (request.time <= since || !request.user_agent.starts_with("capi-operator/")) continue;
    for (const std::string& sign :
         {std::string(kSecret), std::string("fieldManager=capi-operator-ca-injector"), kMutating, kValidating}) {
      if (request.uri.find(sign) != std::string::npos) found.push_back(request.ToString());
    }
  }
  return found;
}

TEST_F(WebhooksTest, FilesAreServedAndNothingIsMade) {
  Start();
  kube::Object secret = cluster_->Get("Secret", kNs, kSecret);
  EXPECT_EQ(operator_->Terminate(), 0);
  TemporaryFolder folder;
  for (const char* name : {"tls.crt", "tls.key"}) {
    ASSERT_TRUE(WriteFile(folder.path() + "/" + name, *Base64Decode(GetString(secret.json(), {"data", name}))).ok());
  }
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), kube::Builtin("Secret"), kNs, kSecret).ok());
  std::vector<std::string> arguments = Arguments(port_);
  std::replace(arguments.begin(), arguments.end(), std::string("--webhook-hosts=127.0.0.1"),
               "--webhook-cert-dir=" + folder.path());
  const std::string began = FormatMicroTime(SystemClock().Now());
  const auto made = CertificateRequests(cluster_->plane(), "");
  for (const char* kind : {"/secrets?", "/mutatingwebhookconfigurations?", "/validatingwebhookconfigurations?"}) {
    EXPECT_THAT(made, Contains(HasSubstr(kind)));
  }
  operator_ = std::make_unique<OperatorProcess>(cluster_->plane().kubeconfig(), arguments);
  auto answer = Ask(port_, *Base64Decode(GetString(secret.json(), {"data", "ca.crt"})));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  // It is ready, so all its watches have begun: nobody watches what the injector would. And a pass that ended tells
  // that it leads.
  RemoveBundle(ProviderType::kCore);
  cluster_->ApplyProvider(ProviderType::kInfrastructure, "webhooks", "vsphere", {{"version", "v1.6.1"}});
  EXPECT_TRUE(cluster_->AwaitReason(ProviderType::kInfrastructure, "webhooks", "vsphere", "PreflightCheckPassed",
                                    "WaitingForCoreProviderReady"));
  EXPECT_THAT(CertificateRequests(cluster_->plane(), began), IsEmpty());
  EXPECT_FALSE(cluster_->Exists({"", "Secret", kNs, kSecret}));
  EXPECT_EQ(InjectedInto(ProviderType::kCore), "");
}

// U3: an older operator's CRD, with v1alpha1 stored. Nobody has told API servers whom to trust when the operator comes.
TEST_F(WebhooksTest, WhatAnOlderOperatorStoredIsReadAndMigrated) {
  const ProviderType type = ProviderType::kBootstrap;
  const kube::Resource& crds = kube::Builtin("CustomResourceDefinition");
  kube::Object ours =
      Parse(ValueOrAbort(ReadFile("manifests/crds/operator.cluster.x-k8s.io_bootstrapproviders.yaml"), "CRD"));
  ASSERT_TRUE(cluster_->client().Delete(cluster_->ctx(), crds, "", CrdName(type)).ok());
  ASSERT_TRUE(kube::Eventually([&] {
    return !cluster_->Exists({"apiextensions.k8s.io", "CustomResourceDefinition", "", CrdName(type)});
  }));
  kube::Object older = ours;
  older.json()["spec"]["conversion"] = {{"strategy", "None"}};
  for (Json& version : older.json()["spec"]["versions"]) version["storage"] = version["name"] == "v1alpha1";
  kube::ApplyYaml(cluster_->client(), ToYaml(older.json()));
  ASSERT_TRUE(
      kube::Eventually([&] { return Create(OldObject(type, "kubeadm", "{version: v1.0.0, secretName: s}")).ok(); }));
  kube::ApplyYaml(cluster_->client(), ToYaml(ours.json()));
  CallAt(type, port_);
  Start();
  auto migrated = [&] {
    auto crd = cluster_->Get("CustomResourceDefinition", "", CrdName(type));
    return crd.json()["status"]["storedVersions"] == Json::array({"v1alpha2"});
  };
  EXPECT_TRUE(kube::Eventually(migrated, Seconds(60)));
  auto read = Read(type, "v1alpha2", "kubeadm");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->json()["spec"], ValueOrAbort(ParseYaml("{version: v1.0.0, configSecret: {name: s}}"), "spec"));
}

}  // namespace
}  // namespace capi::e2e
