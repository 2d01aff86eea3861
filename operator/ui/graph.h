// Who waits for whom and for what, of all providers (behaviour.md B2). Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "operator/observe/provider_cache.h"

namespace capi::ops::ui {

// What isn't there, or doesn't do its part: a Secret, a ConfigMap, a ServiceAccount, the CoreProvider, a source of
// releases ("Source", without a namespace). A value.
struct Need {
  std::string kind, ns, name;
  bool operator==(const Need&) const = default;
};

// An object that a spec names, by its field ("spec.configSecret"). A value.
struct Reference {
  std::string field;
  Need object;
};
std::vector<Reference> ReferencesOf(const api::ProviderSpec& spec);

// A value.
struct Place {
  std::vector<std::string> waits_for;  // keys of providers
  std::vector<Need> needs;             // other things
  // The key of the last provider of the chain that isn't ready, where that is one and another one: its cause is this
  // one's.
  std::string root;
  bool operator==(const Place&) const = default;
};

// By key. Ready ones wait for nothing.
std::map<std::string, Place> Connect(const std::vector<CachedPtr>& providers);

}  // namespace capi::ops::ui
