#include <algorithm>

#include "fetch/repository.h"

namespace capi::fetch {
namespace {

constexpr size_t kMostFiles = 1'000;

}  // namespace

void NamedDigests::Put(const std::string& file, const std::string& digest) {
  MutexLock lock(mu_);
  if (digests_.erase(file) > 0) std::erase(oldest_first_, file);
  if (digest.empty()) return;
  if (digests_.size() >= kMostFiles) {
    digests_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  digests_[file] = digest;
  oldest_first_.push_back(file);
}

std::string NamedDigests::Of(const std::string& file) const {
  MutexLock lock(mu_);
  auto named = digests_.find(file);
  return named == digests_.end() ? "" : named->second;
}

}  // namespace capi::fetch
