// Versions as texts, for tests.
#pragma once

#include <string>
#include <vector>

#include "api/version.h"
#include "base/result.h"

namespace capi::fetch {

inline std::vector<std::string> Texts(const std::vector<api::Version>& versions) {
  std::vector<std::string> out;
  for (const api::Version& version : versions) out.push_back(version.ToString());
  return out;
}

// The message of the error where there are none.
inline std::vector<std::string> Texts(const Result<std::vector<api::Version>>& versions) {
  if (!versions.ok()) return {versions.error().message};
  return Texts(*versions);
}

}  // namespace capi::fetch
