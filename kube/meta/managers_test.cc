#include "kube/meta/managers.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

Object With(const char* entries) { return Object(Json{{"metadata", {{"managedFields", Json::parse(entries)}}}}); }

TEST(Managers, AreThoseOfManagedFields) {
  const Object two = With(R"([{"manager":"a","operation":"Apply"},{"manager":"b","operation":"Update"}])");
  EXPECT_TRUE(HasManager(two, "a"));
  EXPECT_TRUE(HasManager(two, "b", "Update"));
  EXPECT_FALSE(HasManager(two, "a", "Update"));
  EXPECT_FALSE(HasManager(two, "c"));
  EXPECT_FALSE(HasManagerAlone(two, "a"));
  EXPECT_TRUE(
      HasManagerAlone(With(R"([{"manager":"a","operation":"Apply"},{"manager":"a","operation":"Update"}])"), "a"));
  for (const char* none : {"[]", "null", R"("a")", R"({"x":{"manager":"a"}})", R"([1,"a"])"}) {
    EXPECT_FALSE(HasManager(With(none), "a")) << none;
    EXPECT_FALSE(HasManagerAlone(With(none), "a")) << none;
  }
  EXPECT_FALSE(HasManager(Object(), "a"));
}

}  // namespace
}  // namespace capi::kube
