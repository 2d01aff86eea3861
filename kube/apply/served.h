// When the API server serves what CRDs were just applied for.
#pragma once

#include <vector>

#include "base/context.h"
#include "kube/apply/manifest.h"
#include "kube/client/client.h"

namespace capi::kube {

// Returns once discovery names the kinds of these CRDs at the versions that they serve, which is some tenths of a
// second after the apply. A program that begins before doesn't find its own kinds, ends, and is started again only
// after a back-off (behaviour.md U2). Nothing is lost by going on without, so it returns as well after 10 s, where
// discovery can't be read, and at a stop. Thread-safe.
void AwaitServed(const Context& ctx, Client& client, const std::vector<const Manifest*>& crds);

}  // namespace capi::kube
