// One Pod of the node, from the first look at it to its last process (behaviour.md G4).
#pragma once

#include <memory>

#include "kube/cache/store.h"
#include "local/node/node_parts.h"
#include "local/node/services/services.h"

namespace capi::local {

// Runs from its construction on, in threads of its own. Thread-safe.
class PodRun {
 public:
  // `pod` is not being deleted, or was when a former node ended: then nothing is started.
  PodRun(NodeParts& node, kube::ObjectPtr pod, const Context& ctx);
  ~PodRun();  // waits for its end; kills what was told of none

  // A newer version of the same Pod; null when it is gone. Its processes end where it is being deleted, with the grace
  // that it gives, and then the Pod does.
  void Update(kube::ObjectPtr pod);
  // The node ends: processes do, within `grace`; the Pod stays.
  void Stop(Millis grace);
  // No process is left, nor a file, and the Pod is gone where it was to go.
  bool done() const;

  Backend AsBackend() const;
  std::string folder() const;  // the name of its folders

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::local
