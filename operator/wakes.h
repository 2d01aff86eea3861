// Who is woken by what: every pass that is due because something else changed is due by one of these. Pure.
//
// They ask for what changed and never for what the woken provider's status says of itself: it may be in the middle of a
// pass that was decided on the state before, and that will write only afterwards that it waits.
#pragma once

#include <optional>
#include <string>

#include "operator/observe/provider_cache.h"
#include "operator/observe/watches.h"

namespace capi::ops {

// What a change of one Provider means to the others. A value; made once for each change.
struct ProviderNews {
  api::ProviderId id;
  bool itself = false;  // it has something to do itself: more than its status changed
  bool all = false;     // rules of all others look at what changed: C1 to C6, I4, I5 (an object that it gave up), X3
  bool came = false;    // those of its own kind may have become the younger one (I5)
};
ProviderNews NewsOf(const ProviderCache::Change& change);
bool Wakes(const ProviderNews& news, const api::ProviderId& provider);

// What a change of an object with clusterctl's label means: workloads and CRDs whole, all other kinds by metadata.
// A value.
struct ObjectNews {
  std::string label, before;  // of its provider, now and before the change
  bool all = false;           // I4: a CRD of the core became usable or unusable; C6: the last that ran may have gone
};
// nullopt: a change that nobody looks at.
std::optional<ObjectNews> NewsOf(const Watches::Key& watch, const kube::ObjectPtr& was, const kube::ObjectPtr& is);
bool Wakes(const ObjectNews& news, const api::ProviderId& provider);

// Of all other watches (Secrets, ConfigMaps, Namespaces, CRDs, what may be in use): whether anybody looks at what
// changed. If so it wakes all who asked for the watch, and of a shared one those whom the object concerns.
bool IsNews(const Watches::Key& watch, const kube::ObjectPtr& was, const kube::ObjectPtr& is);
bool Concerns(const Watches::Key& shared, const kube::Object& object, const api::ProviderId& provider);

}  // namespace capi::ops
