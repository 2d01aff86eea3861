#include "operator/decide/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// An object with entries in managedFields: manager, operation, subresource, time, fieldsV1.
struct Entry {
  std::string manager, operation, subresource, time, fields;
};
kube::Object With(const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& e : entries) {
    Json entry = {
        {"manager", e.manager}, {"operation", e.operation}, {"time", e.time}, {"fieldsV1", *ParseJson(e.fields)}};
    if (!e.subresource.empty()) entry["subresource"] = e.subresource;
    list.push_back(entry);
  }
  return kube::Object(Json{{"apiVersion", "apps/v1"},
                           {"kind", "Deployment"},
                           {"metadata",
                            {{"name", "d"},
                             {"namespace", "n"},
                             {"uid", "u"},
                             {"resourceVersion", "7"},
                             {"annotations", {{"a", "b"}}},
                             {"labels", {{"cluster.x-k8s.io/provider", "p"}, {"other", "x"}}},
                             {"managedFields", list}}},
                           {"spec", {{"replicas", 1}}}});
}

const Entry kOurs = {"capi-operator", "Apply", "", "2026-01-01T00:00:05Z", R"({"f:spec":{"f:replicas":{}}})"};

TEST(Drift, TraceTellsWhoWroteLast) {
  struct Case {
    std::string name;
    std::vector<Entry> others;
    std::string by, changed, scaled_by;
  };
  const std::string replicas = R"({"f:spec":{"f:replicas":{}}})";
  const Case cases[] = {
      {"nobody", {}, "", "", ""},
      {"an edit",
       {{"kubectl-edit", "Update", "", "2026-01-01T00:00:06Z", replicas}},
       "kubectl-edit (Update)",
       replicas,
       ""},
      {"in the same second", {{"x", "Update", "", "2026-01-01T00:00:05Z", replicas}}, "x (Update)", replicas, ""},
      {"before us", {{"x", "Update", "", "2026-01-01T00:00:04Z", replicas}}, "", "", ""},
      {"the last of two",
       {{"x", "Update", "", "2026-01-01T00:00:09Z", "{}"}, {"y", "Apply", "", "2026-01-01T00:00:08Z", "{}"}},
       "x (Update)",
       "{}",
       ""},
      {"status is nobody's concern", {{"kubelet", "Update", "status", "2026-01-01T00:00:09Z", "{}"}}, "", "", ""},
      {"an autoscaler",
       {{"kube-controller-manager", "Update", "scale", "2026-01-01T00:00:09Z", replicas}},
       "kube-controller-manager (Update)",
       replicas,
       "kube-controller-manager"},
      {"our own scaling is none", {{"capi-operator", "Update", "scale", "2026-01-01T00:00:09Z", replicas}}, "", "", ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Entry> entries = {kOurs};
    entries.insert(entries.end(), c.others.begin(), c.others.end());
    kube::Object object = With(entries);
    SlimToTrace(object);
    Trace trace = TraceOf(object);
    EXPECT_EQ(trace.fields.size(), 16u);
    EXPECT_EQ(trace.by, c.by);
    EXPECT_EQ(trace.changed.is_null() ? "" : ToJsonText(trace.changed), c.changed);
    EXPECT_EQ(trace.scaled_by, c.scaled_by);
  }
}

TEST(Drift, ObjectsWithoutManagedFieldsTellNothing) {
  for (const char* metadata : {R"({"name":"d"})", R"({"name":"d","managedFields":{}})"}) {
    kube::Object object(Json{{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", *ParseJson(metadata)}});
    SlimToTrace(object);
    EXPECT_EQ(TraceOf(object).by, "");
    EXPECT_TRUE(TraceOf(object).changed.is_null());
  }
}

TEST(Drift, SlimObjectsKeepLittle) {
  kube::Object object = With({kOurs, {"x", "Update", "", "2026-01-01T00:00:09Z", R"({"f:spec":{}})"}});
  SlimToTrace(object);
  EXPECT_EQ(object.id().ToString(), "Deployment.apps/n/d");
  EXPECT_EQ(object.uid(), "u");
  EXPECT_EQ(object.resource_version(), "7");
  EXPECT_EQ(object.label("cluster.x-k8s.io/provider"), "p");
  EXPECT_EQ(Find(object.json(), {"spec"}), nullptr);
  EXPECT_LT(ToJsonText(object.json()).size(), 320u);
  // A large foreign entry isn't kept: who it was still is.
  std::string large = R"({"f:a)" + std::string(3000, 'a') + R"(":{}})";
  object = With({kOurs, {"x", "Update", "", "2026-01-01T00:00:09Z", large}});
  SlimToTrace(object);
  EXPECT_TRUE(TraceOf(object).changed.is_null());
  EXPECT_EQ(TraceOf(object).by, "x (Update)");
}

TEST(Drift, NamesTheFieldsThatTheManifestHas) {
  Json manifest = *ParseJson(R"({"metadata":{"labels":{"a.b/c":"1"}},"data":{"k":"v"},
    "webhooks":[{"name":"one","failurePolicy":"Fail"}],"rules":[1],"map":{"a":{"name":"one"}}})");
  struct Case {
    std::string fields;
    std::vector<std::string> paths;
  };
  const Case cases[] = {
      {R"({"f:data":{"f:k":{},"f:other":{}}})", {".data.k"}},
      {R"({"f:metadata":{"f:labels":{"f:a.b/c":{}},"f:annotations":{"f:x":{}}}})", {".metadata.labels.a.b/c"}},
      {R"({"f:webhooks":{"k:{\"name\":\"one\"}":{".":{},"f:failurePolicy":{}},"k:{\"name\":\"two\"}":{"f:x":{}}}})",
       {".webhooks[name=one].failurePolicy"}},
      {R"({"f:rules":{}})", {".rules"}},
      // What leads nowhere: no step of a field or an item, or one that can't be read.
      {R"({"f:data":{"v:k":{}}})", {}},
      {R"({"f:map":{"k:{\"name\":\"one\"}":{}}})", {}},
      {R"({"f:webhooks":{"k:one":{},"k:[]":{},"k:{\"name\":\"one\",\"other\":1}":{}}})", {}},
      {R"({"f:rules":{"k:{}":{}}})", {}},
      {R"({"f:status":{"f:x":{}}})", {}},
      {"[]", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(PathsIn(*ParseJson(c.fields), manifest), c.paths) << c.fields;
}

TEST(Drift, IsToldInWords) {
  Drift drift{testing::DeploymentId(), false, {"f", "kubectl-edit (Update)", Json(), ""}, {}};
  EXPECT_EQ(
      Describe(drift, {".spec.replicas"}),
      ".spec.replicas of Deployment.apps/aws-system/capa-controller-manager was changed by kubectl-edit (Update)");
  drift.trace.by.clear();
  EXPECT_THAT(Describe(drift, {}), HasSubstr("changed or removed by somebody"));
  drift.missing = true;
  EXPECT_THAT(Describe(drift, {}), HasSubstr("was deleted"));
  EXPECT_EQ(drift.Signature(), "deleted");
}

// D2 is about the same field. Who removes one leaves no entry behind; what is left of ours tells which it was.
TEST(Drift, SignatureTellsOneChangeFromAnother) {
  auto removed = [](const char* left) { return Drift{testing::DeploymentId(), false, {left, "", Json(), ""}, {}}; };
  EXPECT_EQ(removed("a").Signature(), removed("a").Signature());
  EXPECT_NE(removed("a").Signature(), removed("b").Signature());
  auto set = [](const char* left, Json fields) {
    return Drift{testing::DeploymentId(), false, {left, "kubectl-edit (Update)", std::move(fields), ""}, {}};
  };
  EXPECT_EQ(set("a", {{"f:data", 1}}).Signature(), set("b", {{"f:data", 1}}).Signature());
  EXPECT_NE(set("a", {{"f:data", 1}}).Signature(), set("a", {{"f:data", 2}}).Signature());
}

TEST(Drift, ReplicasAreLeftToWhoScales) {
  kube::Manifest manifest = kube::ToManifest(With({}));
  kube::Manifest without = WithoutReplicas(manifest);
  EXPECT_EQ(without.id, manifest.id);
  EXPECT_NE(without.hash, manifest.hash);
  EXPECT_EQ(Find(*ParseJson(without.text), {"spec", "replicas"}), nullptr);
  EXPECT_EQ(WithoutReplicas(without).hash, without.hash);
  kube::Manifest keyed = manifest;
  keyed.hash = "0123456789abcdef";
  EXPECT_NE(WithoutReplicas(keyed).hash, without.hash) << "I7: it would tell what a key keeps";
  EXPECT_NE(WithoutReplicas(keyed).hash, keyed.hash);
  kube::Manifest account = kube::ToManifest(
      kube::Object(Json{{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "a"}}}}));
  EXPECT_EQ(WithoutReplicas(account).hash, account.hash);
}

}  // namespace
}  // namespace capi::ops
