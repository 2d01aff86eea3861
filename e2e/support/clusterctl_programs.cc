#include "e2e/support/clusterctl_programs.h"

#include "base/processes/process.h"
#include "base/strings.h"
#include "base/testing/environment.h"

namespace capi::e2e {
namespace {

// Nothing is built inside a test: the error names the command that does.
Result<std::string> FindReal() {
  std::string said = TRY(capi::RunProgram({"tools/assets", "have", "clusterctl"}, "", Seconds(60)));
  return std::string(Trim(said));
}

}  // namespace

std::string OurClusterctlPath() {
  return IsSet("CAPI_CLUSTERCTL") ? EnvironmentVariable("CAPI_CLUSTERCTL") : CAPI_CLUSTERCTL_PATH;
}

Result<std::string> RealClusterctlPath() {
  static const Result<std::string> found = FindReal();
  return found;
}

}  // namespace capi::e2e
