// How conditions have changed while this operator runs: a status keeps the last change of each alone.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "api/types.h"
#include "base/clock.h"

namespace capi::ops::ui {

// A condition that came, changed its status or its reason, or went ("" as its status). A value.
struct Transition {
  std::string time;  // RFC 3339
  std::string type, status, reason, message;
  bool operator==(const Transition&) const = default;
};

// Keeps the last kMostOfOne of each provider, and kMost of all. Thread-compatible.
class Timeline {
 public:
  static constexpr size_t kMost = 4000, kMostOfOne = 40;
  static constexpr size_t kLongestMessage = 300;  // bytes of a message that are kept

  void Note(const std::string& key, const api::ProviderStatus& was, const api::ProviderStatus& is, WallTime now);
  void Forget(const std::string& key);
  std::vector<Transition> Of(const std::string& key) const;  // the newest last

 private:
  void Add(const std::string& key, Transition transition);

  std::map<std::string, std::deque<Transition>> all_;
  std::deque<std::string> order_;  // the key of each transition that is kept, the oldest first
};

}  // namespace capi::ops::ui
