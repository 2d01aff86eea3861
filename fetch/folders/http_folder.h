// Releases in a folder that a server has (behaviour.md I18).
#pragma once

#include <memory>
#include <string_view>

#include "fetch/repository.h"

namespace capi::fetch {

// What names the versions of such a folder: one a line, and lines that begin with "#".
inline constexpr std::string_view kVersionsFile = "versions.txt";

// `url` is "https://{host}/{path}/{latest|version}/{file}" (api/validate/folder_url.h). Files come by their names; the
// folder of a version may be written with its "v" and without. Which versions there are says kVersionsFile: kNotFound
// where there is none. Nobody's credentials are sent.
Result<std::unique_ptr<Repository>> OpenHttpFolder(std::string_view url, const HttpOptions& options);

}  // namespace capi::fetch
