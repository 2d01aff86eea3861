// From a tag to the files of a release.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fetch/git/pack.h"

namespace capi::fetch {

// What a folder has. A value.
struct GitFolder {
  std::map<std::string, ObjectId> files;
  std::vector<std::string> others;  // names of what is no file: a folder, a link, another repository
};

// The folder `path` of what a tag names, a commit or an annotated tag. kNotFound where there is none. kInvalidArgument
// where the pack lacks it.
Result<GitFolder> FolderOfTag(const Pack& pack, const ObjectId& tag, std::string_view path);

}  // namespace capi::fetch
