#include "kube/apply/apply.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/run_all.h"
#include "base/strings.h"
#include "kube/apply/outcomes.h"
#include "kube/apply/replace.h"
#include "kube/apply/served.h"
#include "kube/client/status_error.h"
#include "kube/client/warnings.h"
#include "kube/meta/kind.h"

namespace capi::kube {
namespace {

constexpr Seconds kServingLimit{30};  // until a CRD that was just applied is served
constexpr int kRetries = 3;
constexpr Millis kFirstWait{20};
constexpr Millis kLongestWait{500};

// Indices by wave, in the order of an apply.
template <typename Range, typename IdOf>
std::map<int, std::vector<size_t>> Waves(const Range& range, IdOf id_of) {
  std::map<int, std::vector<size_t>> waves;
  for (size_t i = 0; i < range.size(); ++i) waves[WaveOf(id_of(range[i]).group_kind())].push_back(i);
  return waves;
}

// Runs `work` for each index, at most `parallel` at once.
void RunSideBySide(size_t parallel, const std::vector<size_t>& indices, const std::function<void(size_t)>& work) {
  std::vector<std::function<void()>> tasks;
  for (size_t index : indices) tasks.push_back([&work, index] { work(index); });
  RunAll(parallel, tasks);
}

std::string VersionOf(const Manifest& manifest) { return GroupVersion::Parse(manifest.api_version).version; }

// Kinds and versions whose CRD is among the manifests.
class OwnKinds {
 public:
  explicit OwnKinds(const std::vector<Manifest>& manifests) {
    for (const Manifest& manifest : manifests) {
      for (const std::string& version : manifest.crd_versions) {
        kinds_.insert({{manifest.crd_group, manifest.crd_kind}, version});
      }
    }
  }
  bool Have(const Manifest& manifest) const { return kinds_.contains({manifest.id.group_kind(), VersionOf(manifest)}); }

 private:
  std::set<std::pair<GroupKind, std::string>> kinds_;
};

// The CRD of clusterctl's inventory is made just before, where the cluster lacks it.
bool Comes(const Manifest& manifest) { return StageOf(manifest.id.group_kind()) == Stage::kRecord; }

// A resource that isn't served (yet) is a 404 like an object that isn't there; a namespace that is missing is named.
bool NotServed(const Result<Object>& answer) {
  return !answer.ok() && answer.code() == Code::kNotFound && !answer.error().message.starts_with("namespaces \"");
}

// One request and what it may lead to.
class ObjectApply {
 public:
  ObjectApply(Client& client, const Context& ctx, const WriteOptions& options, const OwnKinds& own,
              const LeftBehind* left_behind = nullptr)
      : client_(client), ctx_(ctx), options_(options), own_(own), left_behind_(left_behind) {}

  // Retries a kind of ours until its CRD is served. One that isn't has gone: the next try asks where it is.
  Result<Object> Run(const Manifest& manifest) const {
    auto done = Persistently(manifest);
    if (options_.dry_run) return done;
    bool comes = own_.Have(manifest) || Comes(manifest);
    Context bounded = ctx_.WithTimeout(kServingLimit);
    for (Millis wait = kFirstWait; comes && NotServed(done); wait = std::min(wait * 2, kLongestWait)) {
      if (!bounded.Check().ok() || !ctx_.clock->Sleep(ctx_.stop, wait)) break;
      done = Persistently(manifest);
    }
    // Not where it is the mapper that knows no such kind: it has just asked, or counts what an apply of the kind's CRD
    // has taught it, for half a minute at most.
    if (!done.ok() && IsNoSuchPath(done.error())) client_.mapper().Forget(manifest.id.group_kind());
    return done;
  }

