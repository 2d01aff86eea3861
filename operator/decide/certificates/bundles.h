// What has CA bundles, and what the operator's mark on it says of them (behaviour.md I19). Pure.
//
// Format: docs/formats.md, "Certificates of providers".
#pragma once

#include <set>
#include <string>

#include "kube/meta/object.h"

namespace capi::ops {

// Whether objects of that kind have CA bundles: webhook configurations, CRDs, APIServices.
bool HasBundles(const kube::GroupKind& kind);
// Whether objects of that kind, also such as are to be pruned, say something of certificates.
bool TellsOfCertificates(const kube::GroupKind& kind);

// Of what has one bundle alone, a CRD or an APIService: its place. Webhooks are told apart by their names.
inline constexpr const char* kOnlyPlace = ".";

// HASH/COUNT, where `count` bundles were filled in, or HASH/COUNT/PLACE,PLACE... where there are some that are somebody
// else's.
std::string BundleMark(const std::string& bundle_hash, int count, const std::set<std::string>& others);
// How many were filled in, by a mark; 0 where it says none.
int FilledIn(const std::string& mark);
// The places of those that were somebody else's, by a mark.
std::set<std::string> NotFilledIn(const std::string& mark);
// Whether an object has a place for a bundle that is neither as the operator has written it nor known to the mark.
bool HasUnknown(const std::string& mark, const kube::Object& object);
// Whether it says that the bundle of that hash was filled in `held` times.
bool SaysOf(const std::string& mark, const std::string& bundle_hash, int held);

// Where an object may have a bundle, by what its managedFields say of who owns what.
std::set<std::string> PlacesIn(const kube::Object& object);
// Those of them where it is as the operator has written it.
std::set<std::string> HeldPlaces(const kube::Object& object);

}  // namespace capi::ops
