// Bad input: each kind of it with the exact condition, reason and message, and nothing lost (F1, F2).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/reference_record.h"
#include "base/encoding.h"
#include "e2e/support/audit.h"
#include "e2e/support/managed_cluster.h"
#include "kube/testing/ports.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kGoodMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 0, contract: v1beta1}\n- {major: 2, minor: 0, contract: v99}\n";
constexpr std::string_view kGoodComponents =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: good, namespace: x}\ndata: {a: b}\n";

std::string BrokenAtLine4711() {
  std::string text;
  for (int line = 1; line < 4710; ++line) text += "# filler\n";
  return text + "apiVersion: v1\nkind: ]\n---\n";
}

struct Case {
  std::string name;  // of the provider, and of the test
  std::string version = "v1.0.0";
  std::map<std::string, std::string> data = {{"metadata", std::string(kGoodMetadata)},
                                             {"components", std::string(kGoodComponents)}};
  std::map<std::string, std::string> binary;  // of binaryData, with the annotation that it is compressed
  Json spec = Json::object();                 // merged over the usual one
  std::string condition, reason, message;
};

using Add = std::function<void(Case)>;

std::map<std::string, std::string> With(std::string_view components) {
  return {{"metadata", std::string(kGoodMetadata)}, {"components", std::string(components)}};
}

void AddTexts(const Add& add) {
  add({.name = "no-secret",
       .spec = {{"configSecret", {{"name", "nowhere"}}}},
       .condition = "PreflightCheckPassed",
       .reason = "SecretNotFound",
       .message = "Secret bad/nowhere (spec.configSecret) doesn't exist: create it, this provider then goes on"});
  add({.name = "three-variables",
       .data = With("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '${C}', b: '${A}', c: '${B}'}\n"),
       .condition = "PreflightCheckPassed",
       .reason = "MissingVariables",
       .message = "value for variables [A, B, C] is not set: put them into a Secret in namespace bad and name it in "
                  "spec.configSecret"});
  add({.name = "broken-yaml",
       .data = With(BrokenAtLine4711()),
       .condition = "ProviderInstalled",
       .reason = "InvalidComponents",
       .message = "failed to parse yaml: line 4711, column 7: did not find expected node content"});
  add({.name = "no-series",
       .version = "v3.0.0",
       .condition = "ProviderInstalled",
       .reason = "CAPIVersionIncompatibility",
       .message =
           "invalid provider metadata: version v3.0.0 for the provider no-series does not match any release series; "
           "its metadata.yaml lists 1.0, 2.0"});
  add({.name = "unknown-contract",
       .version = "v2.0.0",
       .condition = "ProviderInstalled",
       .reason = "CAPIVersionIncompatibility",
       .message = "has contract v99, which this operator doesn't know"});
  add({.name = "empty-components",
       .data = With(" \n"),
       .condition = "ProviderInstalled",
       .reason = "ComponentsFetchError",
       .message = "ConfigMap bad/empty-components has empty components: nothing is changed"});
  add({.name = "only-comments",
       .data = With("# nothing\n---\n# here\n"),
       .condition = "ProviderInstalled",
       .reason = "InvalidComponents",
       .message = "ConfigMap bad/only-comments: failed to parse yaml: there is no object in it"});
  add({.name = "no-metadata",
       .data = {{"components", std::string(kGoodComponents)}},
       .condition = "ProviderInstalled",
       .reason = "ComponentsFetchError",
       .message = "ConfigMap bad/no-metadata has no metadata"});
  add({.name = "no-components",
       .data = {{"metadata", std::string(kGoodMetadata)}},
       .condition = "ProviderInstalled",
       .reason = "ComponentsFetchError",
       .message = "ConfigMap bad/no-components Data has no components"});
  add({.name = "not-gzip",
       .data = {{"metadata", std::string(kGoodMetadata)}},
       .binary = {{"components", "this is no gzip"}},
       .condition = "ProviderInstalled",
       .reason = "ComponentsFetchError",
       .message = "cannot decompress data from ConfigMap bad/not-gzip"});
  add({.name = "half-gzip",
       .data = {{"metadata", std::string(kGoodMetadata)}},
       .binary = {{"components", Gzip(std::string(5000, 'x') + std::string(kGoodComponents)).substr(0, 40)}},
       .condition = "ProviderInstalled",
       .reason = "ComponentsFetchError",
       .message = "cannot decompress data from ConfigMap bad/half-gzip"});
  add({.name = "gzip-bomb",
       .data = {{"metadata", std::string(kGoodMetadata)}},
       .binary = {{"components", Gzip(std::string(100u << 20, '\n'))}},
       .condition = "ProviderInstalled",
       .reason = "ComponentsFetchError",
       .message = "unpacks to more than 6291456 bytes"});
}

