// Runs the fuzz targets of a test program on their seeds and on the inputs that once broke them.
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/fuzz.h"

namespace capi {
namespace {

TEST(Fuzz, TargetsHoldForTheirSeedsAndForWhatOnceBrokeThem) {
  ASSERT_FALSE(FuzzTargets().empty());
  for (const FuzzTarget& target : FuzzTargets()) {
    SCOPED_TRACE(target.name);
    ASSERT_TRUE(ReadFile(target.folder + "/README.md").ok()) << "run this in the top folder of the tree";
    target.run("");
    for (const std::string& seed : target.seeds) target.run(seed);
    std::string folder = target.folder + "/fuzz/" + target.name;
    auto names = ListDir(folder);
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      auto input = ReadFile(folder + "/" + name);
      ASSERT_TRUE(input.ok()) << input.error().message;
      target.run(*input);
    }
  }
}

}  // namespace
}  // namespace capi
