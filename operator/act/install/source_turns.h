// Who may ask sources over the network (behaviour.md T13): the others wait, in the order in which they came.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"

namespace capi::ops {

// Thread-safe; outlives the turns that it gave.
class SourceTurns {
 public:
  // `wake` is told the key of each provider whose turn has come: a pass of it has to follow.
  SourceTurns(size_t at_once, std::function<void(const std::string& key)> wake);

  // Ends with the last copy of it.
  using Turn = std::shared_ptr<const void>;
  // Null where as many ask as may, or will when those who wait for longer have come: `key` waits then, too.
  Turn Take(const std::string& key);
  // Of `key`. It waits no longer where that pass didn't ask for a turn: it is gone, or something else holds it back.
  void PassEnded(const std::string& key);

 private:
  struct Waiting {
    std::string key;
    bool asked = true;  // in the pass under way
  };
  std::deque<Waiting>::iterator Find(const std::string& key) CAPI_REQUIRES(mu_);
  void WakeNext();

  const size_t at_once_;
  const std::function<void(const std::string&)> wake_;
  Mutex mu_;
  size_t asking_ CAPI_GUARDED_BY(mu_) = 0;
  std::deque<Waiting> waiting_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
