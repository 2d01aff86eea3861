// What holds a provider back, whom it waits for, and what to do about it, by its status alone: of `clusterctl why`,
// `clusterctl describe providers` and the operator's page. Pure.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/types.h"
#include "base/json.h"

namespace capi::advice {

// What a condition says besides the cause. A value.
struct Aside {
  std::string type, reason, message;
};

// A value.
struct Explanation {
  bool ready = false;
  std::string reason, since, message;  // of the condition Ready; `reason` is "" before the operator has looked
  std::string meaning, action;         // of the reason, where it is one of ours
  std::vector<Aside> also;             // what holds beside the cause: drift, warnings, a pause
};

// behaviour.md L9.
Explanation Explain(const api::Provider& provider);
// With `see`, the place in the book where the reason is, unless it is ready.
Json AsJson(const Explanation& explanation);

// Whom a provider waits for that isn't ready for this reason. A value.
struct Awaited {
  bool core = false;              // the core provider, whatever its name
  bool others = false;            // some that the message names, in words that `named` and `of_kind` need not have
  std::set<std::string> named;    // "KIND/NAMESPACE/NAME", or "NAMESPACE/NAME" where the message tells no kind
  std::set<std::string> of_kind;  // "KIND/NAME", in whichever namespace
  bool Has(const api::ProviderId& id) const;
};
Awaited AwaitedBy(std::string_view reason, std::string_view message);

// Whose cause is that of `from`: the end of the chain in which each waits for one other. `next`: the key of the one
// that a provider waits for, where that isn't ready; "" where it waits for none, for several, or for a ready one, which
// has no cause to tell of. "" for `from` itself, and for a circle.
std::string RootOf(const std::string& from, const std::function<std::string(const std::string& key)>& next);

}  // namespace capi::advice
