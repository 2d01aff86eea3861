#include "operator/act/install/source_turns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/caught.h"

namespace capi::ops {

SourceTurns::SourceTurns(size_t at_once, std::function<void(const std::string& key)> wake)
    : at_once_(at_once), wake_(std::move(wake)) {}

std::deque<SourceTurns::Waiting>::iterator SourceTurns::Find(const std::string& key) {
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.key == key; });
}

SourceTurns::Turn SourceTurns::Take(const std::string& key) {
  {
    MutexLock lock(mu_);
    auto mine = Find(key);
    const auto before = static_cast<size_t>(mine - waiting_.begin());
    if (asking_ + before >= at_once_) {
      if (mine == waiting_.end()) mine = waiting_.insert(mine, {.key = key});
      mine->asked = true;
      return nullptr;
    }
    if (mine != waiting_.end()) waiting_.erase(mine);
    ++asking_;
  }
  // Without the lock: where there is no memory for the Turn (F7), its end comes at once.
  return Turn(this, [this](const void*) {
    {
      MutexLock ends(mu_);
      --asking_;
    }
    // Where that fails, for want of memory say, they look for themselves (F7): this may be in a destructor.
    static_cast<void>(Caught([this] { WakeNext(); }));
  });
}

void SourceTurns::PassEnded(const std::string& key) {
  {
    MutexLock lock(mu_);
    auto mine = Find(key);
    if (mine == waiting_.end() || std::exchange(mine->asked, false)) return;
    waiting_.erase(mine);
  }
  WakeNext();
}

// A place stays taken until its provider has come: nobody overtakes one that was woken.
void SourceTurns::WakeNext() {
  std::vector<std::string> next;
  {
    MutexLock lock(mu_);
    for (const Waiting& one : waiting_) {
      if (asking_ + next.size() >= at_once_) break;
      next.push_back(one.key);
    }
  }
  for (const std::string& key : next) wake_(key);
}

}  // namespace capi::ops
