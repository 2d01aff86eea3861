// CA bundles of what the API server calls (behaviour.md I19): webhook configurations, CRDs with a conversion webhook,
// APIServices. Pure.
#pragma once

#include <optional>
#include <string>

#include "kube/client/client.h"
#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::ops {

// Whether objects of that kind have CA bundles.
bool HasBundles(const kube::GroupKind& kind);

// What a server-side apply has to say so that `live` trusts `pem` wherever it calls somebody, and nothing else; with
// its uid, so that one that is gone isn't made, and the mark of it (operator/decide/certificates/marks.h), whose hash
// is `hash`.
kube::Object BundlesFor(const kube::Resource& resource, const kube::Object& live, const std::string& pem,
                        const std::string& hash);

// The same for one whose bundles are somebody else's: nothing but the mark, with no bundle.
kube::Object WithoutBundles(const kube::Resource& resource, const kube::Object& live, const std::string& hash);

// How everything for certificates is written.
kube::WriteOptions AsCertifier();

}  // namespace capi::ops
