// A template of a workload cluster: its variables, and the objects that it makes. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/object.h"
#include "templating/render.h"

namespace capi::templating {

// A variable's default as the template writes it; nullopt where it has none and has to be set.
using VariableDefaults = std::map<std::string, std::optional<std::string>>;

// Of the variables on the top level of the text. kInvalidArgument, with line and column, for what doesn't parse.
Result<VariableDefaults> DefaultsOf(std::string_view text);

// The text with its variables filled in. kInvalidArgument names all that are missing.
Result<std::string> FillIn(std::string_view text, const Variables& variables);

// The text's objects, in its order, in namespace `target`. kInvalidArgument names what is missing or wrong, with its
// place in the text.
Result<std::vector<kube::Object>> RenderTemplate(std::string_view text, const Variables& variables,
                                                 std::string_view target);

}  // namespace capi::templating
