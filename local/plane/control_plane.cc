#include "local/plane/control_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/version.h"
#include "local/plane/commands.h"
#include "local/plane/kubeconfig.h"

namespace capi::local {
namespace {

// Nothing else is looked at meanwhile, so it isn't asked for long at first; one that was ready may be busy, and so may
// the machine: each time that was too short is followed by one twice as long.
constexpr Millis kReadyAnswerLimit{3000}, kLongestAnswerLimit{5000};

int PortBefore(const PlaneFolder& folder) {
  auto before = ReadState(folder.State());
  return before.ok() ? before->port : 0;
}

ProcessOptions CommandOf(const PlaneFolder& folder, const std::string& working_folder, const std::string& name,
                         std::vector<std::string> argv) {
  ProcessOptions out;
  out.argv = std::move(argv);
  out.log_file = folder.Log(name);
  out.folder = working_folder;
  out.environment = ControlPlaneEnvironment(folder, [](const std::string& variable) -> std::optional<std::string> {
    const char* value = std::getenv(variable.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
  out.inherit_environment = false;
  return out;
}

}  // namespace

std::string EgressFile(const std::string& private_folder) { return private_folder + "/egress.yaml"; }
std::string EgressSocket(const std::string& private_folder) { return private_folder + "/egress.sock"; }

Result<std::unique_ptr<ControlPlane>> ControlPlane::Prepare(const Context& ctx, const PlaneFolder& folder,
                                                            const std::string& private_folder,
                                                            const PlanePrograms& programs) {
  Credentials credentials = TRY(EnsureCredentials(folder, ctx.clock->Now()));
  ReservedPort port = TRY(ReservedPort::Take(PortBefore(folder)));
  const int number = port.number();
  std::unique_ptr<ControlPlane> out(new ControlPlane(std::move(port), std::move(credentials)));
  TRY(WriteFile(EgressFile(private_folder), EgressConfiguration(EgressSocket(private_folder)), 0600));
  const std::string kubeconfig = KubeconfigText(out->credentials_, number);
  TRY(WriteFile(folder.OwnKubeconfig(), kubeconfig, 0600));
  if (const Status persons = PutIntoKubeconfig(folder.Kubeconfig(), kubeconfig); !persons.ok())
    ctx.log.Warn("the kubeconfig is left as it is", {{"error", persons.error().message}});
  kube::ClientOptions options;
  options.user_agent = fmt::format("clusterctl-local/{}", kProjectVersion);
  out->client_ = TRY(kube::Client::Connect(ClientConfig(out->credentials_, number), options));
  out->MakeProcesses(folder, private_folder, programs, *ctx.clock);
  return out;
}

void ControlPlane::MakeProcesses(const PlaneFolder& folder, const std::string& private_folder,
                                 const PlanePrograms& programs, Clock& clock) {
  KeptProcessOptions etcd;
  etcd.name = "etcd";
  etcd.command = CommandOf(folder, private_folder, etcd.name, EtcdCommand(programs, folder));
  etcd_ = std::make_unique<KeptProcess>(std::move(etcd), clock);

  KeptProcessOptions apiserver;
  apiserver.name = "kube-apiserver";
  apiserver.command = CommandOf(folder, private_folder, apiserver.name,
                                ApiServerCommand(programs, folder, EgressFile(private_folder), port()));
  apiserver.port = port();
  apiserver.is_ready = [this] { return Asked(); };
  apiserver.stop_signal = SIGKILL;
  apiserver_ = std::make_unique<KeptProcess>(std::move(apiserver), clock);

  if (programs.controller_manager.empty()) return;
  KeptProcessOptions controllers;
  controllers.name = "kube-controller-manager";
  controllers.command = CommandOf(folder, private_folder, controllers.name, ControllerManagerCommand(programs, folder));
  controllers.stop_signal = SIGKILL;
  controllers_ = std::make_unique<KeptProcess>(std::move(controllers), clock);
}

bool ControlPlane::Asked() {
  // What it says of an etcd that isn't ready is known, and may take it seconds, in which nobody looks after etcd.
  if (!etcd_->state().ready) return false;
  const auto answer = client_->Raw(ctx_.WithTimeout(answer_limit_), "GET", "/readyz", "", "", "text/plain");
  if (answer.ok()) answer_limit_ = std::max(answer_limit_, kReadyAnswerLimit);
  if (!answer.ok() && answer.code() == Code::kDeadlineExceeded)
    answer_limit_ = std::min(2 * answer_limit_, kLongestAnswerLimit);
  return answer.ok();
}

void ControlPlane::Look(const Context& ctx) {
  ctx_ = ctx;
  etcd_->Look();
  if (controllers_ && was_ready_) controllers_->Look();
  apiserver_->Look();  // the last: it may wait for an answer
  apiserver_ready_ = etcd_->state().ready && apiserver_->state().ready;
  was_ready_ = was_ready_ || apiserver_ready_;
}

void ControlPlane::Stop() {
  if (controllers_) controllers_->Stop();
  apiserver_->Stop();
  etcd_->Stop();
}

std::vector<ProcessState> ControlPlane::States() const {
  std::vector<ProcessState> out = {etcd_->state(), apiserver_->state()};
  if (controllers_) out.push_back(controllers_->state());
  return out;
}

}  // namespace capi::local
