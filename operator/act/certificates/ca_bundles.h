// CA bundles of what the API server calls (behaviour.md I19): webhook configurations, CRDs with a conversion webhook,
// APIServices. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::ops {

// What a server-side apply has to say so that `live` trusts `pem` wherever it calls somebody, and nothing else; with
// its uid, so that one that is gone isn't made, and the mark of it (operator/decide/certificates/bundles.h), whose hash
// is `hash`. `others`, one for each of certificates::LiveBundles: those that are somebody else's, and left out.
kube::Object BundlesFor(const kube::Resource& resource, const kube::Object& live, const std::string& pem,
                        const std::string& hash, const std::vector<bool>& others);

// `live` says already what `bundles`, of BundlesFor, would make of it, and the operator holds just that: the API server
// would take much work, for a CRD, to find that an apply changes nothing.
bool HasThem(const kube::Object& live, const kube::Object& bundles);

// How everything for certificates is written.
kube::WriteOptions AsCertifier();

}  // namespace capi::ops
