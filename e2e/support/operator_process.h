// The built operator as a child process.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "kube/testing/memory_limit.h"

namespace capi::e2e {

// It runs within the memory that the manifests give it, where this machine lets a test limit that. Whoever ends one, be
// it the test or the destructor, expects that it has found no change by a resync (behaviour.md F6): that one comes
// after 15 s, so a wait for a provider to go on by itself ends well though its event is lost. Thread-compatible.
class OperatorProcess {
 public:
  // Starts the operator (CAPI_OPERATOR, else the one of this build) and waits until /readyz answers 200; ends the test
  // when it doesn't. `arguments` come after those that every run has.
  explicit OperatorProcess(const std::string& kubeconfig, std::vector<std::string> arguments = {},
                           std::vector<std::string> environment = {});
  // The same without the wait: for one that a test kills before it is ready.
  static std::unique_ptr<OperatorProcess> Launch(const std::string& kubeconfig, std::vector<std::string> arguments);
  // Expects that one that a test hasn't ended still runs, and ends well.
  ~OperatorProcess();

  void Kill();        // SIGKILL; expects that it hasn't ended by itself
  int Terminate();    // SIGTERM; its exit code
  void KillAtOnce();  // as Kill, but in the middle of what it does: asks it nothing before
  // For one whose server loses events because the test makes it.
  void AllowFindsByResync() { finds_by_resync_ = true; }
  // For one that loses its lease because the test makes it. Of another one that does (F4) the test's report has the
  // count, "lost_leases", which the run ends with: what waited for it has waited twice.
  void AllowLostLease() { may_lose_lease_ = true; }
  // Whether it ended because a test wanted it to.
  bool ended_by_test() const { return ended_by_test_; }
  // Whether it ended by itself because another may have its lease (F4), and in good order.
  bool LostItsLease() const;
  void Restart();     // starts again with the same arguments
  void AwaitReady();  // one that was launched: until /readyz answers 200; ends the test when it doesn't
  // As kube::Eventually, of what takes an operator: false at once where this one ends by itself. One that loses its
  // lease, on a machine that stands still for longer than that lasts (F4), starts again, once, and has all the time
  // anew.
  bool Eventually(const std::function<bool()>& done, Millis timeout = Seconds(30), Millis every = Millis(10));
  bool running() const { return process_ != nullptr && process_->running(); }
  int pid() const { return process_->pid(); }
  std::string Metrics() const;  // expects that there are some
  std::optional<std::string> MetricsIfAny() const;
  std::string Log() const;   // everything it wrote so far, since it was started the last time
  std::string Logs() const;  // how that ends, and how those of its former lives do
  // What it has now; these expect that it runs.
  size_t ResidentKiB() const;
  size_t Descriptors() const;
  size_t Threads() const;

 private:
  struct Unstarted {};
  OperatorProcess(Unstarted, const std::string& kubeconfig, std::vector<std::string> arguments);
  void Launch();
  void Start();
  void ExpectNothingFoundByResync() const;
  void ExpectItHadMemoryEnough() const;
  void ReportLostLease() const;  // where the life that is over has lost it
  bool EndedByItself() const { return !ended_by_test_ && !running(); }
  std::string LogFile(int life) const;
  std::string AddressOf(std::string_view what) const;  // from the log: "serving probes address=..."
  TemporaryFolder folder_;
  std::atomic<int> lives_ = 0;
  std::vector<std::string> argv_, environment_;
  std::unique_ptr<kube::MemoryLimit> limit_;  // null where there is none
  std::unique_ptr<capi::Process> process_;
  std::atomic<bool> ended_by_test_ = false;
  bool finds_by_resync_ = false, may_lose_lease_ = false;
};

}  // namespace capi::e2e
