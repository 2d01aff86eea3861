// Events (core v1) about objects, written in the background.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/context.h"
#include "kube/client/client.h"

namespace capi::kube {

// The requests of a recorder: Create of an Event, and a merge patch of one.
struct EventApi {
  std::function<Status(const Context&, const Object& event)> create;
  std::function<Status(const Context&, const std::string& ns, const std::string& name, const Json& patch)> patch;
};

// Thread-safe. Never blocks the caller: when the queue is full the oldest event is dropped. The same event about the
// same object within ten minutes raises `count` of the first one instead of a new one. An event about a cluster-scoped
// object is written to namespace "default".
class EventRecorder {
 public:
  EventRecorder(Client& client, std::string component, Clock& clock);
  EventRecorder(EventApi api, std::string component, Clock& clock);  // to another place than a client
  ~EventRecorder();
  // `type` is "Normal" or "Warning"; `reason` CamelCase. A message is cut to 1,024 bytes.
  void Record(const Object& about, std::string_view type, std::string_view reason, std::string_view message);
  // Blocks until the context stops, then writes what is queued within two seconds.
  void Run(const Context& ctx);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
