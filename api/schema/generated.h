// Files of the tree that are printed from this folder's tables. A test compares them with what is committed.
#pragma once

#include <map>
#include <string>

namespace capi::api {

// Path from the root of the tree, and text.
std::map<std::string, std::string> GeneratedFiles();

}  // namespace capi::api
