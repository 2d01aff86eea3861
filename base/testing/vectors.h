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

// Ends the program, with the reason on stderr, when the file can't be read or has no cases: a test that goes through
// none of them would show nothing.
Json LoadVectors(const std::string& file);
// Its cases alone: for files of which only some concern what is built.
Json LoadCases(const std::string& file);

// A case in which we do something else than the reference, on purpose.
struct Superseded {
  std::string_view file, id;
  std::string_view rule;  // what supersedes it: a rule of docs/behaviour.md, and in what way
};

// All of them, by file and id.
std::span<const Superseded> SupersededVectors();
// Null where the reference's result counts.
const Superseded* FindSuperseded(std::string_view file, std::string_view id);

// A file whose cases all run: those on a vendor's release are tests of their own, which that set of releases has.
struct VectorFile {
  std::string_view name;
  size_t cases;
  std::string_view test;  // where
};
std::span<const VectorFile> VectorFiles();

// A file that a test goes through for some of its cases, or for a part of each; others of them may be another test's,
// or no test's. One for each file and test.
struct VectorsInPart {
  std::string_view name;
  std::string_view test;       // where
  std::string_view what = "";  // what of it, where the test's name doesn't say so
};
std::span<const VectorsInPart> VectorFilesReadInPart();

// Cases about what there is nothing like here, on purpose: no test runs them. `part` is their kind, or the id of one.
struct ForeignVectors {
  std::string_view file, part;
  size_t cases;
  std::string_view why;  // what is done instead
};
std::span<const ForeignVectors> VectorsOfOthersAlone();
bool IsOfOthersAlone(std::string_view file, const Json& test_case);

// Runs every case of a file. `reference` asserts, with GoogleTest's macros, what the reference does; a superseded case
// has to fail that, else it isn't superseded. `ours` asserts what we do in the superseded ones. Each case runs under
// its id. With `part` it runs the cases that belong to it, and fails unless there are just as many as it says.
using VectorCheck = std::function<void(const Json& vectors, const Json& test_case)>;
struct VectorPart {
  std::function<bool(const Json& vectors, const Json& test_case)> has;
  size_t cases;
};
void RunVectors(const std::string& file, const VectorCheck& reference, const VectorCheck& ours = nullptr,
                const std::optional<VectorPart>& part = std::nullopt);
// Runs one case.
void RunVector(const std::string& file, const Json& vectors, const Json& test_case, const VectorCheck& reference,
               const VectorCheck& ours = nullptr);

}  // namespace capi
