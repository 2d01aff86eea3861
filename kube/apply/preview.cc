#include "kube/apply/preview.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/run_all.h"
#include "kube/apply/outcomes.h"

namespace capi::kube {
namespace {

constexpr int kTries = 5;  // of a patch that somebody else's write comes before

// How an item of a list is told from its neighbours, where its name does that: "containers[manager]".
std::string Name(const Json& item, size_t index) {
  std::string name = item.is_object() ? GetString(item, {"name"}) : "";
  return name.empty() ? std::to_string(index) : name;
}

bool NamesDiffer(const Json& list) {
  std::set<std::string> names;
  for (const Json& item : list) {
    if (!item.is_object() || GetString(item, {"name"}).empty()) return false;
    if (!names.insert(GetString(item, {"name"})).second) return false;
  }
  return true;
}

void Compare(const Json& a, const Json& b, const std::string& path, std::set<std::string>& paths);

void CompareLists(const Json& a, const Json& b, const std::string& path, std::set<std::string>& paths) {
  if (a.size() != b.size() && !(NamesDiffer(a) && NamesDiffer(b))) {
    paths.insert(path);
    return;
  }
  if (!NamesDiffer(a) || !NamesDiffer(b)) {
    for (size_t i = 0; i < a.size(); ++i) Compare(a[i], b[i], fmt::format("{}[{}]", path, Name(a[i], i)), paths);
    return;
  }
  Json by_name_a = Json::object(), by_name_b = Json::object();
  for (const Json& item : a) by_name_a[GetString(item, {"name"})] = item;
  for (const Json& item : b) by_name_b[GetString(item, {"name"})] = item;
  for (const auto& [name, item] : by_name_a.items()) {
    std::string place = fmt::format("{}[{}]", path, name);
    by_name_b.contains(name) ? Compare(item, by_name_b[name], place, paths) : void(paths.insert(place));
  }
  for (const auto& [name, item] : by_name_b.items()) {
    if (!by_name_a.contains(name)) paths.insert(fmt::format("{}[{}]", path, name));
  }
}

void Compare(const Json& a, const Json& b, const std::string& path, std::set<std::string>& paths) {
  if (a == b) return;
  if (a.is_array() && b.is_array()) return CompareLists(a, b, path, paths);
  if (!a.is_object() || !b.is_object()) {
    paths.insert(path);
    return;
  }
  auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : a.items()) {
    auto other = b.find(key);
    other == b.end() ? void(paths.insert(below(key))) : Compare(value, *other, below(key), paths);
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key)) paths.insert(below(key));
  }
}

// The live object with its fields taken over; nullopt where it isn't there.
Result<std::optional<Object>> TakenOver(Client& client, const Context& ctx, const Resource& resource,
                                        const ObjectId& id, const PreviewOptions& options) {
  for (int tries = 1;; ++tries) {
    auto live = client.Get(ctx, resource, id.ns, id.name);
    if (!live.ok() && live.code() == Code::kNotFound) return std::optional<Object>();
    if (!live.ok()) return live.error();
    auto patch = TakeOverPatch(*live, options.field_manager, options.former, options.owner_group);
    if (!patch) return std::optional<Object>(std::move(*live));
    auto patched = client.Patch(ctx, resource, id.ns, id.name, PatchType::kMerge, *patch,
                                {.field_manager = options.field_manager});
    if (patched.ok()) return std::optional<Object>(std::move(*patched));
    if (patched.code() != Code::kConflict || tries == kTries) return patched.error();
  }
}

Result<std::optional<Difference>> PreviewOne(Client& client, const Context& ctx, const Manifest& manifest,
                                             const PreviewOptions& options) {
  const ObjectId& id = manifest.id;
  auto resource = TRY(client.mapper().For(ctx, id.group_kind(), GroupVersion::Parse(manifest.api_version).version));
  std::optional<Object> live = TRY(TakenOver(client, ctx, resource, id, options));
  if (!live) return std::optional<Difference>(Difference{id, true, {}});
  Object next = TRY(client.ApplyText(ctx, resource, id.ns, id.name, manifest.text,
                                     {.field_manager = options.field_manager, .dry_run = true}));
  Difference difference{id, false, DifferingPaths(std::move(*live), std::move(next))};
  if (difference.paths.empty()) return std::optional<Difference>();
  return std::optional<Difference>(std::move(difference));
}

}  // namespace

void DropServersOwn(Object& object) {
  DropPlaceholderCaBundles(object);
  object.json().erase("status");
  if (Json* annotations = Find(object.json(), {"metadata", "annotations"}); annotations && annotations->is_object()) {
    annotations->erase("deployment.kubernetes.io/revision");
    if (annotations->empty()) object.json()["metadata"].erase("annotations");
  }
  Json* metadata = Find(object.json(), {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return;
  for (const char* key : {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"}) {
    metadata->erase(key);
  }
}

std::vector<std::string> DifferingPaths(Object a, Object b) {
  DropServersOwn(a);
  DropServersOwn(b);
  std::set<std::string> paths;
  Compare(a.json(), b.json(), "", paths);
  return {paths.begin(), paths.end()};
}

Result<std::vector<Difference>> PreviewTakeOver(Client& client, const Context& ctx,
                                                const std::vector<Manifest>& manifests, const PreviewOptions& options,
                                                std::vector<Change>& failed) {
  std::vector<std::optional<Difference>> found(manifests.size());
  std::vector<Outcome> outcomes(manifests.size());
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < manifests.size(); ++i) {
    tasks.push_back([&, i] {
      auto result = PreviewOne(client, ctx, manifests[i], options);
      if (result.ok()) {
        found[i] = *std::move(result);
      } else {
        outcomes[i] = Failed(manifests[i].id, result.error());
      }
    });
  }
  RunAll(options.parallel, tasks);
  Collect(outcomes, failed);
  TRY(Summarize(outcomes));
  std::vector<Difference> differences;
  for (auto& difference : found) {
    if (difference) differences.push_back(*std::move(difference));
  }
  return differences;
}

Status TakeOver(Client& client, const Context& ctx, const ObjectId& id, const PreviewOptions& options) {
  auto resource = TRY(client.mapper().For(ctx, id.group_kind()));
  TRY(TakenOver(client, ctx, resource, id, options));
  return Ok();
}

Status TakeOverAll(Client& client, const Context& ctx, const std::vector<Manifest>& manifests,
                   const PreviewOptions& options) {
  std::vector<Outcome> outcomes(manifests.size());
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < manifests.size(); ++i) {
    tasks.push_back([&, i] {
      auto taken = TakeOver(client, ctx, manifests[i].id, options);
      if (!taken.ok() && taken.code() != Code::kNotFound) outcomes[i] = Failed(manifests[i].id, taken.error());
    });
  }
  RunAll(options.parallel, tasks);
  return Summarize(outcomes);
}

}  // namespace capi::kube
