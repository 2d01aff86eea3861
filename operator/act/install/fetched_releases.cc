#include "operator/act/install/fetched_releases.h"

#include <algorithm>

#include "base/encoding.h"

namespace capi::ops {
namespace {

constexpr Seconds kFresh = std::chrono::minutes(10);

}  // namespace

size_t FetchedReleases::Kept::bytes() const {
  size_t size = release.components.size() + release.metadata.size();
  for (const auto& [key, text] : release.signatures) size += text.size();
  return size;
}

void FetchedReleases::Put(const std::string& provider, const std::string& inputs, const api::Release& release,
                          MonoTime now) {
  Kept kept{
      inputs, {release.version, release.metadata, Gzip(release.components), release.source, release.signatures}, now};
  MutexLock lock(mu_);
  DropLocked(provider);
  bytes_ += kept.bytes();
  kept_.emplace(provider, std::move(kept));
  while (bytes_ > max_bytes_) {
    auto oldest = std::min_element(kept_.begin(), kept_.end(),
                                   [](const auto& a, const auto& b) { return a.second.fetched < b.second.fetched; });
    DropLocked(std::string(oldest->first));
  }
}

std::optional<api::Release> FetchedReleases::Get(const std::string& provider, const std::string& inputs, MonoTime now) {
  std::optional<api::Release> release;
  {
    MutexLock lock(mu_);
    auto it = kept_.find(provider);
    if (it == kept_.end()) return std::nullopt;
    if (it->second.inputs != inputs || now - it->second.fetched >= kFresh) {
      DropLocked(provider);
      return std::nullopt;
    }
    release = it->second.release;
  }
  auto components = Gunzip(release->components, api::kMaxReleaseBytes);
  if (!components.ok()) return std::nullopt;
  release->components = std::move(components).value();
  return release;
}

void FetchedReleases::Drop(const std::string& provider) {
  MutexLock lock(mu_);
  DropLocked(provider);
}

void FetchedReleases::DropLocked(const std::string& provider) {
  auto it = kept_.find(provider);
  if (it == kept_.end()) return;
  bytes_ -= it->second.bytes();
  kept_.erase(it);
}

}  // namespace capi::ops
