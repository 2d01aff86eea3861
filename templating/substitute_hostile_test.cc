// Templates that want too much: every step is linear, nothing recurses on the input, and the output is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "base/testing/length.h"
#include "templating/substitute.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Repeat(std::string_view piece, size_t times) {
  std::string out;
  out.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) out += piece;
  return out;
}

Variables Nothing() {
  return [](const std::string&) { return std::nullopt; };
}

TEST(SubstituteHostile, AHundredThousandLevelsOfDefaults) {
  constexpr size_t kDepth = 100'000;
  std::string opening;
  for (size_t i = 0; i < kDepth; ++i) opening += std::string("${") + static_cast<char>('A' + i % 26) + ":-";
  std::string text = "a: " + opening + "end" + Repeat("}", kDepth) + "\n";
  Source source(text, "");
  Substituted out;
  ASSERT_FALSE(Substitute(source, Nothing(), true, out).has_value());
  EXPECT_EQ(out.text, "a: end\n");

  std::string open = "x: 1\na: " + opening;
  Source unclosed(open, "");
  Substituted none;
  auto error = Substitute(unclosed, Nothing(), true, none);
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->error.message, StartsWith("variable at line 2, column "));
}

TEST(SubstituteHostile, OutputBombsEndInAnErrorWithAPlace) {
  struct Case {
    std::string_view name;
    std::string text;
    std::string_view message;
  };
  const Case cases[] = {
      {"a long value often", "a: 1\n" + Repeat("${LONG}\n", 1000), "the result is too large"},
      {"a default often", "${A:=" + Repeat("${LONG}", 1000) + "}", "the result is too large"},
      {"replacement", "a: 1\nb: ${LONG//x/${LONG}}", "the result is too large"},
      {"replacement of nothing", "${LONG//${EMPTY}/${LONG}}", "the result is too large"},
      {"lengths", "a: 1\n" + Repeat("${#LONG}", 100'000), "the template takes too long to evaluate"},
      {"patterns", "${LONG##*y" + Repeat("*y", 1000) + "}", "the template takes too long to evaluate"},
  };
  const std::string value(1u << 20, 'x');
  Variables lookup = [&](const std::string& name) -> std::optional<std::string> {
    return name == "LONG" ? std::optional(value) : std::nullopt;
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Source source(c.text, "");
    Substituted out;
    auto error = Substitute(source, lookup, true, out);
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(error->error.message, StartsWith("variable at line "));
    EXPECT_THAT(error->error.message, HasSubstr(std::string(c.message)));
  }
}

double CpuSeconds(const std::function<void()>& work) {
  auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double before = now();
  work();
  return now() - before;
}

// Eight times the text takes some eight times as long; a quadratic step would take 64 times.
TEST(SubstituteHostile, TimeIsLinear) {
  const std::string_view pieces[] = {
      "key: ${A:=value} and some text around it\n", "$$", "${ A }", "${A:-", "${      ", "${A/b/${B}}", "$", "${A}",
  };
  const size_t small = TestLength() != Length::kLong ? 32u << 10 : (50u << 20) / 8;
  for (std::string_view piece : pieces) {
    SCOPED_TRACE(piece);
    auto run = [&](size_t size) {
      std::string text = Repeat(piece, size / piece.size());
      Source source(text, "");
      return CpuSeconds([&] {
        Substituted out;
        auto error = Substitute(
            source, [](const std::string&) { return "v"; }, true, out);
        EXPECT_THAT(error ? error->error.message : "variable at line ", StartsWith("variable at line "));
      });
    };
    double one = std::max({run(small), run(small), 0.001});
    EXPECT_LT(run(small * 8), one * 30);
  }
}

}  // namespace
}  // namespace capi::templating
