// One container of a Pod: its process is started, asked by its probes, and started again when it ends
// (behaviour.md G7).
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>

#include "local/node/back_off.h"
#include "local/node/container_plan.h"
#include "local/node/facts_board.h"

namespace capi::local {

// What the containers of a Pod share. Thread-safe.
struct PodParts {
  NodeParts& node;
  const kube::Object& pod;
  PodFiles& files;  // only what any thread may ask for
  FactsBoard& board;
  PodPorts ports;                      // before the first container runs
  std::string owner;                   // uid of its Deployment; "" for none
  std::stop_token stop;                // its processes are to end
  std::atomic<std::int64_t> grace_ms;  // between SIGTERM and SIGKILL, from then on
  Context ctx;                         // for the log
};

// Thread-compatible.
class ContainerRun {
 public:
  // `index`: in the list of containers, or of those that come first, where `init`.
  ContainerRun(PodParts& pod, const Json& container, size_t index, bool init);

  // Blocks until the Pod is to end and no process of the container is left; where `init`, until it has succeeded, too.
  void Run();

 private:
  struct Probes;
  void Change(const std::function<void(ContainerFacts&)>& change);
  void Wait(const std::string& reason, const std::string& message);
  bool Sleep(Millis time);
  bool stopped() const { return pod_.stop.stop_requested(); }
  std::optional<ContainerPlan> Prepare();
  Result<ContainerPlan> TryPrepare(bool& found);
  Status CheckPorts(ContainerPlan& plan);
  bool AwaitTurn(bool alone, bool& waited);
  std::optional<ContainerEnd> RunInTurn(ContainerPlan plan, bool waited);
  ContainerEnd RunOnce(const ContainerPlan& plan);
  int Watch(const ContainerPlan& plan, Process& process, std::string& why);
  void AskAll(const ContainerPlan& plan, pid_t group, Probes& probes, std::string& why);
  int End(Process& process, Millis grace_at_most);
  Status RunCommand(const ContainerPlan& plan, const std::vector<std::string>& command, Millis timeout);
  std::string MessageOf(const ContainerPlan& plan, std::int64_t from, const std::string& why, int code) const;

  PodParts& pod_;
  const Json& container_;
  const size_t index_;
  const bool init_;
  const std::string name_;
  Context ctx_;
};

}  // namespace capi::local
