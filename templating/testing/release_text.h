// What a components file says by itself, read without the renderer, but for its YAML: what every rendering of it must
// show, of whichever release.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/testing/variables.h"
#include "base/json.h"

namespace capi::templating {

// A value.
struct ReleaseText {
  std::vector<Json> objects;  // with the defaults of its variables, and `values` for those that have none
  api::VariableValues values;
  std::set<std::string> variables;  // all names
  std::set<std::string> images;

  size_t Count(std::string_view kind) const;
  // One Namespace at most, and no two objects that their namespaces alone tell apart (I8).
  bool CanBeInOneNamespace() const;
};

// Ends the test when the text can't be read, or has more or fewer objects than lines that begin with "kind: ".
ReleaseText ReadReleaseText(const std::string& components);

}  // namespace capi::templating
