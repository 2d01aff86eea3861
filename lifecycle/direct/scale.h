// Takes a provider's pods away and brings them back (behaviour.md L23).
#pragma once

#include "api/kinds.h"
#include "base/context.h"
#include "kube/client/client.h"

namespace capi::lifecycle {

// All Deployments with the provider's labels go to zero replicas, with what they had in an annotation. Returns when
// none of their pods is left; kDeadlineExceeded after a minute names those that have some.
Status ScaleDown(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// Those that went to zero come back, also after a run that was broken off.
Status ScaleUp(const Context& ctx, kube::Client& client, const api::ProviderId& id);

}  // namespace capi::lifecycle