 private:
  // An apply can be repeated as it is. One conflict isn't worth a new pass over the whole release, which might never
  // end when they are frequent (behaviour.md F3).
  Result<Object> Persistently(const Manifest& manifest) const {
    auto done = Once(manifest);
    Millis wait = kFirstWait;
    for (int retry = 0; retry < kRetries && !done.ok() && done.code() == Code::kConflict; ++retry, wait *= 2) {
      if (!ctx_.clock->Sleep(ctx_.stop, wait)) break;
      done = Once(manifest);
    }
    return done;
  }

  Result<Object> Once(const Manifest& manifest) const {
    TRY(ctx_.Check());
    auto resource = TRY(client_.mapper().For(ctx_, manifest.id.group_kind(), VersionOf(manifest)));
    auto applied = client_.ApplyText(ctx_, resource, manifest.id.ns, manifest.id.name, manifest.text, options_);
    if (applied.ok() || applied.code() != Code::kInvalidArgument) return applied;
    return ApplyByReplacing(client_, ctx_, {resource, manifest, options_, applied.error(), left_behind_});
  }

  Client& client_;
  const Context& ctx_;
  const WriteOptions& options_;
  const OwnKinds& own_;
  const LeftBehind* left_behind_;
};

// The object was made by this apply, as far as the answer tells: nobody but us has written it, and only then.
bool WasCreated(const Object& answer, std::string_view manager) {
  const Json* entries = Find(answer.json(), {"metadata", "managedFields"});
  if (entries == nullptr || entries->size() != 1 || GetString(entries->front(), {"manager"}) != manager) return false;
  auto made = ParseTime(GetString(answer.json(), {"metadata", "creationTimestamp"}));
  auto written = ParseTime(GetString(entries->front(), {"time"}));
  return made.ok() && written.ok() && std::chrono::abs(*written - *made) <= Seconds(2);
}

void LearnCrd(RestMapper& mapper, const Manifest& crd) {
  if (!IsCrd(crd.id)) return;
  std::vector<Resource> versions;
  for (const std::string& version : crd.crd_versions) {
    versions.push_back({.group = crd.crd_group,
                        .version = version,
                        .plural = crd.crd_plural,
                        .kind = crd.crd_kind,
                        .namespaced = crd.crd_namespaced});
  }
  mapper.Learn({crd.crd_group, crd.crd_kind}, std::move(versions));
}

// What is live is what the manifest says, as far as the inventory knows.
bool IsCurrent(const Manifest& manifest, const InventoryEntry* entry) {
  return entry != nullptr && entry->hash == manifest.hash && !entry->fields.empty() && !entry->stale &&
         entry->version == VersionOf(manifest);
}

Outcome Applied(const Manifest& manifest, const InventoryEntry* before, const Object& answer,
                const std::string& manager) {
  bool created = (before == nullptr || !before->ever_applied()) && WasCreated(answer, manager);
  return {Change{.id = manifest.id,
                 .action = created ? Change::Action::kCreated : Change::Action::kConfigured,
                 .entry = {VersionOf(manifest), manifest.hash, FieldsHash(answer, manager)}},
          {}};
}

bool AnyFailed(const std::vector<Outcome>& outcomes) {
  return std::any_of(outcomes.begin(), outcomes.end(),
                     [](const Outcome& outcome) { return outcome.error.has_value(); });
}

std::vector<const Manifest*> WrittenCrds(const std::vector<Manifest>& manifests, const std::vector<Outcome>& outcomes) {
  std::vector<const Manifest*> written;
  for (size_t i = 0; i < manifests.size(); ++i) {
    const auto& change = outcomes[i].change;
    const bool is_written =
        change && (change->action == Change::Action::kCreated || change->action == Change::Action::kConfigured);
    if (is_written && IsCrd(manifests[i].id)) written.push_back(&manifests[i]);
  }
  return written;
}

// What keeps an object after its deletion; "" for nothing. The server gives every CRD a finalizer of its own then.
std::string WaitsFor(const Object& live) {
  std::vector<std::string> names;
  const Json* finalizers = Find(live.json(), {"metadata", "finalizers"});
  if (finalizers != nullptr && finalizers->is_array()) {
    for (const Json& name : *finalizers) {
      if (name.is_string()) names.push_back(name.get<std::string>());
    }
  }
  if (names.empty() && IsCrd(live)) return "its objects are being removed";
  return names.empty() ? "" : (names.size() == 1 ? "finalizer " : "finalizers ") + Join(names, ", ");
}

}  // namespace

std::vector<std::string> ReportableWarnings(const ObjectId& id, std::vector<std::string> warnings) {
  if (Is(id, "", "Secret"))
    std::erase_if(warnings, [](const std::string& warning) { return !IsFieldWarning(warning); });
  std::sort(warnings.begin(), warnings.end());
  warnings.erase(std::unique(warnings.begin(), warnings.end()), warnings.end());
  return warnings;
}

bool AnyRefused(const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const Change& change) { return change.refused; });
}

