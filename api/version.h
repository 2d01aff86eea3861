// Semantic versions, strict as Kubernetes' parser reads tags and tolerant as clusterctl reads version lists.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::api {

// Build metadata doesn't count in comparisons. A value.
struct Version {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::string prerelease;  // "rc.1"
  std::string build;

  // "v1.2.3-rc.1+build" or without the "v"; three numbers without leading zeros (testdata/vectors/semver-strict.json).
  static Result<Version> Parse(std::string_view text);
  // As blang/semver's ParseTolerant (testdata/vectors/semver-tolerant.json).
  static Result<Version> ParseTolerant(std::string_view text);

  std::string ToString() const;  // "v1.2.3-rc.1+build"
  bool SameSeries(const Version& other) const { return major == other.major && minor == other.minor; }
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }
};

// behaviour.md I12: equal with and without "v"; another build is another version here. Texts that are no versions
// compare as texts.
bool SameVersion(std::string_view a, std::string_view b);

}  // namespace capi::api
