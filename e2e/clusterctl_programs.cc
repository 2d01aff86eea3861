#include "e2e/clusterctl_programs.h"

#include <cstdlib>

#include "base/strings.h"
#include "e2e/length.h"
#include "kube/testing/process.h"

namespace capi::e2e {
namespace {

Result<std::string> FindReal() {
  std::string said = TRY(kube::RunProgram({"tools/assets", "clusterctl"}, "", std::chrono::hours(1)));
  return std::string(Trim(said));
}

}  // namespace

std::string OurClusterctlPath() {
  return IsSet("CAPI_CLUSTERCTL") ? std::getenv("CAPI_CLUSTERCTL") : CAPI_CLUSTERCTL_PATH;
}

Result<std::string> RealClusterctlPath() {
  static const Result<std::string> found = FindReal();
  return found;
}

}  // namespace capi::e2e
