// Versions as texts, for tests.
#pragma once

#include <string>
#include <vector>

#include "api/version.h"
#include "base/result.h"

namespace capi::api {

inline std::vector<std::string> Texts(const std::vector<Version>& versions) {
  std::vector<std::string> out;
  for (const Version& version : versions) out.push_back(version.ToString());
  return out;
}

// The message of the error where there are none.
inline std::vector<std::string> Texts(const Result<std::vector<Version>>& versions) {
  if (!versions.ok()) return {versions.error().message};
  return Texts(*versions);
}

}  // namespace capi::api
