// $(NAME) in a container's command, arguments and variables, as Kubernetes replaces it (behaviour.md G5). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace capi::local {

using Variables = std::map<std::string, std::string>;

// Each $(NAME) of a variable that is there becomes its value; another one stays as it is. "$$" becomes "$", so that
// "$$(NAME)" is the text "$(NAME)".
std::string Expand(std::string_view text, const Variables& variables);

}  // namespace capi::local
