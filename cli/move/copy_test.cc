#include "cli/move/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/move/move_testing.h"

namespace capi::cli::move {
namespace {

kube::Object Read(const char* text) { return kube::Object(ParseJson(text).value()); }

// L17.
TEST(CopyOf, HasNothingThatOnlyHoldsInTheSource) {
  kube::Object source = Read(R"({"apiVersion":"g/v1","kind":"A","metadata":{"name":"a","namespace":"n","uid":"1",
      "resourceVersion":"7","generation":3,"creationTimestamp":"t","deletionTimestamp":"t","deletionGracePeriodSeconds":0,
      "selfLink":"x","generateName":"a-","labels":{"l":"1"},"finalizers":["f"],
      "annotations":{"clusterctl.cluster.x-k8s.io/delete-for-move":"","mine":"x",
        "operator.cluster.x-k8s.io/move":"{}","operator.cluster.x-k8s.io/move-run":"r"},
      "ownerReferences":[
        {"apiVersion":"g/v1","kind":"O","name":"o","uid":"2","controller":true,"blockOwnerDeletion":false},
        {"apiVersion":"g/v1","kind":"Stranger","name":"s","uid":"3"}]},
      "spec":{"a":1},"status":{"b":2}})");
  kube::Object copy = CopyOf(source, [](const std::string& uid) { return uid == "2" ? "20" : ""; });
  EXPECT_EQ(copy.json(), Read(R"({"apiVersion":"g/v1","kind":"A","metadata":{"name":"a","namespace":"n",
      "labels":{"l":"1"},"finalizers":["f"],"annotations":{"mine":"x"},
      "ownerReferences":[
        {"apiVersion":"g/v1","kind":"O","name":"o","uid":"20","controller":true,"blockOwnerDeletion":false}]},
      "spec":{"a":1},"status":{"b":2}})")
                             .json());
  EXPECT_EQ(CopyOf(Read(R"({"metadata":{"ownerReferences":[{"uid":"3"}]}})"), [](auto) { return ""; }).json(),
            Read(R"({"metadata":{}})").json());
}

