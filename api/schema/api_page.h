// The text of docs/api.md: kinds, columns, annotations and every field, printed from the tables of this folder.
#pragma once

#include <string>

namespace capi::api {

std::string ApiMarkdown();

}  // namespace capi::api
