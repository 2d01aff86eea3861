// How often an operator has looked, by its metrics.
#pragma once

#include <string>

#include "base/strings.h"
#include "e2e/operator_process.h"

namespace capi::e2e {

// Passes that it has ended since its start.
inline double Passes(const OperatorProcess& process) {
  double passes = 0;
  for (const auto& line : Split(process.Metrics(), '\n')) {
    if (line.starts_with("controller_runtime_reconcile_total{")) passes += std::stod(line.substr(line.rfind(' ')));
  }
  return passes;
}

}  // namespace capi::e2e
