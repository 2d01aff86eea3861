// `main` of every test program. It ends with 77, which ctest reports as skipped, when it ran no test at all but skipped
// some: what didn't run must not look like what passed.
#include <gtest/gtest.h>

#include <cstdio>

namespace {
constexpr int kSkipped = 77;
}

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  const auto& all = *::testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0 && !::testing::GTEST_FLAG(list_tests)) {
    std::fprintf(stderr, "no test has such a name\n");  // a filter that a renamed test left behind
    return 1;
  }
  bool nothing_ran = all.skipped_test_count() > 0 && all.successful_test_count() == 0;
  return failed == 0 && nothing_ran ? kSkipped : failed;
}
