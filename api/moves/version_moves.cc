#include "api/moves/version_moves.h"

#include <algorithm>

namespace capi::api {

bool CountsMinors(const ProviderId& id) {
  if (id.type == ProviderType::kCore) return true;
  return id.name == "kubeadm" && (id.type == ProviderType::kBootstrap || id.type == ProviderType::kControlPlane);
}

std::optional<std::uint64_t> TooFar(const ProviderId& id, const Version& from, const Version& to) {
  if (!CountsMinors(id) || to < from) return std::nullopt;
  if (to.major != 1 || to.minor < kFirstCountedMinor) return std::nullopt;
  std::uint64_t minor = from.major == 0 ? 0 : from.minor;
  std::uint64_t furthest = std::max(minor + kMostMinorsAtOnce, kFirstCountedMinor - 1);
  if (to.minor <= furthest) return std::nullopt;
  return furthest;
}

bool IsDowngrade(const Version& from, const Version& to) { return to < from && !to.SameSeries(from); }

}  // namespace capi::api
