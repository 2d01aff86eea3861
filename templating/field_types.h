// The types of fields of built-in kinds, as far as releases put variables there: an unquoted variable makes whatever
// its value looks like in YAML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace capi::templating {

// A field whose value has another type than Kubernetes has for it. A value.
struct WrongType {
  std::vector<std::string> path;  // steps; of a list the index
  std::string_view is, wanted;    // "a boolean", "a text"
};

// The first `most`, in order of the table; empty for an object of a kind that it doesn't have but for metadata, which
// all have. Null counts as unset. What isn't in the table (quantities, ports by name or number, custom resources) is
// never wrong.
std::vector<WrongType> FindWrongTypes(const Json& object, size_t most);

}  // namespace capi::templating
