#include "lifecycle/storage_migration.h"

#include <fmt/core.h>

#include <algorithm>

#include "kube/client/status_error.h"
#include "kube/meta/kind.h"
#include "lifecycle/in_use.h"

namespace capi::lifecycle {
namespace {

constexpr int kPage = 250;
constexpr Millis kPause{5};  // between objects: at most 200 a second, and the server's other clients come in between
constexpr size_t kMostFailed = 20;  // objects that can't be written: then it isn't theirs
constexpr int kTries = 5;           // of the last write, against others who write the CRD's status

const kube::Resource& Crds() { return kube::Builtin("CustomResourceDefinition"); }

Error Changed(const std::string& crd) {
  return {Code::kConflict, fmt::format("{} changed while its objects were migrated", crd), {}};
}

}  // namespace

Result<StorageMigration::Mark> StorageMigration::Look(const Context& ctx, const std::string& name) {
  kube::Object crd = TRY(client_.Get(ctx, Crds(), "", name));
  Mark mark;
  mark.generation = crd.generation();
  mark.crd = StateOf(crd);
  if (mark.crd.storage.empty()) {
    return Error{Code::kFailedPrecondition, fmt::format("could not find storage version for CRD \"{}\"", name), {}};
  }
  mark.one_version = std::all_of(mark.crd.stored.begin(), mark.crd.stored.end(),
                                 [&](const std::string& version) { return version == mark.crd.storage; });
  return mark;
}

// One run over the objects of a CRD.
struct StorageMigration::Walk {
  kube::Resource resource;
  std::string subresource;
  MigrationCursor& cursor;
  const GoOn& go_on;
  std::optional<Error> error = {};  // of the first object that can't be written
  Status GoesOn() const { return go_on ? go_on() : Ok(); }
};

Result<std::string> StorageMigration::Migrate(const Context& ctx, const std::string& name, MigrationCursor& cursor,
                                              const GoOn& go_on) {
  auto mark = Look(ctx, name);
  if (!mark.ok() && kube::IsGone(mark.error())) return std::string();
  if (!mark.ok()) return mark.error().With(name);
  const Mark& before = *mark;
  const CrdState& crd = before.crd;
  if (before.one_version) return crd.resource_version;
  if (cursor.storage != crd.storage || cursor.generation != before.generation) {
    cursor = {crd.storage, before.generation};
  }
  // Objects are read and written at the stored version where it is served: then only those need a conversion that are
  // stored at another.
  bool served = std::find(crd.served.begin(), crd.served.end(), crd.storage) != crd.served.end();
  if (!served && crd.served.empty()) {
    return Error{Code::kFailedPrecondition, name + " serves no version, so its objects can't be read", {}};
  }
  Walk walk{{}, crd.has_status && served ? "status" : "", cursor, go_on};
  walk.resource.group = crd.group;
  walk.resource.version = served ? crd.storage : crd.served.front();
  walk.resource.plural = crd.plural;
  walk.resource.kind = crd.kind;
  walk.resource.namespaced = crd.namespaced;
  TRY_WITH(RewriteFailed(ctx, walk), name);
  TRY_WITH(RewriteAll(ctx, walk), name);
  if (walk.error) return *walk.error;
  TRY(walk.GoesOn());
  return Trim(ctx, before);
}

// What failed the last time comes first: as long as it does, there is little use in going on.
Status StorageMigration::RewriteFailed(const Context& ctx, Walk& walk) {
  std::vector<std::string> again;
  again.swap(walk.cursor.failed);
  for (size_t i = 0; i < again.size(); ++i) {
    auto written = Rewrite(ctx, walk, again[i]);
    if (written.ok()) written = walk.GoesOn();
    if (written.ok()) continue;
    walk.cursor.failed.insert(walk.cursor.failed.end(), again.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                              again.end());
    return written;
  }
  return Ok();
}

// A page's token is good for some minutes. When it is too old, the listing goes on at a later version: what has come
// since is stored as it should be. Where the server has no other token the names are read from the start. Those that
// come before where it stands are passed by: the server sorts them.
Status StorageMigration::RewriteAll(const Context& ctx, Walk& walk) {
  const kube::ListOptions options{.limit = kPage, .metadata_only = true, .managed_fields = false, .may_change = true};
  for (std::string began_at = "-";;) {
    TRY(walk.GoesOn());
    Status all = client_.ForEach(ctx, walk.resource, "", options,
                                 [&](const kube::Object& object) { return RewriteNext(ctx, walk, object); });
    if (all.ok() || all.code() != Code::kGone || began_at == walk.cursor.last) return all;
    began_at = walk.cursor.last;
  }
}

Result<bool> StorageMigration::RewriteNext(const Context& ctx, Walk& walk, const kube::Object& item) {
  std::string object = item.ns().empty() ? item.name() : item.ns() + "/" + item.name();
  if (object <= walk.cursor.last) {
    TRY(walk.GoesOn());
    return true;
  }
  auto written = Rewrite(ctx, walk, object);
  TRY(ctx.Check());
  walk.cursor.last = object;
  ++walk.cursor.objects;
  TRY(walk.GoesOn());
  if (!written.ok() && walk.cursor.failed.size() >= kMostFailed) return written.error();
  return true;
}

// Through /status where there is one: no admission webhook of the provider stands in the way, and none changes the
// spec.
Status StorageMigration::Rewrite(const Context& ctx, Walk& walk, const std::string& object) {
  size_t slash = object.find('/');
  std::string ns = slash == object.npos ? "" : object.substr(0, slash);
  std::string name = slash == object.npos ? object : object.substr(slash + 1);
  kube::WriteOptions options{.field_manager = field_manager_};
  options.subresource = walk.subresource;
  options.metadata_only = true;
  if (!ctx.clock->Sleep(ctx.stop, kPause)) TRY(ctx.Check());
  auto written = client_.Patch(ctx, walk.resource, ns, name, kube::PatchType::kMerge, Json::object(), options);
  // Who changes it at the same time writes it at the stored version.
  if (written.ok() || written.code() == Code::kConflict) return Ok();
  auto gone = written.code() == Code::kNotFound ? HasGone(ctx, walk, ns, name) : Result<bool>(false);
  if (gone.ok() && *gone) return Ok();
  walk.cursor.failed.push_back(object);
  Error error = (gone.ok() ? written.error() : gone.error()).With(fmt::format("{} {}", walk.resource.kind, object));
  if (!walk.error) walk.error = error;
  return error;
}

// The server answers 404 also where there is no such subresource, or no such version any more (or not yet: of several
// API servers each hears of a CRD by itself): only one that is about the object says that it has gone.
Result<bool> StorageMigration::HasGone(const Context& ctx, const Walk& walk, const std::string& ns,
                                       const std::string& name) {
  auto live = client_.Get(ctx, walk.resource, ns, name, {.metadata_only = true});
  if (live.ok()) return false;
  if (kube::IsGone(live.error())) return true;
  return live.error();
}

Result<std::string> StorageMigration::Trim(const Context& ctx, const Mark& before) {
  const std::string& name = before.crd.name;
  for (int left = kTries;; --left) {
    Mark now = TRY_WITH(Look(ctx, name), name);
    if (now.one_version) return now.crd.resource_version;
    if (now.generation != before.generation || now.crd.storage != before.crd.storage) return Changed(name);
    Json patch = {{"metadata", {{"resourceVersion", now.crd.resource_version}}},
                  {"status", {{"storedVersions", Json::array({now.crd.storage})}}}};
    kube::WriteOptions options{.field_manager = field_manager_};
    options.subresource = "status";
    options.metadata_only = true;
    auto written = client_.Patch(ctx, Crds(), "", name, kube::PatchType::kMerge, patch, options);
    if (written.ok()) return written->resource_version();
    if (written.code() != Code::kConflict || left == 0) return written.error().With(name);
  }
}

Result<CrdStates> LiveCrds(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests) {
  CrdStates out;
  for (const kube::Manifest& manifest : manifests) {
    if (!kube::IsCrd(manifest.id)) continue;
    const auto crd = TRY_WITH(ReadCrd(client, ctx, manifest.id.name), manifest.id.ToString());
    if (crd) out[manifest.id.name] = StateOf(*crd);
  }
  return out;
}

}  // namespace capi::lifecycle
