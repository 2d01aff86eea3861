#include "local/node/command/expand.h"

#include <gtest/gtest.h>

namespace capi::local {
namespace {

// G5: the rules of Kubernetes for $(NAME).
TEST(Expand, ReplacesAsKubernetesDoes) {
  const Variables variables = {{"A", "1"}, {"B", "$(A)"}, {"EMPTY", ""}};
  struct Case {
    const char *text, *expected;
  };
  for (const Case& c : {Case{"", ""},
                        {"$(A)", "1"},
                        {"x-$(A)-y$(A)", "x-1-y1"},
                        {"$(EMPTY)", ""},
                        {"$(B)", "$(A)"},  // a value isn't looked at again
                        {"$(MISSING)", "$(MISSING)"},
                        {"$$(A)", "$(A)"},
                        {"$$$(A)", "$1"},
                        {"$$$$(A)", "$$(A)"},
                        {"$A ${A}", "$A ${A}"},
                        {"$(A", "$(A"},
                        {"$", "$"},
                        {"$()", "$()"},
                        {"a$", "a$"}}) {
    EXPECT_EQ(Expand(c.text, variables), c.expected) << c.text;
  }
}

}  // namespace
}  // namespace capi::local
