// Two outputs of `generate provider`, compared object by object, in order.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "e2e/parity/generate.h"

namespace capi::e2e {

struct Verdict {
  bool failed = false;                   // both failed, in the same way
  std::set<std::string> exceptions;      // names of those that the outputs need to be equal
  std::vector<std::string> differences;  // that no exception explains

  bool operator==(const Verdict&) const = default;
  std::string Cell() const;  // "equal", "fails", or the names of exceptions
};

// Exceptions are tried in the order of their table. Both were printed in `mode`.
Verdict Compare(const Printed& real, const Printed& ours, Mode mode);

}  // namespace capi::e2e
