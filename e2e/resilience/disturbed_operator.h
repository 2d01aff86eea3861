// An operator behind a proxy that kills it or makes faults while a scenario runs, and the state that it leads to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/processes/temporary_folder.h"
#include "e2e/resilience/scenario.h"
#include "e2e/support/cluster.h"
#include "e2e/support/operator_process.h"
#include "kube/testing/fault_proxy.h"

namespace capi::e2e {

// The state before an undisturbed life and after each phase of it, and how many requests its operator sent.
struct Undisturbed {
  Snapshot before;  // of all kinds
  std::vector<Snapshot> ends;
  std::vector<int> requests;
};

// Thread-compatible; several may live side by side on one control plane.
class DisturbedOperator {
 public:
  // The operator's Lease is in `ns`; with `alone` it sees that Namespace and nothing else.
  DisturbedOperator(kube::ControlPlane& plane, std::string ns, bool alone);

  Cluster& cluster() { return cluster_; }
  kube::FaultProxy& proxy() { return *proxy_; }

  // Expects that nothing is left of it.
  Undisturbed LiveOnce(const Scenario& scenario);
  void ExpectNothingLeft(const Scenario& scenario, const Undisturbed& life);

  // Runs a phase with the first operator killed right after its request kills[0], the next one after its kills[1],
  // and so on, and expects the undisturbed end. Returns the number of operators that died.
  int Crash(const Scenario& scenario, size_t phase, const std::vector<int>& kills, const Undisturbed& expected);

  // Starts one that is started again whenever it has lost its lease (F4), until EndOperator. Faults take events from
  // it, and so it may find changes by a resync.
  void StartOperator(std::vector<std::string> arguments = {});
  void KeepOperator();  // call often
  void EndOperator();
  // What the operators since StartOperator said, except for the failures of watches and leases.
  std::string Said() const;

  // "" when the state is, or within minutes comes to be, the `expected` one.
  std::string AwaitEnd(const Scenario& scenario, const Snapshot& expected);
  Snapshot Take(const Scope& scope);

 private:
  std::unique_ptr<OperatorProcess> Launch(const std::vector<std::string>& more = {});
  void Unlock();  // a dead leader's Lease would be waited for
  void AllowForFaults();
  Snapshot TakeSettled(const Scope& scope);
  Snapshot TakeAll(const Scenario& scenario);

  std::string ns_;
  Cluster cluster_;
  TemporaryFolder folder_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::string kubeconfig_;
  std::vector<std::string> arguments_;
  std::unique_ptr<OperatorProcess> operator_;
  std::string said_before_;
};

// CAPI_TEST_SEED, else the first of this run's `count` (base/testing/length.h), from 1 on; printed, so that a failure
// can be had again.
unsigned TestSeed(unsigned count = 1);

}  // namespace capi::e2e
