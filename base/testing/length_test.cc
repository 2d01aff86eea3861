#include "base/testing/length.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace capi {
namespace {

// The variables of this run come back at the end: other tests of this program ask for them too.
class TestLengthTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) before_[name] = EnvironmentVariable(name);
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  static constexpr const char* kVariables[] = {"CAPI_TEST_FULL", "CAPI_TEST_LONG", "CAPI_TEST_PART"};

 private:
  std::map<std::string, std::string> before_;
};

// An empty variable is as one that isn't set, by all that reads them: a ctest takes a length back in that way.
TEST_F(TestLengthTest, IsWhatTheVariablesSay) {
  struct Row {
    const char *full, *long_;  // null: not set
    Length length;
  };
  const Row rows[] = {
      {nullptr, nullptr, Length::kNormal}, {"", "", Length::kNormal},
      {"1", nullptr, Length::kFull},       {"1", "", Length::kFull},
      {nullptr, "1", Length::kLong},       {"1", "1", Length::kLong},
  };
  for (const Row& row : rows) {
    const char* values[] = {row.full, row.long_, nullptr};
    for (size_t i = 0; i < std::size(kVariables); ++i) {
      unsetenv(kVariables[i]);
      if (values[i] != nullptr) setenv(kVariables[i], values[i], 1);
      EXPECT_EQ(IsSet(kVariables[i]), values[i] != nullptr && *values[i] != '\0');
    }
    EXPECT_TRUE(TestLength() == row.length)
        << EnvironmentVariable("CAPI_TEST_FULL") << ", " << EnvironmentVariable("CAPI_TEST_LONG");
    EXPECT_EQ(ByLength(1, 2, 3), 1 + static_cast<int>(row.length));
  }
}

// A part is of the full length alone.
TEST_F(TestLengthTest, HasPartsOfTheFullLength) {
  setenv("CAPI_TEST_FULL", "1", 1);
  setenv("CAPI_TEST_LONG", "", 1);
  setenv("CAPI_TEST_PART", "", 1);
  EXPECT_EQ(TestPart().which, 0);
  EXPECT_EQ(TestPart().of, 1);
  setenv("CAPI_TEST_PART", "3", 1);
  EXPECT_EQ(TestPart().which, 3);
  EXPECT_EQ(TestPart().of, 4);
  setenv("CAPI_TEST_FULL", "", 1);
  EXPECT_EQ(TestPart().of, 1);
}

// Whatever the count, the parts have every number once, and begin where a group does.
TEST(RangeOf, PartsAreTheWhole) {
  for (std::uint64_t count : {0, 1, 9, 10, 40, 75, 299, 300, 301, 10'000}) {
    EXPECT_EQ(RangeOf({}, count, 10).begin, 0u);
    EXPECT_EQ(RangeOf({}, count, 10).end, count);
    std::uint64_t next = 0;
    for (int which = 0; which < 4; ++which) {
      NumberRange range = RangeOf({which, 4}, count, 10);
      EXPECT_EQ(range.begin % 10, 0u);
      if (range.begin < range.end) {
        EXPECT_EQ(range.begin, next);
        next = range.end;
      }
    }
    EXPECT_EQ(next, count);
  }
}

}  // namespace
}  // namespace capi
