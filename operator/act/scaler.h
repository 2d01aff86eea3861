// Carries out a Scale: takes the live workloads of a provider to zero, or brings them back (behaviour.md P1).
#pragma once

#include <vector>

#include "kube/client/client.h"
#include "operator/decide/decide.h"
#include "operator/observe/observe.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// One read and one patch for each workload; the patch names the version that was read, so that the count in its
// annotation is the true one. Thread-safe.
class Scaler {
 public:
  Scaler(kube::Client& client, Observer& observer) : client_(client), observer_(observer) {}
  Done Run(const Context& ctx, const Observation& o, const Scale& step);

 private:
  Status ScaleOne(const Context& ctx, const Observation& o, const kube::ObjectId& id, bool up,
                  kube::Inventory& inventory);

  kube::Client& client_;
  Observer& observer_;
};

}  // namespace capi::ops
