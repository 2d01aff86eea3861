#include "cli/upgrade/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr size_t kMostPaths = 4;       // in a line
constexpr size_t kMostDifferent = 50;  // of an object: the rest is as telling

std::string Join(const std::string& path, const std::string& key) {
  bool plain =
      std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  return plain ? path + "." + key : fmt::format("{}[\"{}\"]", path, key);
}

void ComparePaths(const Json& before, const Json& after, const std::string& path, std::vector<std::string>& out);

void CompareMaps(const Json& before, const Json& after, const std::string& path, std::vector<std::string>& out) {
  for (const auto& [key, value] : before.items()) {
    auto other = after.find(key);
    if (other == after.end()) {
      out.push_back(Join(path, key));
    } else {
      ComparePaths(value, *other, Join(path, key), out);
    }
  }
  for (const auto& [key, value] : after.items()) {
    if (!before.contains(key)) out.push_back(Join(path, key));
  }
}

void ComparePaths(const Json& before, const Json& after, const std::string& path, std::vector<std::string>& out) {
  if (out.size() >= kMostDifferent || before == after) return;
  if (before.is_object() && after.is_object()) return CompareMaps(before, after, path, out);
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (size_t i = 0; i < before.size(); ++i) ComparePaths(before[i], after[i], fmt::format("{}[{}]", path, i), out);
    return;
  }
  out.push_back(path);
}

std::map<kube::ObjectId, const kube::Object*> ById(const std::vector<kube::Object>& objects) {
  std::map<kube::ObjectId, const kube::Object*> out;
  for (const kube::Object& object : objects) out[object.id()] = &object;
  return out;
}

}  // namespace

std::vector<ObjectChange> CompareObjects(const std::vector<kube::Object>& before,
                                         const std::vector<kube::Object>& after) {
  std::vector<ObjectChange> out;
  const auto olds = ById(before), news = ById(after);
  for (const auto& [id, object] : news) {
    auto old = olds.find(id);
    if (old == olds.end()) {
      out.push_back({ObjectChange::Kind::kAdded, id.ToString(), {}});
      continue;
    }
    std::vector<std::string> paths;
    ComparePaths(old->second->json(), object->json(), "", paths);
    if (!paths.empty()) out.push_back({ObjectChange::Kind::kChanged, id.ToString(), std::move(paths)});
  }
  for (const auto& [id, object] : olds) {
    if (!news.contains(id)) out.push_back({ObjectChange::Kind::kRemoved, id.ToString(), {}});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.object < b.object; });
  return out;
}

std::string AsLines(const std::vector<ObjectChange>& changes) {
  std::string out;
  for (const ObjectChange& change : changes) {
    char sign = change.kind == ObjectChange::Kind::kAdded     ? '+'
                : change.kind == ObjectChange::Kind::kRemoved ? '-'
                                                              : '~';
    out += fmt::format("  {} {}", sign, change.object);
    if (!change.paths.empty()) out += ": " + JoinNames(change.paths, kMostPaths);
    out += '\n';
  }
  return out;
}

}  // namespace capi::cli
