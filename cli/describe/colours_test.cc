#include <gtest/gtest.h>

#include <sstream>

#include "cli/describe/describe_cluster.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

// L15: only on a terminal, unless a flag says otherwise; NO_COLOR says it for all.
TEST(WantsColours, OnATerminalOrByTheFlag) {
  struct Case {
    bool terminal;
    std::optional<bool> flag;
    Variables environment;
    bool want;
  };
  const Case cases[] = {
      {false, {}, {}, false},
      {true, {}, {}, true},
      {true, {}, {{"TERM", "dumb"}}, false},
      {true, {}, {{"TERM", "xterm"}, {"NO_COLOR", ""}}, true},
      {true, {}, {{"NO_COLOR", "1"}}, false},
      {true, false, {}, false},
      {false, true, {}, true},
      {false, true, {{"TERM", "dumb"}}, true},
      {false, true, {{"NO_COLOR", "0"}}, false},
  };
  for (const Case& c : cases) {
    std::istringstream in;
    std::ostringstream out, err;
    World world{From(c.environment), in, out, err, c.terminal};
    EXPECT_EQ(WantsColours(c.flag, world), c.want);
  }
}

}  // namespace
}  // namespace capi::cli