Applier::Applier(Client& client, ApplyOptions options) : client_(client), options_(std::move(options)) {}

Status Applier::Apply(const Context& ctx, const std::vector<Manifest>& manifests, const Inventory& current,
                      std::vector<Change>& changes, const LeftBehind& left_behind) {
  const OwnKinds own(manifests);
  const WriteOptions write{.field_manager = options_.field_manager, .metadata_only = true};
  std::vector<Outcome> outcomes(manifests.size());
  auto one = [&](size_t index) {
    const Manifest& manifest = manifests[index];
    const InventoryEntry* entry = current.Find(manifest.id);
    if (IsCurrent(manifest, entry)) {
      outcomes[index].change = Change{.id = manifest.id, .action = Change::Action::kUnchanged, .entry = *entry};
      return;
    }
    std::vector<std::string> warnings;
    WriteOptions options = write;
    options.warnings = &warnings;
    auto live = ObjectApply(client_, ctx, options, own, left_behind ? &left_behind : nullptr).Run(manifest);
    if (live.ok()) {
      if (options_.on_written) options_.on_written(manifest.id, live->resource_version());
      LearnCrd(client_.mapper(), manifest);
    }
    outcomes[index] =
        live.ok() ? Applied(manifest, entry, *live, options_.field_manager) : Failed(manifest.id, live.error());
    outcomes[index].change->warnings = ReportableWarnings(manifest.id, std::move(warnings));
  };
  std::optional<Stage> stage;
  for (const auto& [wave, indices] : Waves(manifests, [](const Manifest& manifest) { return manifest.id; })) {
    Stage next = StageOf(manifests[indices.front()].id.group_kind());
    if (stage && next != *stage && AnyFailed(outcomes)) break;
    if (next == Stage::kWorkloads && stage != next) AwaitServed(ctx, client_, WrittenCrds(manifests, outcomes));
    stage = next;
    RunSideBySide(options_.parallel, indices, one);
  }
  Collect(outcomes, changes);
  return Summarize(outcomes);
}

Status Applier::DryRun(const Context& ctx, const std::vector<Manifest>& manifests, std::vector<Change>* failed) {
  const OwnKinds own(manifests);
  const WriteOptions write{.field_manager = options_.field_manager, .dry_run = true, .metadata_only = true};
  const ObjectApply apply(client_, ctx, write, own);
  std::vector<Outcome> outcomes(manifests.size());
  std::vector<size_t> all;
  for (size_t i = 0; i < manifests.size(); ++i) all.push_back(i);
  RunSideBySide(options_.parallel, all, [&](size_t index) {
    const Manifest& manifest = manifests[index];
    auto answer = apply.Run(manifest);
    bool comes = own.Have(manifest) || Comes(manifest);
    if (answer.ok() || (comes && NotServed(answer))) return;  // its CRD comes with it
    outcomes[index] = Failed(manifest.id, answer.error());
  });
  if (failed != nullptr) Collect(outcomes, *failed);
  return Summarize(outcomes);
}

