// How often an operator has looked, by its metrics.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "base/strings.h"
#include "e2e/support/operator_process.h"
#include "kube/testing/control_plane.h"

namespace capi::e2e {

// Of all series that begin so, -1 where there are none.
inline double SumOf(const std::string& metrics, const std::string& series) {
  double sum = -1;
  for (const auto& line : Split(metrics, '\n')) {
    if (line.starts_with(series)) sum = std::max(sum, 0.0) + std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

// Passes that it has ended since its start.
inline double PassesIn(const std::string& metrics) { return SumOf(metrics, "controller_runtime_reconcile_total{"); }
inline double Passes(const OperatorProcess& process) { return PassesIn(process.Metrics()); }

// Changes since its start that were found by a resync, without an event (F6).
inline double FoundByResync(const OperatorProcess& process) {
  return SumOf(process.Metrics(), "capi_operator_changes_found_by_resync_total");
}

// Returns when it has ended a pass that began after the call, and so had seen what was done before it; false when none
// came. `touch` makes a change that leads to one, another one each time. For a provider that nothing else wakes, nor
// any other. One that loses its lease meanwhile starts again (OperatorProcess::Eventually), and counts anew.
inline bool AwaitPass(OperatorProcess& process, const std::function<void()>& touch) {
  // The first to end may have begun before; its successor hasn't.
  for (int i = 0; i < 2; ++i) {
    int counted = 0;  // the process whose passes they are
    double before = 0;
    auto ended = [&] {
      const auto metrics = process.MetricsIfAny();
      if (!metrics) return false;
      if (counted == process.pid()) return PassesIn(*metrics) > before;
      counted = process.pid();
      before = PassesIn(*metrics);
      touch();
      return false;
    };
    if (!process.Eventually(ended)) return false;
  }
  return true;
}

}  // namespace capi::e2e
