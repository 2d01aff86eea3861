// Which moves from one version of a provider to another are too far, or backwards. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "api/kinds.h"
#include "api/version.h"

namespace capi::api {

// From this minor version of v1 on, the core and kubeadm's providers move at most so many minor versions at a time.
inline constexpr std::uint64_t kFirstCountedMinor = 10, kMostMinorsAtOnce = 3;

// The providers whose minor versions are Cluster API's own: its core, and kubeadm's.
bool CountsMinors(const ProviderId& id);

// behaviour.md C7: the furthest minor version of v1 that a provider may move to, where `to` is beyond it; nullopt where
// the move isn't too far.
std::optional<std::uint64_t> TooFar(const ProviderId& id, const Version& from, const Version& to);

// behaviour.md U6: to an older minor version, which has to be allowed. An older patch version needs no leave.
bool IsDowngrade(const Version& from, const Version& to);

}  // namespace capi::api
