// What a provider's last render gave, in memory, so that one object can be restored, or the next stage of an upgrade
// applied, without rendering again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kube/apply/manifest.h"

namespace capi::ops {

// What is reported about a release once it is applied. A value.
struct RenderFacts {
  std::string version, contract, source, digest;  // as in a provider's status
  std::vector<std::string> warnings;
};

// One render for each provider, each object compressed by itself. Empty after a restart: the next render fills it.
// Holds `max_bytes` at most; the render that was used the longest ago goes first. Thread-safe.
class RenderedCache {
 public:
  explicit RenderedCache(size_t max_bytes = 8u << 20) : max_bytes_(max_bytes) {}

  // Takes the place of what the provider's last render gave. `inputs` is its InputsDigest, never "".
  void Put(const std::string& provider, const std::string& inputs, const std::vector<kube::Manifest>& manifests,
           RenderFacts facts);
  // The provider is gone.
  void Drop(const std::string& provider);

  // nullopt, or false: there is no render of these inputs.
  bool Has(const std::string& provider, const std::string& inputs) const;
  // nullopt: the render doesn't have the object. kNotFound: there is no render of these inputs (any more), so nobody
  // knows.
  Result<std::optional<kube::Manifest>> Get(const std::string& provider, const std::string& inputs,
                                            const kube::ObjectId& id) const;
  // In the order of the render.
  std::optional<std::vector<kube::Manifest>> All(const std::string& provider, const std::string& inputs) const;
  std::optional<RenderFacts> Facts(const std::string& provider, const std::string& inputs) const;

  // The digest that the provider's render was put with; "" for none. Counts as a use: what a pass was told is there
  // isn't the first to go.
  std::string InputsOf(const std::string& provider) const;

 private:
  struct Render {
    std::string inputs;
    std::vector<kube::Manifest> manifests;  // text is gzip
    std::map<kube::ObjectId, size_t> by_id;
    RenderFacts facts;
    size_t bytes = 0;
  };
  struct Slot {
    std::shared_ptr<const Render> render;
    std::uint64_t used = 0;
  };
  std::shared_ptr<const Render> Find(const std::string& provider, const std::string& inputs) const;
  void MakeRoom() CAPI_REQUIRES(mu_);

  const size_t max_bytes_;
  mutable Mutex mu_;
  mutable std::map<std::string, Slot> renders_ CAPI_GUARDED_BY(mu_);
  mutable std::uint64_t uses_ CAPI_GUARDED_BY(mu_) = 0;
  size_t bytes_ CAPI_GUARDED_BY(mu_) = 0;
};

}  // namespace capi::ops
