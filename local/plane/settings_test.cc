#include "local/plane/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing/temp_folder.h"

namespace capi::local {
namespace {

using ::testing::ElementsAre;

TEST(Settings, AreReadAsTheyWereWritten) {
  TempFolder temp;
  EXPECT_EQ(*ReadSettings(temp / "none"), Settings());
  const Settings settings{"/programs", {"a=/b"}, {"c=example.com/d@v1"}, {"TOKEN"}};
  ASSERT_TRUE(WriteSettings(temp / "settings", settings).ok());
  EXPECT_EQ(*ReadSettings(temp / "settings"), settings);
  for (const char* bad : {"no json", "{}", R"({"programs":"","binaries":[1],"builds":[],"environment":[]})"}) {
    ASSERT_TRUE(WriteFile(temp / "settings", bad).ok());
    EXPECT_EQ(ReadSettings(temp / "settings").code(), Code::kInvalidArgument) << bad;
  }
}

// Rule G2: a further `up` adds, and changes what it names.
TEST(Settings, AddUp) {
  const Settings there{"/programs", {"a:v1=/old", "b=/b"}, {}, {"TOKEN"}};
  EXPECT_EQ(Merged(there, {}), there);
  const Settings merged = Merged(there, {"/others", {"a:v1=/new"}, {"c=d@v1"}, {"KEY", "TOKEN"}});
  EXPECT_EQ(merged.programs, "/others");
  EXPECT_THAT(merged.binaries, ElementsAre("a:v1=/new", "b=/b"));
  EXPECT_THAT(merged.builds, ElementsAre("c=d@v1"));
  EXPECT_THAT(merged.environment, ElementsAre("KEY", "TOKEN"));
}

// Rule G2: what an earlier run has named can be taken back, however its image was spelled there.
TEST(Settings, AreTakenBack) {
  const Settings there{"/programs", {"docker.io/library/x:v1=/gone", "y=/y"}, {"z=d@v1"}, {}};
  EXPECT_THAT(Merged(there, {"", {"x:v1=/new"}, {}, {}}).binaries, ElementsAre("x:v1=/new", "y=/y"));
  const Settings merged = Merged(there, {"-", {"x:v1="}, {"z="}, {}});
  EXPECT_EQ(merged.programs, "");
  EXPECT_THAT(merged.binaries, ElementsAre("y=/y"));
  EXPECT_THAT(merged.builds, ElementsAre());
  EXPECT_EQ(Merged({}, {"-", {"x="}, {}, {}}), Settings());
  EXPECT_THAT(TakenBackInVain(there, {"-", {"x:v1=", "x:v2=", "x=", "y=/z", "z="}, {"z=", "y="}, {}}),
              ElementsAre("--binary x:v2=", "--binary x=", "--binary z=", "--build y="));
  EXPECT_TRUE(IsTakenBack("x="));
  for (const char* entry : {"x", "x=y", "x=y=", "TOKEN"}) EXPECT_FALSE(IsTakenBack(entry)) << entry;
}

}  // namespace
}  // namespace capi::local
