#include "operator/decide/drift.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/kinds.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "kube/apply/apply.h"

namespace capi::ops {
namespace {

constexpr const char* kTrace = "trace";  // a member that no Kubernetes object has
constexpr size_t kMaxChanged = 2048;     // bytes of a foreign entry that are kept
constexpr size_t kMaxPaths = 8;

std::string WriterOf(const Json& entry) {
  return fmt::format("{} ({})", GetString(entry, {"manager"}), GetString(entry, {"operation"}));
}

Trace Compute(const kube::Object& object) {
  Trace trace{.fields = kube::FieldsHash(object, api::kFieldManager)};
  trace.scaled_by = lifecycle::ScaledBy(object);
  trace.marks = MarksIn(object);
  const Json* entries = Find(object.json(), {"metadata", "managedFields"});
  if (entries == nullptr || !entries->is_array()) return trace;
  const Json* last = nullptr;
  std::string ours;
  for (const Json& entry : *entries) {
    std::string part = GetString(entry, {"subresource"}), manager = GetString(entry, {"manager"});
    if (manager == api::kFieldManager) {
      if (part.empty()) ours = std::max(ours, GetString(entry, {"time"}));
      continue;
    }
    if (!part.empty() && part != "scale") continue;  // status is nobody's concern
    if (last == nullptr || GetString(*last, {"time"}) <= GetString(entry, {"time"})) last = &entry;
  }
  // Times have seconds: who wrote in ours may have written after us.
  if (last == nullptr || GetString(*last, {"time"}) < ours) return trace;
  trace.by = WriterOf(*last);
  const Json* fields = Find(*last, {"fieldsV1"});
  if (fields != nullptr && ToJsonText(*fields).size() <= kMaxChanged) trace.changed = *fields;
  return trace;
}

std::string KeyText(const Json& keys) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : keys.items()) {
    parts.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : ToJsonText(value)));
  }
  return "[" + Join(parts, ",") + "]";
}

const Json* ItemWith(const Json& list, const Json& keys) {
  for (const Json& item : list) {
    bool has = item.is_object() && std::all_of(keys.items().begin(), keys.items().end(), [&](const auto& key) {
                 auto member = item.find(key.key());
                 return member != item.end() && *member == key.value();
               });
    if (has) return &item;
  }
  return nullptr;
}

// `where` is the path so far; "f:NAME" and "k:{KEYS}" lead down, "." and "v:VALUE" stand for the place itself.
void Collect(const Json& fields, const Json& manifest, const std::string& where, std::vector<std::string>& out) {
  for (const auto& [step, below] : fields.items()) {
    if (out.size() >= kMaxPaths) return;
    std::string rest = step.substr(std::min<size_t>(2, step.size()));
    const Json* part = nullptr;
    std::string path;
    if (step.starts_with("f:") && manifest.contains(rest)) {
      part = &manifest[rest];
      path = where + "." + rest;
    } else if (step.starts_with("k:") && manifest.is_array()) {
      auto keys = ParseJson(rest);
      if (keys.ok() && keys->is_object()) part = ItemWith(manifest, *keys);
      if (part != nullptr) path = where + KeyText(*keys);
    }
    if (part == nullptr) continue;
    bool leaf = !below.is_object() || below.empty() || !part->is_structured();
    leaf ? out.push_back(path) : Collect(below, *part, path, out);
  }
}

}  // namespace

void KeepTrace(kube::Object& object) {
  Trace trace = Compute(object);
  Json kept = {{"fields", trace.fields}};
  if (!trace.by.empty()) kept["by"] = trace.by;
  if (!trace.changed.is_null()) kept["changed"] = ToJsonText(trace.changed);  // a text is smaller than a tree
  if (!trace.scaled_by.empty()) kept["scaled"] = trace.scaled_by;
  if (Json marks = AsJson(trace.marks); !marks.is_null()) kept["marks"] = std::move(marks);
  object.json()[kTrace] = std::move(kept);
  kube::DropManagedFields(object);
}

Trace TraceOf(const kube::Object& slimmed) {
  const Json& json = slimmed.json();
  Trace trace{.fields = GetString(json, {kTrace, "fields"}),
              .by = GetString(json, {kTrace, "by"}),
              .scaled_by = GetString(json, {kTrace, "scaled"})};
  if (const Json* marks = capi::Find(json, {kTrace, "marks"})) trace.marks = MarksFrom(*marks);
  auto changed = ParseJson(GetString(json, {kTrace, "changed"}));
  if (changed.ok()) trace.changed = std::move(changed).value();
  return trace;
}

void SlimToTrace(kube::Object& object) {
  KeepTrace(object);
  kube::Object slim = kube::IdentityOf(object);
  if (const Json* going = Find(object.json(), {"metadata", "deletionTimestamp"})) {
    slim.json()["metadata"]["deletionTimestamp"] = *going;
  }
  if (object.has_label(api::kLabelProvider)) slim.set_label(api::kLabelProvider, object.label(api::kLabelProvider));
  slim.json()[kTrace] = object.json().at(kTrace);
  object = std::move(slim);
}

std::string Drift::Signature() const {
  if (missing) return "deleted";
  // What is left of our own fields says as well what was changed, where the writer's don't.
  return trace.by + " " + (trace.changed.is_null() ? trace.fields : Sha256Hex(ToJsonText(trace.changed)).substr(0, 16));
}

std::vector<std::string> PathsIn(const Json& fields, const Json& manifest) {
  std::vector<std::string> paths;
  if (fields.is_object()) Collect(fields, manifest, "", paths);
  return paths;
}

std::string Describe(const Drift& drift, const std::vector<std::string>& paths) {
  if (drift.missing) return fmt::format("{} was deleted", drift.id.ToString());
  std::string by = drift.trace.by.empty() ? "somebody (managedFields don't tell who)" : drift.trace.by;
  if (paths.empty()) return fmt::format("fields of {} were changed or removed by {}", drift.id.ToString(), by);
  return fmt::format("{} of {} {} changed by {}", Join(paths, ", "), drift.id.ToString(),
                     paths.size() == 1 ? "was" : "were", by);
}

}  // namespace capi::ops