void AddObjects(const Add& add) {
  add({.name = "bad-metadata",
       .data = {{"metadata", "kind: Metadata\nreleaseSeries: ]\n"}, {"components", std::string(kGoodComponents)}},
       .condition = "ProviderInstalled",
       .reason = "InvalidMetadata",
       .message = "ConfigMap bad/bad-metadata: error decoding \"metadata.yaml\" for provider \"bad-metadata\": line 2, "
                  "column 16: did not find expected node content"});
  add({.name = "nothing-selected",
       .spec = {{"fetchConfig", {{"selector", {{"matchLabels", {{"no", "such"}}}}}}}},
       .condition = "ProviderInstalled",
       .reason = "NoReleaseFound",
       .message = "no ConfigMaps found with selector"});
  add({.name = "other-version",
       .spec = {{"version", "v1.0.9"}},
       .condition = "ProviderInstalled",
       .reason = "VersionNotFound",
       .message =
           "none of the ConfigMaps that the selector finds in namespace bad has version v1.0.9; there are v1.0.0"});
  add({.name = "bad-version",
       .spec = {{"version", "one"}},
       .condition = "PreflightCheckPassed",
       .reason = "IncorrectVersionFormat",
       .message = "could not parse \"one\" as version"});
  add({.name = "missing-kinds",
       .data = With("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"),
       .condition = "PreflightCheckPassed",
       .reason = "MissingKinds",
       .message = "the release uses kinds that the cluster doesn't have: example.com/v1 Widget; install what provides "
                  "them; this provider then goes on"});
  add({.name = "two-namespaces",
       .data = With(
           std::string(
               "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: "
               "{name: b}\n---\n") +
           std::string(kGoodComponents)),
       .condition = "ProviderInstalled",
       .reason = "MultipleNamespaces",
       .message = "There should be no more than one resource with Kind Namespace in the provider components yaml: it "
                  "has a and b"});
  add({.name = "duplicate-objects",
       .data = With(std::string(kGoodComponents) + "---\n" + std::string(kGoodComponents)),
       .condition = "ProviderInstalled",
       .reason = "DuplicateObjects",
       .message = "two objects would be one"});
  add({.name = "invalid-utf8",
       .data = {{"metadata", std::string(kGoodMetadata)}},
       .binary = {{"components",
                   Gzip("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: \"\xff\xfe\"}\n")}},
       .condition = "ProviderInstalled",
       .reason = "InvalidComponents",
       .message = "line 4, column 12: invalid leading UTF-8 octet"});
  add({.name = "exploding-aliases",
       .data = With("a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c "
                    "[*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e "
                    "[*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g "
                    "[*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g,*g,*g]\n"),
       .condition = "ProviderInstalled",
       .reason = "InvalidComponents",
       .message = "line 4, column 14: document contains excessive aliasing"});
  add({.name = "refused-object",
       .data = With("apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 99999}]}\n"),
       .condition = "ProviderInstalled",
       .reason = "DryRunFailed",
       .message = "Service/bad/s: Service \"s\" is invalid: [spec.ports[0].port: Invalid value: 99999: must be between "
                  "1 and 65535, inclusive"});
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  Add add = [&](Case c) { cases.push_back(std::move(c)); };
  AddTexts(add);
  AddObjects(add);
  return cases;
}

class BadInput : public ManagedCluster {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.12.0");
    ManagedCluster::SetUp();
    if (cluster_) cluster_->CreateNamespace("bad");
  }
  void StoreCase(const Case& c) {
    Json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    map["metadata"] = {
        {"name", c.name},
        {"namespace", "bad"},
        {"labels", {{"provider.cluster.x-k8s.io/name", c.name}, {"provider.cluster.x-k8s.io/version", c.version}}}};
    map["data"] = c.data;
    if (!c.binary.empty()) {
      map["metadata"]["annotations"] = {{"provider.cluster.x-k8s.io/compressed", "true"}};
      for (const auto& [key, value] : c.binary) map["binaryData"][key] = Base64Encode(value);
    }
    auto created = cluster_->client().Create(cluster_->ctx(), kube::Builtin("ConfigMap"), kube::Object(map));
    ASSERT_TRUE(created.ok()) << created.error().message;
  }
  // Of the provider that a case is about: what `kubectl describe` shows beside its conditions.
  bool AnEventTells(const Case& c) {
    auto events = cluster_->client().List(cluster_->ctx(), kube::Builtin("Event"), "bad",
                                          {.field_selector = "involvedObject.name=" + c.name});
    if (!events.ok()) return false;
    return std::any_of(events->items.begin(), events->items.end(), [&](const kube::Object& event) {
      return GetString(event.json(), {"type"}) == "Warning" && GetString(event.json(), {"reason"}) == c.reason &&
             GetString(event.json(), {"message"}).find(c.message) != std::string::npos;
    });
  }
  void ExpectNothingApplied() {
    for (const char* kind : {"ConfigMap", "Service", "ServiceAccount"}) {
      auto list = cluster_->client().List(cluster_->ctx(), kube::Builtin(kind), "bad",
                                          {.label_selector = "cluster.x-k8s.io/provider", .metadata_only = true});
      ASSERT_TRUE(list.ok()) << list.error().message;
      for (const auto& object : list->items) ADD_FAILURE() << kind << " " << object.name() << " was applied";
    }
  }
};

