#include "kube/testing/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/processes/process.h"
#include "base/strings.h"

namespace capi::kube {

Result<std::string> FindProgram(const std::string& name) {
  for (const char* variable : {"CAPI_ASSETS_BIN", "KUBEBUILDER_ASSETS"}) {
    const char* folders = std::getenv(variable);
    for (const std::string& folder : Split(folders == nullptr ? "" : folders, ':')) {
      std::string path = folder + "/" + name;
      if (access(path.c_str(), X_OK) == 0) return path;
    }
  }
  // It knows which of them PATH may be asked for, too: any kubectl will do, but not any clusterctl.
  auto found = RunProgram({CAPI_SOURCE_DIR "/tools/assets", "have", name}, CAPI_SOURCE_DIR, Seconds(60));
  if (!found.ok()) return Error{Code::kNotFound, found.error().message, {}};
  return std::string(Trim(*found));
}

}  // namespace capi::kube
