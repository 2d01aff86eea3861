// Cluster API's own managers as child processes, with the arguments that a rendering gave their Deployments.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "kube/testing/control_plane.h"

namespace capi::templating {

// A manager that tools/assets builds, of the release that has its Deployment.
inline constexpr std::string_view kManagersVersion = "v1.12.0";
struct RealManager {
  api::ProviderType type;
  std::string_view name, program;
  std::string_view kind;        // that it reconciles, as groupKindConcurrency names it; "" where it has no flag for one
  std::string_view controller;  // of that kind, in metrics
  std::string_view lease;       // what its leader holds
};
extern const RealManager kRealManagers[4];

// Components of that release (base/testing/releases.h); ends the test program when it isn't there.
std::string ComponentsOf(const RealManager& manager);

// The manager's container as rendered with this spec (YAML), or the error.
struct RenderedManager {
  std::string error;
  Json container;
  std::vector<std::string> args() const;
};
RenderedManager RenderManager(const RealManager& manager, std::string_view spec);

// Runs `program` to its end and returns what it wrote.
std::string OutputOf(const std::string& program, const std::vector<std::string>& args);

// One run. It believes to be a pod of namespace "default". Thread-compatible.
class ManagerRun {
 public:
  // The container's args and plain environment, beside what a process outside of a cluster needs.
  ManagerRun(const kube::ControlPlane& plane, const RealManager& manager, const RenderedManager& rendered);

  bool AwaitReady(const std::string& health_url);  // until /readyz answers 200 there, or the process has ended
  bool running() const { return process_->running(); }
  std::string Log() const;
  std::string Environment() const;  // of the process, as the kernel has it
  void Stop() { process_->Stop(SIGKILL); }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<capi::Process> process_;
};

// Status of a GET, 0 where there is no answer; `body` gets the answer. `ca_pem`: trusted for https; "" for anything.
int GetUrl(const std::string& url, std::string* body = nullptr, const std::string& ca_pem = "");

}  // namespace capi::templating
