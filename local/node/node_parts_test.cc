#include "local/node/node_parts.h"

#include <gtest/gtest.h>

namespace capi::local {
namespace {

// G5: one manager of a Deployment runs at a time, whatever runs beside each.
TEST(Runners, OneAloneAmongPods_G5) {
  struct Step {
    const char *pod, *container;
    bool alone, begins;
  };
  struct Case {
    const char* what;
    std::vector<Step> steps;
  };
  for (const Case& c : {
           Case{"without an election all run", {{"a", "m", false, true}, {"b", "m", false, true}}},
           {"the second one waits", {{"a", "m", true, true}, {"b", "m", true, false}}},
           {"its proxy counts for nothing",
            {{"a", "p", false, true}, {"b", "p", false, true}, {"a", "m", true, true}, {"b", "m", true, false}}},
           {"a former one of the same container", {{"a", "m", false, true}, {"b", "m", true, false}}},
           {"one that was planned before its help was had", {{"a", "m", true, true}, {"b", "m", false, false}}},
           {"one of another name that is alone", {{"a", "m", true, true}, {"b", "n", true, false}}},
           {"two of a Pod", {{"a", "m", true, true}, {"a", "n", true, true}}},
       }) {
    Runners runners;
    for (const Step& step : c.steps)
      EXPECT_EQ(runners.Begin("owner", step.pod, step.container, step.alone), step.begins) << c.what;
    EXPECT_TRUE(runners.Begin("another", "z", "m", true)) << c.what;
  }
  EXPECT_TRUE(Runners().Begin("", "a", "m", true)) << "nobody's";
}

TEST(Runners, WhoEndsLetsTheNextOneBegin_G5) {
  Runners runners;
  EXPECT_TRUE(runners.Begin("owner", "a", "m", true));
  EXPECT_FALSE(runners.Begin("owner", "b", "m", true));
  runners.End("owner", "a", "m");
  EXPECT_TRUE(runners.Begin("owner", "b", "m", true));
  EXPECT_FALSE(runners.Begin("owner", "a", "m", true));
}

// G4: updates go as with Recreate for as long as there is such a Pod.
TEST(Runners, ADeploymentIsAloneAsLongAsItsPodsAre_G4) {
  Runners runners;
  EXPECT_FALSE(runners.IsAlone("owner"));
  EXPECT_TRUE(runners.Begin("owner", "a", "m", true));
  runners.End("owner", "a", "m");
  EXPECT_TRUE(runners.IsAlone("owner")) << "it is started again";
  EXPECT_TRUE(runners.Begin("owner", "b", "m", false));
  runners.Forget("owner", "a");
  EXPECT_FALSE(runners.IsAlone("owner"));
}

}  // namespace
}  // namespace capi::local
