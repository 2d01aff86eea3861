// A clusterctl program, and what its `generate provider` prints.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "e2e/parity/parity_case.h"

namespace capi::e2e {

struct Printed {
  int exit_code = 0;
  std::string error;          // the line "Error: ...", without the word
  std::string notes;          // standard error where it succeeds; not kept in the cache
  std::vector<Json> objects;  // in order
};

// A value.
struct Clusterctl {
  std::string path;
  std::string version;  // "v1.12.1"; "" for ours
  std::string cache;    // folder that keeps outputs by input; "" to run it each time

  // kNotFound, kInternal: the program can't be run, or prints what is no YAML.
  Result<Printed> Generate(const ParityCase& c) const;
};

// The pinned real program, which tools/assets has made before, with the cache folder of its version.
Result<Clusterctl> RealClusterctl();
// The one under test.
Clusterctl OurClusterctl();

}  // namespace capi::e2e
