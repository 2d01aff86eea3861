// Watch events out of the pieces of a stream of JSON lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "kube/client/client.h"

namespace capi::kube {

// Holds the text of at most one event, and one parsed event while `on_event` runs. Thread-compatible.
class WatchDecoder {
 public:
  // With `kind_of` every object gets that resource's apiVersion and kind (answers of PartialObjectMetadata have
  // others).
  WatchDecoder(const Resource* kind_of, std::function<Status(WatchEvent)> on_event);

  // An ERROR event becomes the error that its Status tells of; what is no event is kUnavailable: the stream is broken,
  // another one may be whole.
  Status Feed(std::string_view piece);
  // At the end of the stream: kUnavailable when it ended in the middle of an event.
  Status End() const;

 private:
  Status Line(std::string_view line);

  const Resource* kind_of_;
  std::function<Status(WatchEvent)> on_event_;
  std::string partial_;
};

}  // namespace capi::kube
