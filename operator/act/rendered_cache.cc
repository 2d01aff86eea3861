#include "operator/act/rendered_cache.h"

#include <algorithm>

#include "base/encoding.h"

namespace capi::ops {
namespace {

constexpr size_t kMostBytes = 64u << 20;  // of one object: no API server takes one that large

// nullopt can't happen to what Put packed; it is answered like a render that isn't there.
std::optional<kube::Manifest> Unpacked(const kube::Manifest& packed) {
  auto text = Gunzip(packed.text, kMostBytes);
  if (!text.ok()) return std::nullopt;
  kube::Manifest manifest = packed;
  manifest.text = std::move(text).value();
  return manifest;
}

}  // namespace

void RenderedCache::Put(const std::string& provider, const std::string& inputs,
                        const std::vector<kube::Manifest>& manifests, RenderFacts facts) {
  if (inputs.empty()) return;
  auto render = std::make_shared<Render>();
  render->inputs = inputs;
  render->facts = std::move(facts);
  render->manifests.reserve(manifests.size());
  for (const kube::Manifest& manifest : manifests) {
    kube::Manifest packed = manifest;
    packed.text = Gzip(manifest.text);
    render->bytes += packed.text.size();
    render->by_id[packed.id] = render->manifests.size();
    render->manifests.push_back(std::move(packed));
  }
  MutexLock lock(mu_);
  Slot& slot = renders_[provider];
  bytes_ += render->bytes - (slot.render ? slot.render->bytes : 0);
  slot = {std::move(render), ++uses_};
  MakeRoom();
}

void RenderedCache::MakeRoom() {
  while (bytes_ > max_bytes_) {
    auto oldest = std::min_element(renders_.begin(), renders_.end(),
                                   [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    bytes_ -= oldest->second.render->bytes;
    renders_.erase(oldest);
  }
}

void RenderedCache::Drop(const std::string& provider) {
  MutexLock lock(mu_);
  auto it = renders_.find(provider);
  if (it == renders_.end()) return;
  bytes_ -= it->second.render->bytes;
  renders_.erase(it);
}

std::shared_ptr<const RenderedCache::Render> RenderedCache::Find(const std::string& provider,
                                                                 const std::string& inputs) const {
  MutexLock lock(mu_);
  auto it = renders_.find(provider);
  if (it == renders_.end() || it->second.render->inputs != inputs) return nullptr;
  it->second.used = ++uses_;
  return it->second.render;
}

bool RenderedCache::Has(const std::string& provider, const std::string& inputs) const {
  return Find(provider, inputs) != nullptr;
}

Result<std::optional<kube::Manifest>> RenderedCache::Get(const std::string& provider, const std::string& inputs,
                                                         const kube::ObjectId& id) const {
  const Error gone{Code::kNotFound, "the render had to make room for another one", {}};
  auto render = Find(provider, inputs);
  if (!render) return gone;
  auto it = render->by_id.find(id);
  if (it == render->by_id.end()) return std::optional<kube::Manifest>();
  auto manifest = Unpacked(render->manifests[it->second]);
  if (!manifest) return gone;
  return manifest;
}

std::optional<std::vector<kube::Manifest>> RenderedCache::All(const std::string& provider,
                                                              const std::string& inputs) const {
  auto render = Find(provider, inputs);
  if (!render) return std::nullopt;
  std::vector<kube::Manifest> manifests;
  manifests.reserve(render->manifests.size());
  for (const kube::Manifest& packed : render->manifests) {
    auto manifest = Unpacked(packed);
    if (!manifest) return std::nullopt;
    manifests.push_back(std::move(*manifest));
  }
  return manifests;
}

std::optional<RenderFacts> RenderedCache::Facts(const std::string& provider, const std::string& inputs) const {
  auto render = Find(provider, inputs);
  return render ? std::optional(render->facts) : std::nullopt;
}

std::string RenderedCache::InputsOf(const std::string& provider) const {
  MutexLock lock(mu_);
  auto it = renders_.find(provider);
  if (it == renders_.end()) return "";
  it->second.used = ++uses_;
  return it->second.render->inputs;
}

}  // namespace capi::ops
