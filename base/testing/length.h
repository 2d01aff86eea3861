// How much a run of a test does, and where its random numbers begin.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/testing/environment.h"

namespace capi {

// `make test`; with CAPI_TEST_FULL what `make test-full` runs on top of it; with CAPI_TEST_LONG what takes hours.
enum class Length { kNormal, kFull, kLong };
inline Length TestLength() {
  if (IsSet("CAPI_TEST_LONG")) return Length::kLong;
  return IsSet("CAPI_TEST_FULL") ? Length::kFull : Length::kNormal;
}

// Of what is of full length, CI runs one part of four with each commit, the one that the commit's id chooses (.ci/run).
// All of it where CAPI_TEST_PART isn't set: then there is one part, 0.
struct Part {
  int which = 0, of = 1;
};
inline Part TestPart() {
  std::string which = EnvironmentVariable("CAPI_TEST_PART");
  return which.empty() || TestLength() != Length::kFull ? Part{} : Part{std::stoi(which), 4};
}

// Numbers from `begin` up to `end`, without it.
struct NumberRange {
  std::uint64_t begin = 0, end = 0;
};

// That part of the first `count` numbers, in whole groups of `group`: all parts together have each once.
inline NumberRange RangeOf(Part part, std::uint64_t count, std::uint64_t group) {
  const std::uint64_t groups = (count + group - 1) / group;
  const auto which = static_cast<std::uint64_t>(part.which), of = static_cast<std::uint64_t>(part.of);
  return {groups * which / of * group, std::min(groups * (which + 1) / of * group, count)};
}

// One of three, by the length of this run.
template <typename T>
T ByLength(T normal, T full, T for_hours) {
  if (TestLength() == Length::kLong) return for_hours;
  return TestLength() == Length::kFull ? full : normal;
}

// The first of `count` seeds. In a long run they are others every day, so that each tries something new; else they are
// always the same.
inline std::uint64_t FirstSeed(std::uint64_t count) {
  if (TestLength() != Length::kLong) return 0;
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::days>(now).count()) * count;
}

}  // namespace capi
