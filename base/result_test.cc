#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace capi {
namespace {

Error Conflict() { return {Code::kConflict, "changed", std::chrono::milliseconds(7)}; }

Result<std::unique_ptr<int>> Make(bool works) {
  if (!works) return Conflict();
  return std::make_unique<int>(1);
}

Status Check(bool works) { return works ? Ok() : Status(Conflict()); }

Result<int> Plus(bool first, bool second) {
  auto made = TRY(Make(first));  // moved out: what is no copy passes too
  TRY_WITH(Check(second), "second");
  return *made + 1;
}

TEST(Result, TryPassesErrorsOn) {
  EXPECT_EQ(*Plus(true, true), 2);
  EXPECT_EQ(Plus(false, true).error().message, "changed");
  auto second = Plus(true, false);
  EXPECT_FALSE(second);
  EXPECT_EQ(second.error().message, "second: changed");
  EXPECT_EQ(second.code(), Code::kConflict);
  EXPECT_EQ(second.error().retry_after, std::chrono::milliseconds(7));
}

TEST(Result, TheWrongAlternativeEndsTheProcess) {
  EXPECT_DEATH((void)Make(false).value(), "");
  EXPECT_DEATH((void)Make(true).error(), "");
  EXPECT_DEATH((void)Check(true).error(), "");
}

TEST(Errors, SayWhetherToTryAgain) {
  struct Case {
    Code code;
    std::string_view name;
    bool transient;
  };
  const Case cases[] = {
      {Code::kInvalidArgument, "InvalidArgument", false},
      {Code::kNotFound, "NotFound", false},
      {Code::kAlreadyExists, "AlreadyExists", false},
      {Code::kConflict, "Conflict", true},
      {Code::kFailedPrecondition, "FailedPrecondition", false},
      {Code::kUnauthenticated, "Unauthenticated", false},
      {Code::kPermissionDenied, "PermissionDenied", false},
      {Code::kGone, "Gone", true},
      {Code::kRateLimited, "RateLimited", true},
      {Code::kUnavailable, "Unavailable", true},
      {Code::kDeadlineExceeded, "DeadlineExceeded", true},
      {Code::kCancelled, "Cancelled", false},
      {Code::kUnsupported, "Unsupported", false},
      {Code::kInternal, "Internal", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CodeName(c.code), c.name);
    EXPECT_EQ((Error{c.code, "", {}}.Transient()), c.transient) << c.name;
  }
}

}  // namespace
}  // namespace capi
