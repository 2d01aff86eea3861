#include "kube/testing/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/strings.h"
#include "kube/testing/process.h"

namespace capi::kube {

Result<std::string> FindProgram(const std::string& name) {
  for (const char* variable : {"CAPI_ASSETS_BIN", "KUBEBUILDER_ASSETS", "PATH"}) {
    const char* folders = std::getenv(variable);
    for (const std::string& folder : Split(folders == nullptr ? "" : folders, ':')) {
      std::string path = folder + "/" + name;
      if (access(path.c_str(), X_OK) == 0) return path;
    }
  }
  std::string output = TRY(RunProgram({CAPI_SOURCE_DIR "/tools/assets", name}, CAPI_SOURCE_DIR, std::chrono::hours(1)));
  std::string path(Trim(output));
  if (access(path.c_str(), X_OK) != 0) return Error{Code::kNotFound, name + ": tools/assets does not know it", {}};
  return path;
}

}  // namespace capi::kube
