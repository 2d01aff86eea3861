// Whether a file runs on this machine.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::local {

// "linux/amd64", as images name it.
std::string_view ThisPlatform();

// A static program of this machine's architecture runs as it is; a script, or a program that wants a loader, where the
// interpreter or the loader that it names is on this machine. kNotFound where there is no such file; kUnsupported, with
// what is the matter, for one that doesn't run. Reads the first bytes alone.
Status CheckRuns(const std::string& path);

// A path of an image below `root`: "." and ".." lead no higher than that.
std::string PathBelow(const std::string& root, std::string_view path);

// A word of an image's command: the path of its program below `root`. An absolute one is of the root, one with a slash
// of `folder` (absolute, in the image); any other is looked for in `search`, the image's PATH. Doesn't check that it
// runs. kNotFound.
Result<std::string> ProgramIn(const std::string& root, const std::string& word, const std::string& folder,
                              std::string_view search);

}  // namespace capi::local
