// In whose name an image's program runs.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "local/programs/programs.h"

namespace capi::local {

// The ids of "65532:65532", "1000", "nonroot" or "nonroot:nogroup"; names are those of etc/passwd and etc/group below
// `root`. nullopt for "". kNotFound for a name that isn't there.
Result<std::optional<Program::UserIds>> UserOf(const std::string& user, const std::string& root);

// Whether that user may go into each folder on the way to a file, and read and execute it.
bool MayStart(const Program::UserIds& ids, const std::string& path);

}  // namespace capi::local