// F1: and an event. (`kubectl describe` showed none of a Secret of variables that isn't there, nor of anything else
// that somebody has to make first.)
TEST_F(BadInput, HasItsConditionReasonAndMessage) {
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    StoreCase(c);
    Json spec = {{"version", c.version},
                 {"fetchConfig", {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", c.name}}}}}}}};
    if (c.spec.contains("fetchConfig")) spec.erase("fetchConfig");
    spec.merge_patch(c.spec);
    cluster_->ApplyProvider(ProviderType::kInfrastructure, "bad", c.name, spec);
  }
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    if (!cluster_->AwaitReason(ProviderType::kInfrastructure, "bad", c.name, c.condition, c.reason)) continue;
    Seen seen = cluster_->See(ProviderType::kInfrastructure, "bad", c.name);
    EXPECT_EQ(seen.Status(c.condition), "False");
    EXPECT_EQ(seen.Status("Ready"), "False");
    EXPECT_EQ(seen.Reason("Ready"), c.reason);
    EXPECT_THAT(seen.Message(c.condition), HasSubstr(c.message));
    EXPECT_TRUE(Eventually([&] { return AnEventTells(c); })) << "no event tells: " << c.message;
    EXPECT_EQ(seen.provider.status.observed_generation, seen.provider.generation);
    EXPECT_EQ(seen.Status("Stalled") == "True", seen.Status("Reconciling") != "True") << "kstatus: one of the two";
    EXPECT_TRUE(AwaitPassByEdit({ProviderType::kInfrastructure, "bad", c.name, ""}));
    EXPECT_EQ(cluster_->See(ProviderType::kInfrastructure, "bad", c.name).Reason("Ready"), c.reason);
  }
  EXPECT_FALSE(cluster_->Exists({"", "ConfigMap", "bad", "good"})) << "nothing was applied";
  ExpectNothingApplied();
}

// T2: what has another digest isn't applied, and what has this one is.
TEST_F(BadInput, ComponentsOfAnotherDigestAreRefused) {
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  const Managed sealed{ProviderType::kInfrastructure, "bad", "sealed", ""};
  const std::string digest = "sha256:" + Sha256Hex(kGoodComponents), other = "sha256:" + Sha256Hex("other components");
  StoreCase({.name = sealed.name});
  cluster_->ApplyProvider(
      sealed.type, sealed.ns, sealed.name,
      {{"version", "v1.0.0"},
       {"fetchConfig",
        {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", sealed.name}}}}}, {"digest", other}}}});
  ASSERT_TRUE(AwaitReason(sealed, "ProviderInstalled", "VerificationFailed"));
  EXPECT_THAT(See(sealed).Message("ProviderInstalled"),
              HasSubstr("have digest " + digest + ", spec.fetchConfig.digest asks for " + other));
  ASSERT_TRUE(AwaitPassByEdit(sealed));
  EXPECT_EQ(See(sealed).Reason("Ready"), "VerificationFailed");
  ExpectNothingApplied();

  PatchSpec(sealed, {{"fetchConfig", {{"digest", digest}}}});
  ASSERT_TRUE(AwaitReady(sealed));
  EXPECT_EQ(See(sealed).Status("ProviderInstalled"), "True");
  EXPECT_TRUE(cluster_->Exists({"", "ConfigMap", "bad", "good"}));
}

// I7: an API server's refusal repeats the values that it refuses; nothing that the operator says does.
TEST_F(BadInput, AValueOfASecretIsNotRepeated) {
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  const Managed loud{ProviderType::kInfrastructure, "bad", "loud", ""};
  const std::string pin = "83619274";
  kube::Object wrong(Json{{"apiVersion", "v1"},
                          {"kind", "Secret"},
                          {"metadata", {{"name", "pins"}, {"namespace", "bad"}, {"labels", {{"pin", pin + "-"}}}}}});
  auto applied = cluster_->client().Apply(cluster_->ctx(), kube::Builtin("Secret"), wrong, {.field_manager = "test"});
  ASSERT_FALSE(applied.ok());
  EXPECT_THAT(applied.error().message, HasSubstr(pin)) << "a server that doesn't would need no mask";

  cluster_->StoreSecret("bad", "pins-of-loud", {{"PIN", pin}});
  StoreCase({.name = loud.name,
             .data = With("apiVersion: v1\nkind: Secret\n"
                          "metadata: {name: pins, namespace: x, labels: {pin: \"${PIN}-\"}}\n")});
  cluster_->ApplyProvider(
      loud.type, loud.ns, loud.name,
      {{"version", "v1.0.0"},
       {"fetchConfig", {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", loud.name}}}}}}},
       {"configSecret", {{"name", "pins-of-loud"}}}});
  ASSERT_TRUE(Eventually([&] { return See(loud).Message("Ready").find("metadata.labels") != std::string::npos; }))
      << See(loud).Describe();
  EXPECT_THAT(See(loud).Message("Ready"), HasSubstr("\"***-\""));
  const kube::Resource& events = kube::Builtin("Event");
  std::vector<kube::Object> reported;
  EXPECT_TRUE(Eventually([&] {
    auto list = cluster_->client().List(cluster_->ctx(), events, "bad", {.field_selector = "involvedObject.name=loud"});
    if (list.ok()) reported = list->items;
    return !reported.empty();
  }));
  for (const auto& event : reported) EXPECT_THAT(event.json().dump(), Not(HasSubstr(pin)));
  auto object = cluster_->client().Get(cluster_->ctx(), api::ResourceOf(loud.type), loud.ns, loud.name);
  ASSERT_TRUE(object.ok()) << object.error().message;
  EXPECT_THAT(object->json().dump(), Not(HasSubstr(pin)));
  EXPECT_THAT(operator_->Log(), Not(HasSubstr(pin)));
}

// The key with which the webhook makes records. The operator makes it where it needs one.
std::string InstallationKey(Cluster& cluster) {
  const std::string ns = "default", name = "capi-operator-inventory-key";
  auto secret = cluster.client().Get(cluster.ctx(), kube::Builtin("Secret"), ns, name);
  if (secret.ok()) return Base64Decode(GetString(secret->json(), {"data", "key"})).value();
  const std::string key(32, 'k');
  cluster.StoreSecret(ns, name, {{"key", key}});
  return key;
}

// T1: what is named in another namespace is refused unread, and taken with the record that the webhook writes where the
// operator has one, or where the operator allows all.
TEST_F(BadInput, WhatLiesInAnotherNamespaceIsNotRead) {
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  const Managed curious{ProviderType::kInfrastructure, "bad", "curious", ""};
  const std::string there = "secluded";
  cluster_->CreateNamespace(there);
  cluster_->StoreSecret(there, "variables", {{"VALUE", "a secret of others"}});
  cluster_->StoreConfigMap(
      there, "more", {},
      {{"manifests", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {value: '${VALUE}'}\n"}});
  StoreCase({.name = curious.name});
  cluster_->ApplyProvider(
      curious.type, curious.ns, curious.name,
      {{"version", "v1.0.0"},
       {"fetchConfig", {{"selector", {{"matchLabels", {{"provider.cluster.x-k8s.io/name", curious.name}}}}}}},
       {"configSecret", {{"name", "variables"}, {"namespace", there}}},
       {"additionalManifests", {{"name", "more"}, {"namespace", there}}}});
  ASSERT_TRUE(AwaitReason(curious, "PreflightCheckPassed", "CrossNamespaceReference"));
  EXPECT_EQ(See(curious).Status("Stalled"), "True");
  EXPECT_THAT(See(curious).Message("Ready"), HasSubstr("spec.configSecret.namespace: Forbidden: secluded is another"));
  EXPECT_THAT(See(curious).Message("Ready"), HasSubstr("spec.additionalManifests.namespace: Forbidden"));
  ASSERT_TRUE(AwaitPassByEdit(curious));
  for (const AuditedRequest& request : AuditLog(cluster_->plane())) {
    bool looked = request.user_agent.starts_with("capi-operator/") && request.uri.find(there) != std::string::npos;
    EXPECT_FALSE(looked) << request.ToString();
  }
  ExpectNothingApplied();

  const std::string record =
      api::MakeReferenceRecord(InstallationKey(*cluster_), {curious.type, curious.ns, curious.name},
                               {{"spec.configSecret.namespace", there, "Secret", "variables"},
                                {"spec.additionalManifests.namespace", there, "ConfigMap", "more"}},
                               "alice");
  Annotate(curious, api::kAnnotationAllowedReferences, record);
  ASSERT_TRUE(AwaitPassByEdit(curious));
  EXPECT_EQ(See(curious).Reason("PreflightCheckPassed"), "CrossNamespaceReference") << "it has no webhook: closed";
  ExpectNothingApplied();

  StartOperator({fmt::format("--webhook-port={}", kube::FreePorts(1).front())});
  ASSERT_TRUE(AwaitReady(curious));
  EXPECT_EQ(GetString(cluster_->Get("ConfigMap", "bad", "more").json(), {"data", "value"}), "a secret of others");
  Annotate(curious, api::kAnnotationAllowedReferences, nullptr);
  ASSERT_TRUE(AwaitReason(curious, "PreflightCheckPassed", "CrossNamespaceReference"));

  StartOperator({"--allow-cross-namespace-references"});
  ASSERT_TRUE(AwaitReady(curious));
  EXPECT_EQ(GetString(cluster_->Get("ConfigMap", "bad", "more").json(), {"data", "value"}), "a secret of others");
}

TEST_F(BadInput, AWrongCoreNameAndADuplicate) {
  cluster_->ApplyProvider(ProviderType::kCore, "bad", "my-core", {{"version", "v1.12.0"}});
  ASSERT_TRUE(cluster_->AwaitReason(ProviderType::kCore, "bad", "my-core", "PreflightCheckPassed",
                                    "IncorrectCoreProviderNameReason"));
  cluster_->DeleteProvider(ProviderType::kCore, "bad", "my-core");
  ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "bad", "my-core"));
  ASSERT_TRUE(Install(kCore, "v1.12.0"));
  cluster_->ApplyProvider(ProviderType::kCore, "bad", "cluster-api", {{"version", "v1.12.0"}});
  ASSERT_TRUE(
      cluster_->AwaitReason(ProviderType::kCore, "bad", "cluster-api", "PreflightCheckPassed", "MoreThanOneExists"));
  EXPECT_EQ(See(kCore).Status("Ready"), "True") << "I5: the older one goes on";
  cluster_->DeleteProvider(ProviderType::kCore, "bad", "cluster-api");
  ASSERT_TRUE(cluster_->AwaitGone(ProviderType::kCore, "bad", "cluster-api"));
  EXPECT_TRUE(cluster_->Exists({"apps", "Deployment", "capi-system", "capi-controller-manager"}))
      << "what has the same labels is the older one's";
}

class MissingKinds : public UnmanagedCluster {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.12.0");
    UnmanagedCluster::SetUp();
    if (!cluster_) return;
    const auto& crds = kube::Builtin("CustomResourceDefinition");
    auto all = cluster_->client().List(cluster_->ctx(), crds, "", {.metadata_only = true});
    ASSERT_TRUE(all.ok()) << all.error().message;
    for (const auto& crd : all->items) {
      if (!crd.name().ends_with("cert-manager.io")) continue;
      Json label = {{"metadata", {{"labels", {{"cluster.x-k8s.io/provider", "cert-manager"}}}}}};
      auto marked = cluster_->client().Patch(cluster_->ctx(), crds, "", crd.name(), kube::PatchType::kMerge, label);
      ASSERT_TRUE(marked.ok()) << marked.error().message;
    }
    cluster_->DeleteCrds("cert-manager");
  }
};

// I13: held until cert-manager's kinds come, then on by itself.
TEST_F(MissingKinds, AreWaitedFor) {
  StartOperator();
  Create(kCore, "v1.12.0");
  ASSERT_TRUE(AwaitReason(kCore, "PreflightCheckPassed", "MissingKinds"));
  EXPECT_THAT(See(kCore).Message("Ready"),
              HasSubstr("install cert-manager (https://cert-manager.io/docs/installation)"));
  ASSERT_TRUE(AwaitPassByEdit(kCore));
  EXPECT_EQ(See(kCore).Reason("Ready"), "MissingKinds");
  EXPECT_FALSE(cluster_->Exists({"", "ServiceAccount", kCore.ns, "capi-manager"})) << "nothing is applied by halves";
  Cluster with_cert_manager(cluster_->plane());
  EXPECT_TRUE(AwaitReady(kCore));
}

}  // namespace
}  // namespace capi::e2e