// L17, I14: of a release in several parts the selector finds the first alone. L21: none of them is clusterctl's own.
TEST_F(Moves, IncludeReleasesWithAllTheirParts) {
  fleet_.Add("InfrastructureProvider", "aws", "",
             "provider")["spec"]["fetchConfig"]["selector"]["matchLabels"] = {{"mine", "yes"}};
  fleet_.Made();
  const Json parts = {{"operator.cluster.x-k8s.io/parts", "2"},
                      {"operator.cluster.x-k8s.io/parts-digest", "0123456789ab"},
                      {"provider.cluster.x-k8s.io/compressed", "true"}};
  fleet_.Add("ConfigMap", "release", "", "provider")["metadata"]["annotations"] = parts;
  fleet_.Made();
  for (const std::string of : {"release", "another"}) {
    Json& part = fleet_.Add("ConfigMap", of + "-0123456789ab-part-2", "", "provider");
    part["metadata"]["labels"] = {{"operator.cluster.x-k8s.io/part-of", of}};
    fleet_.Made();
  }
  std::vector<std::string> writes;
  b_.OnWrite([&](const std::string&, const std::string& target) {
    if (target.find("/namespaces/provider/configmaps") == target.npos) return;
    writes.push_back(target);
    EXPECT_FALSE(b_.Find("ConfigMap", "provider", "release")) << "it comes last: then the others are there";
  });
  Outcome got = There({"--include-providers"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(writes, testing::SizeIs(2));
  EXPECT_THAT(writes, testing::Each(testing::HasSubstr("fieldManager=clusterctl-move")));
  EXPECT_EQ(b_.Find("ConfigMap", "provider", "release").value_or(Json())["metadata"]["annotations"], parts);
  EXPECT_TRUE(b_.Find("ConfigMap", "provider", "release-0123456789ab-part-2"));
}

// L17.
TEST(Digest, IsOfWhatIsCopied) {
  const char* object = R"({"kind":"A","metadata":{"name":"a","ownerReferences":[{"uid":"2"}]},"spec":{"a":1}})";
  const std::string digest = Digest(Read(object));
  struct Case {
    const char* patch;
    bool same;
  };
  const Case cases[] = {
      {R"({"status":{"a":1}})", true},
      {R"({"metadata":{"resourceVersion":"7","generation":2,"managedFields":[{"manager":"x"}]}})", true},
      {R"({"metadata":{"annotations":{"clusterctl.cluster.x-k8s.io/delete-for-move":""}}})", true},
      {R"({"metadata":{"annotations":{"mine":""}}})", false},
      {R"({"metadata":{"finalizers":["f"]}})", false},
      {R"({"metadata":{"ownerReferences":[{"uid":"3"}]}})", false},
      {R"({"spec":{"a":2}})", false},
      {R"({"data":{"a":"b"}})", false},
  };
  for (const Case& c : cases) {
    kube::Object changed = Read(object);
    changed.json().merge_patch(ParseJson(c.patch).value());
    EXPECT_EQ(Digest(changed) == digest, c.same) << c.patch;
  }
}

// L17.
TEST(FirstDifference, IsWhatTheTargetLacks) {
  struct Case {
    const char *source, *target, *want;
  };
  const Case cases[] = {
      {R"({"spec":{"a":1}})", R"({"spec":{"a":1,"defaulted":2},"status":{"x":1}})", ""},
      {R"({"spec":{"a":1},"status":{"x":1}})", R"({"spec":{"a":1}})", ""},
      {R"({"spec":{"a":{"b":1}}})", R"({"spec":{"a":{"b":2}}})", "spec.a.b"},
      {R"({"spec":{"a":{"b":1}}})", R"({"spec":{}})", "spec.a"},
      {R"({"spec":{"a":null}})", R"({"spec":{}})", ""},
      {R"({"spec":{"a":[1,{"b":2}]}})", R"({"spec":{"a":[1,{"b":2,"c":3}]}})", ""},
      {R"({"spec":{"a":[1,{"b":2}]}})", R"({"spec":{"a":[1,{"b":3}]}})", "spec.a[1].b"},
      {R"({"spec":{"a":[1]}})", R"({"spec":{"a":[1,2]}})", "spec.a"},
      {R"({"data":{"password":"x"}})", R"({"data":{"password":"y"}})", "data"},
      {R"({"binaryData":{"password":"x"}})", R"({"binaryData":{}})", "binaryData"},
      {R"({"type":"Opaque"})", R"({"type":"other"})", "type"},
      {R"({"metadata":{"labels":{"a":"1"}}})", R"({"metadata":{"labels":{"a":"2"}}})", "metadata.labels.a"},
      {R"({"metadata":{"annotations":{"a":"1"}}})", R"({"metadata":{"annotations":{}}})", "metadata.annotations.a"},
      {R"({"metadata":{"uid":"1","ownerReferences":[{"uid":"1"}],"finalizers":["f"]}})", R"({"metadata":{"uid":"2"}})",
       ""},
      {R"({"metadata":{"annotations":{"operator.cluster.x-k8s.io/move":"1","cluster.x-k8s.io/paused":"",
           "clusterctl.cluster.x-k8s.io/delete-for-move":"","clusterctl.cluster.x-k8s.io/block-move":""}}})",
       R"({"metadata":{"annotations":{}}})", ""},
      {R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","spec":{"paused":true}})",
       R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster","spec":{}})", ""},
      {R"({"apiVersion":"example.com/v1","kind":"Cluster","spec":{"paused":true}})",
       R"({"apiVersion":"example.com/v1","kind":"Cluster","spec":{}})", "spec.paused"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(FirstDifference(Read(c.source), Read(c.target)), c.want) << c.source << c.target;
}

}  // namespace
}  // namespace capi::cli::move
