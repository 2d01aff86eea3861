// Everything a cluster keeps, in words that two runs of the same scenario share.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "kube/client/client.h"

namespace capi::e2e {

// Objects by "kind.group/namespace/name", as text. A value.
using Snapshot = std::map<std::string, std::string>;

// What to look at: kinds first, since each costs a request.
struct Scope {
  std::function<bool(const kube::Resource&)> kinds;
  std::function<bool(const kube::ObjectId&)> objects;
};

// All objects in `scope`. Left out of them is what no two runs share: uids, versions, times, generations, addresses,
// status of anything but Providers. Fails while the server doesn't answer for a kind.
Result<Snapshot> TakeSnapshot(kube::Client& client, const Context& ctx, const Scope& scope);

// What is in one and not in the other, a line each; "" where they are equal.
std::string Difference(const Snapshot& expected, const Snapshot& seen);

}  // namespace capi::e2e
