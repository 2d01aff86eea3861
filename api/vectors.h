// Behaviour vectors (env VECTORS_DIR) for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "base/json.h"

namespace capi::api {

// The cases of file `name`; null, with a failure of the test, when the file can't be read.
inline Json LoadVectorCases(const std::string& dir, const std::string& name) {
  auto text = ReadFile(dir + "/" + name);
  EXPECT_TRUE(text.ok()) << dir << "/" << name;
  if (!text.ok()) return {};
  auto json = ParseJson(*text);
  EXPECT_TRUE(json.ok()) << (json.ok() ? "" : json.error().message);
  if (!json.ok()) return {};
  EXPECT_FALSE((*json)["cases"].empty());
  return (*json)["cases"];
}

}  // namespace capi::api

// Defines `cases`, or skips the test where there are no vectors.
#define CAPI_LOAD_VECTORS(cases, name)                                                 \
  if (std::getenv("VECTORS_DIR") == nullptr) GTEST_SKIP() << "VECTORS_DIR is not set"; \
  const ::capi::Json cases = ::capi::api::LoadVectorCases(std::getenv("VECTORS_DIR"), (name))
