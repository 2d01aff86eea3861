#include "kube/meta/object.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

TEST(GroupVersion, ParsesAndPrintsBack) {
  struct Case {
    std::string text, group, version;
  };
  const Case cases[] = {
      {"v1", "", "v1"}, {"apps/v1", "apps", "v1"}, {"a.b.io/v1beta1", "a.b.io", "v1beta1"}, {"", "", ""}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    GroupVersion gv = GroupVersion::Parse(c.text);
    EXPECT_EQ(gv.group, c.group);
    EXPECT_EQ(gv.version, c.version);
    EXPECT_EQ(gv.ToString(), c.text);
  }
}

TEST(ObjectId, NamesGroupNamespaceAndName) {
  EXPECT_EQ((ObjectId{"apps", "Deployment", "capi-system", "m"}.ToString()), "Deployment.apps/capi-system/m");
  EXPECT_EQ((ObjectId{"", "Namespace", "", "capi-system"}.ToString()), "Namespace/capi-system");
}

TEST(Object, ReadsItsMetadata) {
  Object o(Json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"m","namespace":"n",
    "generation":3,"uid":"u","resourceVersion":"7","labels":{"a.b/c":"d"},"finalizers":["x","y"],
    "deletionTimestamp":"2026-01-01T00:00:00Z"}})"));
  EXPECT_EQ(o.id(), (ObjectId{"apps", "Deployment", "n", "m"}));
  EXPECT_EQ(o.generation(), 3);
  EXPECT_EQ(o.label("a.b/c"), "d");
  EXPECT_FALSE(o.has_label("a"));
  EXPECT_TRUE(o.has_finalizer("y"));
  EXPECT_FALSE(o.has_finalizer("z"));
  EXPECT_TRUE(o.deleting());
}

TEST(Object, ItsIdentityIsWhatAStoreNeeds) {
  constexpr const char* kIdentity =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"m","namespace":"n","resourceVersion":"7","uid":"u"}})";
  Object whole(*ParseJson(kIdentity));
  whole.set_label("k", "v");
  whole.json()["spec"] = {{"a", 1}};
  EXPECT_EQ(ToJsonText(IdentityOf(whole).json()), kIdentity);
  whole.json()["metadata"].erase("namespace");
  EXPECT_FALSE(IdentityOf(whole).json()["metadata"].contains("namespace")) << "it has none";
}

TEST(Object, WritesLabelsWhereThereWereNone) {
  Object o;
  o.set_label("k", "v");
  o.set_annotation("a", "b");
  EXPECT_EQ(ToJsonText(o.json()), R"({"metadata":{"annotations":{"a":"b"},"labels":{"k":"v"}}})");
  EXPECT_FALSE(o.has_finalizer("x"));
}

}  // namespace
}  // namespace capi::kube
