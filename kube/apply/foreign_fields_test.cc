#include "kube/apply/foreign_fields.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

struct Case {
  std::string_view name;
  std::string_view fields;    // of manager "them" in the live object
  std::string_view live;      // members beside metadata
  std::string_view desired;   // the same
  std::string_view all;       // desired after kAll
  std::string_view metadata;  // and after kMetadata
};

const Case kCases[] = {
    {"a field that we lack is kept", R"({"f:spec":{"f:replicas":{}}})", R"("spec":{"replicas":3,"x":1})",
     R"("spec":{"y":1})", R"("spec":{"replicas":3,"y":1})", R"("spec":{"y":1})"},
    {"ours wins", R"({"f:spec":{"f:replicas":{}}})", R"("spec":{"replicas":3})", R"("spec":{"replicas":1})",
     R"("spec":{"replicas":1})", R"("spec":{"replicas":1})"},
    {"what nobody else owns goes", R"({})", R"("spec":{"replicas":3})", R"("spec":{})", R"("spec":{})", R"("spec":{})"},
    {"objects on the way are made", R"({"f:data":{".":{},"f:k":{}}})", R"("data":{"k":"v"})", R"("kind":"ConfigMap")",
     R"("kind":"ConfigMap","data":{"k":"v"})", R"("kind":"ConfigMap")"},
    {"but not empty ones", R"({"f:data":{"f:gone":{}}})", R"("data":{"k":"v"})", R"("kind":"ConfigMap")",
     R"("kind":"ConfigMap")", R"("kind":"ConfigMap")"},
    {"a field of an item that both have", R"({"f:ports":{"k:{\"port\":80}":{"f:nodePort":{}}}})",
     R"("ports":[{"port":80,"nodePort":30000}])", R"("ports":[{"port":80}])",
     R"("ports":[{"port":80,"nodePort":30000}])", R"("ports":[{"port":80}])"},
    {"an item of theirs", R"({"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{},"f:name":{}}}})",
     R"("ports":[{"port":80,"name":"a","x":1}])", R"("ports":[{"port":81}])",
     R"("ports":[{"port":81},{"port":80,"name":"a"}])", R"("ports":[{"port":81}])"},
    {"a field of an item that we drop", R"({"f:ports":{"k:{\"port\":80}":{"f:name":{}}}})",
     R"("ports":[{"port":80,"name":"a"}])", R"("ports":[])", R"("ports":[])", R"("ports":[])"},
    {"a value of a set", R"({"f:set":{"v:\"b\"":{},"v:\"a\"":{}}})", R"("set":["a","b"])", R"("set":["a"])",
     R"("set":["a","b"])", R"("set":["a"])"},
    {"shapes that don't fit are left alone", R"({"f:spec":{"f:x":{"f:y":{}}}})", R"("spec":{"x":{"y":1}})",
     R"("spec":"text")", R"("spec":"text")", R"("spec":"text")"},
    {"an injector's bundle", R"({"f:webhooks":{"k:{\"name\":\"a\"}":{"f:clientConfig":{"f:caBundle":{}}}}})",
     R"("webhooks":[{"name":"a","clientConfig":{"caBundle":"Q0E="}}])",
     R"("webhooks":[{"name":"a","clientConfig":{}}])",
     R"("webhooks":[{"name":"a","clientConfig":{"caBundle":"Q0E="}}])",
     R"("webhooks":[{"name":"a","clientConfig":{"caBundle":"Q0E="}}])"},
};

Object Live(const Case& c, std::string_view manager, std::string_view subresource) {
  return Object(*ParseJson(std::string(R"({"metadata":{"managedFields":[{"manager":")") + std::string(manager) +
                           R"(","operation":"Update","subresource":")" + std::string(subresource) + R"(","fieldsV1":)" +
                           std::string(c.fields) + "}]}," + std::string(c.live) + "}"));
}

std::string Kept(const Case& c, const Object& live, ForeignFields which) {
  Object desired(*ParseJson("{" + std::string(c.desired) + "}"));
  KeepForeignFields(live, "us", which, desired);
  return ToJsonText(desired.json());
}

std::string Normal(std::string_view members) { return ToJsonText(*ParseJson("{" + std::string(members) + "}")); }

// U9: foreign fields are kept.
TEST(KeepForeignFields, CopiesWhatOthersOwnAndWeLack) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Kept(c, Live(c, "them", ""), ForeignFields::kAll), Normal(c.all));
    EXPECT_EQ(Kept(c, Live(c, "them", ""), ForeignFields::kMetadata), Normal(c.metadata));
    EXPECT_EQ(Kept(c, Live(c, "us", ""), ForeignFields::kAll), Normal(c.desired));
    EXPECT_EQ(Kept(c, Live(c, "them", "status"), ForeignFields::kAll), Normal(c.desired));
  }
}

TEST(KeepForeignFields, MetadataOfOthersIsKeptInEitherWay) {
  Object live(
      *ParseJson(R"({"metadata":{"labels":{"a":"1","b":"2"},"finalizers":["x/y"],"managedFields":[{"manager":"them",
    "fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}},"f:finalizers":{".":{},"v:\"x/y\"":{}}}}}]}})"));
  for (ForeignFields which : {ForeignFields::kAll, ForeignFields::kMetadata}) {
    Object desired(*ParseJson(R"({"metadata":{"labels":{"c":"3"}}})"));
    KeepForeignFields(live, "us", which, desired);
    EXPECT_EQ(ToJsonText(desired.json()), R"({"metadata":{"finalizers":["x/y"],"labels":{"a":"1","c":"3"}}})");
  }
}

}  // namespace
}  // namespace capi::kube
