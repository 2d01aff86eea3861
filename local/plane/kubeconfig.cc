#include "local/plane/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/yaml/yaml.h"
#include "local/plane/authority.h"

namespace capi::local {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLists[] = {"clusters", "users", "contexts"};
constexpr char kCurrent[] = "current-context";
constexpr size_t kMostBytes = 16u << 20;
constexpr int kMostLinks = 16;

Json* Named(Json& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Json& one) { return GetString(one, {"name"}) == name; });
  return found == list.end() ? nullptr : &*found;
}

// A list that is missing is empty, as for every reader of such files.
Status CheckIsKubeconfig(const std::string& path, Json& config) {
  const Error none{Code::kInvalidArgument, fmt::format("{} is no kubeconfig", path), {}};
  if (!config.is_object()) return none;
  for (const char* list : kLists) {
    Json& entries = config[list];
    if (entries.is_null()) entries = Json::array();
    if (!entries.is_array()) return none;
  }
  return Ok();
}

// Somebody has put a link there; the file that it leads to may be gone, or not be there yet.
std::string BehindLinks(fs::path path) {
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(path, error); ++links) {
    const fs::path to = fs::read_symlink(path, error);
    if (error) break;
    path = to.is_absolute() ? to : path.parent_path() / to;
  }
  return path.string();
}

void PutEntry(Json& list, const Json& entry) {
  Json* found = Named(list, GetString(entry, {"name"}));
  if (found == nullptr) {
    list.push_back(entry);
    return;
  }
  const std::string ns = GetString(*found, {"context", "namespace"});
  *found = entry;
  if (!ns.empty()) (*found)["context"]["namespace"] = ns;
}

}  // namespace

Status PutIntoKubeconfig(const std::string& path, const std::string& own) {
  const std::string target = BehindLinks(path);
  std::error_code error;
  if (fs::exists(target, error) && !fs::is_regular_file(target, error))
    return Error{Code::kInvalidArgument, fmt::format("{} is no file", target), {}};
  const auto text = ReadFile(target, kMostBytes);
  if (!text.ok() && text.code() != Code::kNotFound) return text.error();
  Json there = text.ok() ? TRY_WITH(ParseYaml(*text), path) : Json();
  if (there.is_null()) return WriteFile(target, own, 0600);
  const Json ours = TRY(ParseYaml(own));
  const Json before = there;
  TRY(CheckIsKubeconfig(path, there));
  for (const char* list : kLists) {
    for (const Json& entry : ours[list]) PutEntry(there[list], entry);
  }
  for (const char* member : {"apiVersion", "kind", kCurrent}) {
    if (GetString(there, {member}).empty()) there[member] = ours[member];
  }
  return there == before ? Ok() : WriteFile(target, ToYaml(there), 0600);
}

Leads WhereLeads(const std::string& path, const std::string& own_path) {
  const auto text = ReadFile(path, kMostBytes), own = ReadFile(own_path, kMostBytes);
  if (!text.ok() || !own.ok()) return Leads::kElsewhere;
  auto there = ParseYaml(*text), ours = ParseYaml(*own);
  if (!there.ok() || !ours.ok() || !CheckIsKubeconfig(path, *there).ok()) return Leads::kElsewhere;
  for (const char* list : kLists) {
    for (const Json& entry : (*ours)[list]) {
      Json* found = Named((*there)[list], GetString(entry, {"name"}));
      if (found == nullptr) return Leads::kElsewhere;
      if (Json* context = Find(*found, {"context"}); context != nullptr && context->is_object())
        context->erase("namespace");
      if (*found != entry) return Leads::kElsewhere;
    }
  }
  return GetString(*there, {kCurrent}) == kContext ? Leads::kToThePlane : Leads::kByItsContext;
}

}  // namespace capi::local
