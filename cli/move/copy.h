// An object as the target gets it, and how one that is there already differs. Pure.
#pragma once

#include <functional>
#include <string>

#include "kube/meta/object.h"

namespace capi::cli::move {

// The uid that an object of the source has in the target; "" for one that doesn't move.
using NewUid = std::function<std::string(const std::string& uid)>;

// `source` without what only holds in its own cluster. ownerReferences name the owners in the target; those that don't
// move are left out. The status stays in it: the API server drops it from kinds that have it as a subresource.
kube::Object CopyOf(kube::Object source, const NewUid& new_uid);

// Of what CopyOf() takes of `source`, with its owners there: two are the same where nothing of it has changed between.
std::string Digest(const kube::Object& source);

// Where `target` lacks what `source` has ("spec.replicas", "data"); "" for nowhere. What the target has beyond
// it, such as defaults, is no difference, nor are the status, ownerReferences, and what a move itself writes. No value
// and no key of data is told: both may be secret.
std::string FirstDifference(const kube::Object& source, const kube::Object& target);

}  // namespace capi::cli::move
