// Unpacks gzip as it comes, piece by piece.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace capi {

// One member after the other. Holds no more than a window, whatever comes of it. Thread-compatible.
class GunzipStream {
 public:
  using Take = std::function<Status(std::string_view piece)>;

  explicit GunzipStream(Take take);
  ~GunzipStream();
  GunzipStream(const GunzipStream&) = delete;
  GunzipStream& operator=(const GunzipStream&) = delete;

  // kInvalidArgument for what is no gzip; an error of `take`. After one nothing may be added.
  Status Add(std::string_view packed);
  // kInvalidArgument where it is cut off.
  Status Finish() const;

 private:
  struct State;
  const Take take_;
  std::unique_ptr<State> state_;
};

}  // namespace capi
