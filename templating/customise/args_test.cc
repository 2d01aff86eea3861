#include "templating/customise/args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace capi::templating {
namespace {

Json ContainerWith(std::string_view args) {
  Json container = Json::object();
  if (!args.empty()) container["args"] = Split(args, ' ');
  return container;
}

std::string Stored(const Args& args, Json container = Json::object()) {
  args.Store(container);
  return container.contains("args") ? Join(container["args"].get<std::vector<std::string>>(), " ") : "";
}

// I9: every way to write a flag is understood, and the order stays.
TEST(Args, SetReplacesInPlaceWhateverTheForm) {
  struct Case {
    std::string_view before, flag, value, after;
  };
  const Case cases[] = {
      {"", "--v", "5", "--v=5"},
      {"--a=1 --v=2 --b=3", "--v", "5", "--a=1 --v=5 --b=3"},
      {"--a=1 --v 2 --b=3", "--v", "5", "--a=1 --v=5 --b=3"},
      {"--leader-elect --b=3", "--leader-elect", "false", "--leader-elect=false --b=3"},
      {"--leader-elect serve", "--leader-elect", "true", "--leader-elect=true serve"},
      {"--namespace ns", "--namespace", "x", "--namespace=x"},
      {"--v=1 serve", "--v", "5", "--v=5 serve"},
      {"--v --a", "--v", "5", "--v=5 --a"},
      {"-v=2", "--v", "5", "--v=5"},
      {"--v=1 --a --v 2 --v=3", "--v", "5", "--v=5 --a"},
      {"--verbose=1", "--v", "5", "--verbose=1 --v=5"},
      {"--v=1", "v", "5", "--v=1 v=5"},
      {"v=1", "v", "5", "v=5"},
      {"--x=", "--x", "", "--x="},
  };
  for (const auto& c : cases) {
    Args args(ContainerWith(c.before));
    args.Set(c.flag, c.value);
    EXPECT_EQ(Stored(args), c.after) << c.before;
  }
}

TEST(Args, GetReadsEveryForm) {
  Args args(ContainerWith("--a=1 --b 2 --c --d="));
  EXPECT_EQ(args.Get("--a"), "1");
  EXPECT_EQ(args.Get("--b"), "2");
  EXPECT_EQ(args.Get("--c"), "");
  EXPECT_EQ(args.Get("--d"), "");
  EXPECT_FALSE(args.Has("--e"));
  EXPECT_THAT(args.Flags(), testing::ElementsAre("--a", "--b", "--c", "--d"));
}

TEST(Args, AContainerWithoutArgsKeepsNone) {
  EXPECT_EQ(Json::object(), [] {
    Json container = Json::object();
    Args(container).Store(container);
    return container;
  }());
}

}  // namespace
}  // namespace capi::templating
