#include "kube/client/discovery.h"

#include <algorithm>

namespace capi::kube {
namespace {

constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
constexpr std::string_view kPlain = "application/json";

const Json& Items(const Json& value, std::string_view field) {
  static const Json none = Json::array();
  const Json* found = Find(value, {field});
  return found != nullptr && found->is_array() ? *found : none;
}

std::vector<std::string> Strings(const Json& value, std::string_view field) {
  std::vector<std::string> out;
  for (const Json& item : Items(value, field)) {
    if (item.is_string()) out.push_back(item.get<std::string>());
  }
  return out;
}

// What can be asked for: its path has all its parts.
bool IsUsable(const Resource& r) {
  auto part = [](const std::string& name) { return !name.empty() && name.find('/') == name.npos; };
  return part(r.plural) && part(r.version) && !r.kind.empty();
}

void ReadAggregated(const Json& list, Discovery& out) {
  for (const Json& group : Items(list, "items")) {
    std::string name = GetString(group, {"metadata", "name"});
    for (const Json& version : Items(group, "versions")) {
      if (GetString(version, {"freshness"}) == "Stale") out.stale.insert(name);
      for (const Json& entry : Items(version, "resources")) {
        Resource r{.group = name,
                   .version = GetString(version, {"version"}),
                   .plural = GetString(entry, {"resource"}),
                   .kind = GetString(entry, {"responseKind", "kind"}),
                   .namespaced = GetString(entry, {"scope"}) == "Namespaced",
                   .verbs = Strings(entry, "verbs"),
                   .subresources = {}};
        if (!IsUsable(r)) continue;  // without a kind: known by its subresources alone
        for (const Json& sub : Items(entry, "subresources")) r.subresources.push_back(GetString(sub, {"subresource"}));
        out.resources.push_back(std::move(r));
      }
    }
  }
}

// APIResourceList: subresources are entries of their own, "deployments/status".
void ReadResourceList(const Json& list, const GroupVersion& gv, Discovery& out) {
  size_t first = out.resources.size();
  for (const Json& entry : Items(list, "resources")) {
    std::string name = GetString(entry, {"name"});
    Resource r{.group = gv.group,
               .version = gv.version,
               .plural = name,
               .kind = GetString(entry, {"kind"}),
               .namespaced = GetBool(entry, {"namespaced"}),
               .verbs = Strings(entry, "verbs"),
               .subresources = {}};
    if (IsUsable(r)) out.resources.push_back(std::move(r));
  }
  for (const Json& entry : Items(list, "resources")) {
    std::string name = GetString(entry, {"name"});
    size_t slash = name.find('/');
    if (slash == name.npos) continue;
    auto parent = std::find_if(out.resources.begin() + static_cast<std::ptrdiff_t>(first), out.resources.end(),
                               [&](const Resource& r) { return r.plural == name.substr(0, slash); });
    if (parent != out.resources.end()) parent->subresources.push_back(name.substr(slash + 1));
  }
}

// A server without these paths is none that could say which kinds there are: whoever stands before it has answered.
Result<Json> GetJson(const Context& ctx, const DiscoveryGetter& get, const std::string& path, std::string_view accept) {
  auto answer = get(ctx, path, accept);
  if (!answer.ok() && answer.code() == Code::kNotFound) answer = Error{Code::kUnavailable, answer.error().message, {}};
  std::string body = TRY_WITH(std::move(answer), "discovery of " + path);
  return TRY_WITH(ParseJson(body), "discovery of " + path);
}

// One group and version of a server without aggregated discovery.
Status AskVersion(const Context& ctx, const DiscoveryGetter& get, const GroupVersion& gv, Discovery& out) {
  std::string path = (gv.group.empty() ? "/api/" : "/apis/") + gv.ToString();
  Result<Json> list = GetJson(ctx, get, path, kPlain);
  if (list.ok()) {
    ReadResourceList(*list, gv, out);
    return Ok();
  }
  TRY(ctx.Check());
  out.stale.insert(gv.group);
  return Ok();
}

// The versions of an APIGroup, the preferred one first.
std::vector<std::string> VersionsOf(const Json& group) {
  std::vector<std::string> out;
  for (const Json& version : Items(group, "versions")) out.push_back(GetString(version, {"version"}));
  auto preferred = std::find(out.begin(), out.end(), GetString(group, {"preferredVersion", "version"}));
  if (preferred != out.end()) std::rotate(out.begin(), preferred, preferred + 1);
  return out;
}

}  // namespace

Result<Discovery> Discover(const Context& ctx, const DiscoveryGetter& get) {
  Discovery out;
  for (const char* root : {"/api", "/apis"}) {
    Json answer = TRY(GetJson(ctx, get, root, kAggregated));
    if (GetString(answer, {"kind"}) == "APIGroupDiscoveryList") {
      ReadAggregated(answer, out);
      continue;
    }
    for (const std::string& version : Strings(answer, "versions")) TRY(AskVersion(ctx, get, {"", version}, out));
    for (const Json& group : Items(answer, "groups")) {
      for (const std::string& version : VersionsOf(group)) {
        TRY(AskVersion(ctx, get, {GetString(group, {"name"}), version}, out));
      }
    }
  }
  return out;
}

}  // namespace capi::kube
