#include "kube/apply/served.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/json.h"

namespace capi::kube {
namespace {

constexpr Seconds kLimit{10};
constexpr Millis kFirstWait{20}, kLongestWait{200};

// Plural names by group and version.
using Awaited = std::map<std::string, std::set<std::string>>;

Awaited OfAll(const std::vector<const Manifest*>& crds) {
  Awaited awaited;
  for (const Manifest* crd : crds) {
    for (const std::string& version : crd->crd_versions) {
      awaited[fmt::format("/apis/{}/{}", crd->crd_group, version)].insert(crd->crd_plural);
    }
  }
  return awaited;
}

// Takes out what is served. False where that can't be told by asking again: a right that is missing, a server that is
// away.
bool Look(const Context& ctx, Client& client, Awaited& awaited) {
  for (auto it = awaited.begin(); it != awaited.end();) {
    auto text = client.Raw(ctx, "GET", it->first);
    if (!text.ok() && text.code() != Code::kNotFound) return false;
    auto json = text.ok() ? ParseJson(*text) : Result<Json>(Json::object());
    if (!json.ok()) return false;
    const Json* resources = Find(*json, {"resources"});
    if (resources != nullptr && resources->is_array()) {
      for (const Json& one : *resources) it->second.erase(GetString(one, {"name"}));
    }
    if (!it->second.empty()) return true;  // those behind it come later, most likely: one request each time
    it = awaited.erase(it);
  }
  return true;
}

}  // namespace

void AwaitServed(const Context& ctx, Client& client, const std::vector<const Manifest*>& crds) {
  Awaited awaited = OfAll(crds);
  const Context bounded = ctx.WithTimeout(kLimit);
  for (Millis wait = kFirstWait; !awaited.empty(); wait = std::min(wait * 2, kLongestWait)) {
    if (!Look(bounded, client, awaited) || awaited.empty()) return;
    if (!bounded.Check().ok() || !ctx.clock->Sleep(ctx.stop, wait)) return;
  }
}

}  // namespace capi::kube
