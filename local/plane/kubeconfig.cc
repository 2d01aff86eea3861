#include "local/plane/kubeconfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

constexpr const char* kLists[] = {"clusters", "users", "contexts"};

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

bool HasOthers(Json& config, Json& own) {
  return std::any_of(std::begin(kLists), std::end(kLists), [&](const char* list) {
    return std::any_of(config[list].begin(), config[list].end(),
                       [&](const Json& one) { return Named(own[list], GetString(one, {"name"})) == nullptr; });
  });
}

}  // namespace

Status PutIntoKubeconfig(const std::string& path, const std::string& own) {
  const auto text = ReadFile(path, 16u << 20);
  if (!text.ok() && text.code() != Code::kNotFound) return text.error();
  Json there = text.ok() ? TRY_WITH(ParseYaml(*text), path) : Json();
  if (there.is_null()) return WriteFile(path, own, 0600);
  Json ours = TRY(ParseYaml(own));
  const Json before = there;
  TRY(CheckIsKubeconfig(path, there));
  // Of a link the file that it leads to: somebody has put it there.
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  const std::string target = error ? path : real.string();
  if (!HasOthers(there, ours)) return *text == own ? Ok() : WriteFile(target, own, 0600);
  for (const char* list : kLists) {
    for (const Json& entry : ours[list]) {
      Json* found = Named(there[list], GetString(entry, {"name"}));
      if (found != nullptr) *found = entry;
      if (found == nullptr) there[list].push_back(entry);
    }
  }
  return there == before ? Ok() : WriteFile(target, ToYaml(there), 0600);
}

}  // namespace capi::local
