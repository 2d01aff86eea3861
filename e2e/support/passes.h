// How often an operator has looked, by its metrics.
#pragma once

#include <functional>
#include <string>

#include "base/strings.h"
#include "e2e/support/operator_process.h"
#include "kube/testing/control_plane.h"

namespace capi::e2e {

// Passes that it has ended since its start.
inline double Passes(const OperatorProcess& process) {
  double passes = 0;
  for (const auto& line : Split(process.Metrics(), '\n')) {
    if (line.starts_with("controller_runtime_reconcile_total{")) passes += std::stod(line.substr(line.rfind(' ')));
  }
  return passes;
}

// Returns when it has ended a pass that began after the call, and so had seen what was done before it; false when none
// came. `touch` makes a change that leads to one, another one each time. For a provider that nothing else wakes, nor
// any other.
inline bool AwaitPass(const OperatorProcess& process, const std::function<void()>& touch) {
  // The first to end may have begun before; its successor hasn't.
  for (int i = 0; i < 2; ++i) {
    double before = Passes(process);
    touch();
    if (!kube::Eventually([&] { return Passes(process) > before; })) return false;
  }
  return true;
}

}  // namespace capi::e2e
