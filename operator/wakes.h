// Who is woken by what, and with which priority (behaviour.md F10): every pass that is due because something else
// changed is due by one of these. Pure.
//
// They ask for what changed and never for what the woken provider's status says of itself: it may be in the middle of a
// pass that was decided on the state before, and that will write only afterwards that it waits.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "kube/runtime/work_queue.h"
#include "operator/observe/provider_cache.h"
#include "operator/observe/watches.h"

namespace capi::ops {

// What a change of one Provider means to the others. A value; made once for each change.
struct ProviderNews {
  api::ProviderId id;
  std::optional<kube::Priority> itself;  // it has something to do itself: more than its status changed
  bool all = false;   // rules of all others look at what changed: C1 to C6, I4, I5 (an object that it gave up), X3
  bool came = false;  // those of its own kind may have become the younger one (I5)
};
ProviderNews NewsOf(const ProviderCache::Change& change);
bool Wakes(const ProviderNews& news, const api::ProviderId& other);

// What a change of an object with clusterctl's label means: workloads and CRDs whole, all other kinds by metadata.
// A value.
struct ObjectNews {
  std::set<std::string> labels;  // of its provider, now and before the change: ProviderCache::KeysOf has who that is
  // Of that provider: what may be drift comes first, and after it what is our own doing, and how a rollout goes on.
  kube::Priority own = kube::Priority::kNormal;
  bool all = false;  // I4: a CRD of the core became usable or unusable; C6: the last that ran may have gone
};
// nullopt: a change that nobody looks at.
std::optional<ObjectNews> NewsOf(const Watches::Event& event);

// Of all other watches (Secrets, ConfigMaps, Namespaces, CRDs, what may be in use): whether anybody looks at what
// changed. If so it wakes all who asked for the watch, and of a shared one those whom the object concerns.
bool IsNews(const Watches::Event& event);
bool Concerns(const Watches::Key& shared, const kube::Object& object, const api::ProviderId& provider);
kube::Priority PriorityOf(const Watches::Event& event);

// Of all others that look at what changed, be it a thousand: who has a change of his own doesn't wait for these.
inline constexpr kube::Priority kOthers = kube::Priority::kLater;
// Of a provider that is woken by what works beside the passes: it has news, or the provider's turn has come.
inline constexpr kube::Priority kBesideThePasses = kube::Priority::kNormal;

}  // namespace capi::ops
