// What has CA bundles, and what the operator's mark on it says of them (behaviour.md I19). Pure.
//
// Format: docs/formats.md, "Certificates".
#pragma once

#include <set>
#include <string>

#include "kube/meta/object.h"

namespace capi::ops {

// Whether objects of that kind have CA bundles: webhook configurations, CRDs, APIServices.
bool HasBundles(const kube::GroupKind& kind);
// Whether objects of that kind, also such as are to be pruned, say something of certificates.
bool TellsOfCertificates(const kube::GroupKind& kind);

// HASH/COUNT, or HASH/COUNT/OTHERS where there are bundles that are somebody else's.
std::string BundleMark(const std::string& bundle_hash, int count, int others);
// How many were filled in, by a mark; 0 where it says none.
int FilledIn(const std::string& mark);
// How many it knows of: these, and those of others.
int KnownTo(const std::string& mark);
// Whether it says that the bundle of that hash was filled in `held` times.
bool SaysOf(const std::string& mark, const std::string& bundle_hash, int held);

// In how many places an object may have a bundle, by what its managedFields say of who owns what.
int PlacesIn(const kube::Object& object);
// Names of the webhooks whose bundle is as the operator has written it.
std::set<std::string> HeldWebhooks(const kube::Object& object);

}  // namespace capi::ops
