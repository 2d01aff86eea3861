// Answers of others that count for a while, by what was asked.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"

namespace capi {

// Bounded: where it is full, what is too old goes for a new entry, and where nothing is, the oldest entry.
// Thread-compatible.
template <typename Value>
class ExpiringMap {
 public:
  // `most`: entries, at least one. An entry is there until it is `lasts` old.
  ExpiringMap(size_t most, MonoTime::duration lasts) : most_(most), lasts_(lasts) {}

  // Null where there is none. Valid until the next Put or Erase.
  const Value* Find(const std::string& key, MonoTime now) const {
    auto found = entries_.find(key);
    return found != entries_.end() && Lasts(found->second, now) ? &found->second.value : nullptr;
  }
  // In the place of a former one of that key; its age begins anew.
  void Put(const std::string& key, Value value, MonoTime now) {
    if (entries_.size() >= most_ && !entries_.contains(key)) MakeRoom(now);
    entries_.insert_or_assign(key, Entry{std::move(value), now});
  }
  void Erase(const std::string& key) { entries_.erase(key); }

 private:
  struct Entry {
    Value value;
    MonoTime since;
  };
  bool Lasts(const Entry& entry, MonoTime now) const { return now < entry.since + lasts_; }
  void MakeRoom(MonoTime now) {
    std::erase_if(entries_, [&](const auto& item) { return !Lasts(item.second, now); });
    if (entries_.size() < most_) return;
    auto older = [](const auto& a, const auto& b) { return a.second.since < b.second.since; };
    entries_.erase(std::min_element(entries_.begin(), entries_.end(), older));
  }

  const size_t most_;
  const MonoTime::duration lasts_;
  std::map<std::string, Entry> entries_;
};

}  // namespace capi