Status Applier::Delete(const Context& ctx, const std::vector<ObjectId>& ids,
                       const std::function<std::string(const Object& live)>& keep, std::vector<Change>& changes,
                       const std::string& propagation) {
  std::vector<Outcome> outcomes(ids.size());
  auto one = [&](size_t index) {
    const ObjectId& id = ids[index];
    auto change = DeleteOne(ctx, id, keep, propagation);
    outcomes[index] = change.ok() ? Outcome{*change, {}} : Failed(id, change.error());
  };
  auto waves = Waves(ids, [](const ObjectId& id) { return id; });
  for (auto wave = waves.rbegin(); wave != waves.rend(); ++wave) {
    RunSideBySide(options_.parallel, wave->second, one);
    if (AnyFailed(outcomes)) break;
  }
  Collect(outcomes, changes);
  return Summarize(outcomes);
}

// The object, by metadata, and where it is; null where there is none, or its kind has gone with its objects. That a
// version isn't served (any more) says nothing of the object, which another version has (X1).
Result<std::optional<Applier::Live>> Applier::Find(const Context& ctx, const ObjectId& id) {
  auto resource = client_.mapper().For(ctx, id.group_kind());
  for (bool anew = false;; anew = true) {
    if (!resource.ok() && resource.code() == Code::kNotFound) return std::optional<Live>();
    if (!resource.ok()) return resource.error();
    auto object = client_.Get(ctx, *resource, id.ns, id.name, {.metadata_only = true});
    if (object.ok()) return std::optional<Live>(Live{*std::move(resource), *std::move(object)});
    if (object.code() != Code::kNotFound) return object.error();
    const bool served = FindBuiltin(id.group_kind()) != nullptr || !IsNoSuchPath(object.error());
    if (served) return std::optional<Live>();
    // Of several API servers each hears of a CRD by itself.
    if (anew) {
      return Error{
          Code::kUnavailable,
          fmt::format("the API server names kind {} at {}, but doesn't serve it there; its CRD or the API server "
                      "is changing, and this is tried again",
                      id.kind, resource->api_version()),
          {}};
    }
    resource = client_.mapper().ForAnew(ctx, id.group_kind());
  }
}

Result<Change> Applier::DeleteOne(const Context& ctx, const ObjectId& id,
                                  const std::function<std::string(const Object& live)>& keep,
                                  const std::string& propagation) {
  TRY(ctx.Check());
  Change change{.id = id, .action = Change::Action::kDeleted};
  auto live = TRY(Find(ctx, id));
  if (!live) return change;
  if (keep) change.error = keep(live->object);
  if (!change.error.empty()) {
    change.action = Change::Action::kUnchanged;
    return change;
  }
  if (!live->object.deleting()) {
    DeleteOptions how{.propagation = propagation, .uid = live->object.uid()};
    auto deleted = client_.Delete(ctx, live->resource, id.ns, id.name, how);
    if (!deleted.ok() && deleted.code() == Code::kNotFound) return change;
    if (!deleted.ok()) return deleted.error();
    change.asked = true;
  }
  change.error = WaitsFor(live->object);
  if (!change.error.empty()) change.action = Change::Action::kDeleting;
  return change;
}

Result<std::vector<std::string>> Applier::MissingKinds(const Context& ctx, const std::vector<Manifest>& manifests) {
  const OwnKinds own(manifests);
  std::set<std::string> asked, missing;
  for (const Manifest& manifest : manifests) {
    std::string name = manifest.api_version + " " + manifest.id.kind;
    if (own.Have(manifest) || Comes(manifest) || !asked.insert(name).second) continue;
    auto resource = client_.mapper().For(ctx, manifest.id.group_kind(), VersionOf(manifest));
    if (!resource.ok() && resource.code() != Code::kNotFound) return resource.error().With(name);
    if (!resource.ok()) missing.insert(name);
  }
  return std::vector<std::string>(missing.begin(), missing.end());
}

}  // namespace capi::kube
