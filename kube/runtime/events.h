// Events (core v1) about objects, written in the background.
#pragma once

#include <memory>
#include <string>

#include "base/context.h"
#include "kube/client/client.h"

namespace capi::kube {

// Thread-safe. Never blocks the caller: when the queue is full the oldest event is dropped. The same event about the
// same object within ten minutes raises `count` of the first one instead of a new one.
class EventRecorder {
 public:
  EventRecorder(Client& client, std::string component, Clock& clock);
  ~EventRecorder();
  // `type` is "Normal" or "Warning"; `reason` CamelCase.
  void Record(const Object& about, std::string_view type, std::string_view reason, std::string_view message);
  // Blocks until the context stops, then writes what is queued within two seconds.
  void Run(const Context& ctx);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
