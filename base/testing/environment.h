// Environment variables that say what a test run does. An empty one says nothing, as one that isn't set.
#pragma once

#include <cstdlib>
#include <string>

namespace capi {

// "" where it isn't set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

inline bool IsSet(const char* name) { return !EnvironmentVariable(name).empty(); }

}  // namespace capi
