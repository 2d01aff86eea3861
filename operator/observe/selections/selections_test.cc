#include "operator/observe/selections/selections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

kube::Object Thing(const std::string& ns, const std::string& name, const Json& labels = Json::object()) {
  return kube::Object(Json{{"metadata", {{"namespace", ns}, {"name", name}, {"labels", labels}}}});
}

TEST(Selection, IsOneObjectOrThoseWithLabelsOfANamespace) {
  struct Case {
    std::string ns, labels, fields;
    bool is;
  };
  const Case cases[] = {
      {"n", "", "metadata.name=a", true},  {"n", "a=b", "", true},   {"n", "", "", true},
      {"", "", "metadata.name=a", false},  {"", "a=b", "", false},   {"n", "a=b", "metadata.name=a", false},
      {"n", "", "spec.nodeName=a", false}, {"n", "a==(", "", false}, {"n", "", "metadata.name=", false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(SelectionOf(c.ns, c.labels, c.fields).has_value(), c.is) << c.ns << "|" << c.labels << "|" << c.fields;
  }
}

// F11: an object concerns those who want it, by name and by labels, and nobody else.
TEST(Selections, TellWhoseAnObjectIs) {
  Selections wanted;
  EXPECT_FALSE(wanted.Take(Thing("n", "a")));
  wanted.Add("name", *SelectionOf("n", "", "metadata.name=a"));
  wanted.Add("same", *SelectionOf("n", "", "metadata.name=a"));
  wanted.Add("other", *SelectionOf("m", "", "metadata.name=a"));
  wanted.Add("labels", *SelectionOf("n", "x=y", ""));
  wanted.Add("all", *SelectionOf("o", "", ""));
  struct Case {
    kube::Object object;
    std::vector<std::string> users;
  };
  const Case cases[] = {
      {Thing("n", "a"), {"name", "same"}},
      {Thing("n", "a", {{"x", "y"}}), {"labels", "name", "same"}},
      {Thing("n", "b", {{"x", "y"}}), {"labels"}},
      {Thing("n", "b", {{"x", "z"}}), {}},
      {Thing("m", "a", {{"x", "y"}}), {"other"}},
      {Thing("m", "b"), {}},
      {Thing("o", "b"), {"all"}},
      {Thing("p", "a"), {}},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(wanted.UsersOf(c.object), ::testing::ElementsAreArray(c.users)) << c.object.name();
    EXPECT_EQ(wanted.Take(c.object), !c.users.empty()) << c.object.name();
  }
  wanted.Remove("name");
  wanted.Remove("labels");
  wanted.Remove("unknown");
  EXPECT_THAT(wanted.UsersOf(Thing("n", "a", {{"x", "y"}})), ElementsAre("same"));
  wanted.Add("same", *SelectionOf("n", "", "metadata.name=b"));
  EXPECT_THAT(wanted.UsersOf(Thing("n", "a")), IsEmpty()) << "it wants another one now";
  EXPECT_FALSE(wanted.Take(Thing("n", "a")));
}

}  // namespace
}  // namespace capi::ops
