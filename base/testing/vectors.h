// Behaviour vectors (testdata/vectors): what the reference does, as data, and the one table of what supersedes it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace capi {

// Ends the program, with the reason on stderr, when the file can't be read.
Json LoadVectors(const std::string& file);

// A case in which we do something else than the reference, on purpose.
struct Superseded {
  std::string_view file, id;
  std::string_view rule;  // what supersedes it: a rule of docs/behaviour.md, and in what way
};

// All of them, by file and id.
std::span<const Superseded> SupersededVectors();
// Null where the reference's result counts.
const Superseded* FindSuperseded(std::string_view file, std::string_view id);

// A file whose cases all run, those on a vendor's release where there are such.
struct VectorFile {
  std::string_view name;
  size_t cases;
  std::string_view test;  // where
};
std::span<const VectorFile> VectorFiles();

// Runs every case of a file. `reference` asserts, with GoogleTest's macros, what the reference does; a superseded case
// has to fail that, else it isn't superseded. `ours` asserts what we do in the superseded ones. Each case runs under
// its id. A case for which `can_run` is false is left out.
using VectorCheck = std::function<void(const Json& vectors, const Json& test_case)>;
using VectorFilter = std::function<bool(const Json& vectors, const Json& test_case)>;
void RunVectors(const std::string& file, const VectorCheck& reference, const VectorCheck& ours = nullptr,
                const VectorFilter& can_run = nullptr);

}  // namespace capi

// Defines `cases`, those of a file: for files of which only some cases concern what is built.
#define CAPI_LOAD_VECTORS(cases, name)                           \
  const ::capi::Json all_of_##cases = ::capi::LoadVectors(name); \
  const ::capi::Json& cases = all_of_##cases["cases"]
