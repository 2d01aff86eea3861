#include "cli/move/transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/move/checks.h"
#include "cli/move/copy.h"
#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

bool IsRoot(const Node& node) { return node.role == Role::kCluster || node.role == Role::kClusterClass; }

Json ListOf(const kube::Object& object, const char* field) {
  const Json* list = Find(object.json(), {"metadata", field});
  return list != nullptr && list->is_array() ? *list : Json::array();
}

// Of two owners: no two of one kind have the same name.
bool IsSameName(const Json& a, const Json& b) {
  auto group = [](const Json& owner) { return kube::GroupVersion::Parse(GetString(owner, {"apiVersion"})).group; };
  return GetString(a, {"kind"}) == GetString(b, {"kind"}) && GetString(a, {"name"}) == GetString(b, {"name"}) &&
         group(a) == group(b);
}

// Owners of `copy`, and those that `there` has of other names.
Json OwnersOfBoth(const kube::Object& copy, const kube::Object& there) {
  Json out = ListOf(copy, "ownerReferences");
  for (const Json& owner : ListOf(there, "ownerReferences")) {
    if (std::none_of(out.begin(), out.end(), [&](const Json& known) { return IsSameName(known, owner); }))
      out.push_back(owner);
  }
  return out;
}

// Whether it may be the copy that a run which was taken over still made when its owners were gone from the target: all
// of them, whose names others have now. Nobody but a move lets go of it.
bool IsLate(const kube::Object& copy, const kube::Object& there) {
  const Json owners = ListOf(there, "ownerReferences"), now = ListOf(copy, "ownerReferences");
  auto is_gone = [&](const Json& owner) {
    return std::any_of(now.begin(), now.end(), [&](const Json& one) {
      return IsSameName(one, owner) && GetString(one, {"uid"}) != GetString(owner, {"uid"});
    });
  };
  return !owners.empty() && std::all_of(owners.begin(), owners.end(), is_gone);
}

Json FinalizersOfBoth(const kube::Object& copy, const kube::Object& there) {
  Json out = ListOf(there, "finalizers");
  for (const Json& finalizer : ListOf(copy, "finalizers"))
    if (std::find(out.begin(), out.end(), finalizer) == out.end()) out.push_back(finalizer);
  return out;
}

}  // namespace

Status MakeNamespace(const Context& ctx, kube::Client& cluster, const std::string& ns) {
  auto found = cluster.Get(ctx, kube::Builtin("Namespace"), "", ns, {.metadata_only = true});
  // Who may not look, or create, may well write into one that is there.
  if (found.ok() || found.code() == Code::kPermissionDenied) return Ok();
  if (found.code() != Code::kNotFound) return found.error();
  kube::Object object(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  auto made = cluster.Create(ctx, kube::Builtin("Namespace"), object);
  if (made.ok() || made.code() == Code::kAlreadyExists) return Ok();
  return made.error().With(fmt::format("failed to create Namespace {} in the target", ns));
}

Transfer::Transfer(const Context& ctx, const Graph& graph, const Ends& ends, kube::Client& target, Read read,
                   Existing existing, Progress& progress, Claim* claim)
    : ctx_(ctx),
      graph_(graph),
      ends_(ends),
      target_(target),
      read_(std::move(read)),
      existing_(existing),
      progress_(progress),
      claim_(claim),
      there_(graph.nodes.size()),
      copied_(graph.nodes.size()),
      new_uids_(graph.nodes.size()) {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const kube::Resource& resource = graph_.kind(i).resource;
    if (graph_.places[i].moves) by_id_[{resource.group, resource.kind, graph_.nodes[i].ns, graph_.nodes[i].name}] = i;
  }
}

Status Transfer::Check() {
  TRY(CheckKinds());
  TRY(Look());
  return CheckObjects();
}

Status Transfer::CheckObjects() {
  TRY(
      Refuse("the target cluster has part of another move that hasn't ended. Run that one again, or remove the "
             "annotation " +
                 std::string(kRecordAnnotation) + " to forget it",
             of_others_));
  if (existing_ == Existing::kKeep) return Ok();
  std::vector<size_t> which;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (there_[i].exists && !there_[i].in_flight) which.push_back(i);
  Mutex mu;
  std::vector<std::string> why;
  TRY(ForEach(ctx_, which, [&](size_t i) -> Status {
    std::string reason = TRY(InTheWay(i));
    MutexLock lock(mu);
    if (!reason.empty()) why.push_back(std::move(reason));
    return Ok();
  }));
  std::sort(why.begin(), why.end());
  return Refuse("the target cluster has objects that are in the way. Delete them there, or make them equal", why);
}

Status Transfer::CheckKinds() {
  std::set<size_t> kinds;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (graph_.places[i].moves) kinds.insert(graph_.nodes[i].kind);
  std::vector<std::string> lacks;
  for (size_t kind : kinds) {
    const kube::Resource& resource = graph_.kinds[kind].resource;
    auto found = target_.mapper().For(ctx_, {resource.group, resource.kind}, resource.version);
    if (found.ok()) continue;
    if (found.code() != Code::kNotFound) return found.error();
    lacks.push_back(fmt::format("{} {}", resource.api_version(), resource.kind));
  }
  return Refuse("the target cluster lacks kinds of objects. Install or upgrade the providers that bring them", lacks);
}

void Transfer::See(const kube::Object& object, size_t kind) {
  const kube::Resource& resource = graph_.kinds[kind].resource;
  auto found = by_id_.find({resource.group, resource.kind, object.ns(), object.name()});
  if (found == by_id_.end()) return;
  There& there = there_[found->second];
  there.exists = true;
  const Place& place = graph_.places[found->second];
  if (!IsRoot(graph_.nodes[found->second]) || (place.stays && existing_ == Existing::kGoOn)) return;
  std::optional<Record> record = RecordOf(object);
  there.in_flight = record && IsOf(*record, ends_);
  there.original = there.in_flight && record->ends != ends_;
  if (record && !there.in_flight) of_others_.push_back(graph_.Describe(found->second));
}

Status Transfer::Look() {
  of_others_.clear();
  std::set<std::pair<size_t, std::string>> listings;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (graph_.places[i].moves) listings.insert({graph_.nodes[i].kind, graph_.nodes[i].ns});
  for (const auto& [kind, ns] : listings) {
    Role role = RoleOf({graph_.kinds[kind].resource.group, graph_.kinds[kind].resource.kind});
    TRY(EachObject(ctx_, target_, graph_.kinds[kind].resource, ns, {.metadata_only = role != Role::kCluster},
                   [&, at = kind](const kube::Object& object) { See(object, at); }));
  }
  for (const auto& group : graph_.groups) {
    for (size_t i : group) {
      const std::vector<size_t>& owners = graph_.places[i].owners;
      if (IsRoot(graph_.nodes[i])) continue;
      there_[i].in_flight = std::any_of(owners.begin(), owners.end(), [&](size_t at) { return there_[at].in_flight; });
      there_[i].original = std::any_of(owners.begin(), owners.end(), [&](size_t at) { return there_[at].original; });
    }
  }
  return Ok();
}

Result<std::string> Transfer::InTheWay(size_t i) {
  const Node& node = graph_.nodes[i];
  auto there = target_.Get(ctx_, graph_.kind(i).resource, node.ns, node.name);
  if (!there.ok() && there.code() == Code::kNotFound) return std::string();
  if (!there.ok()) return there.error();
  auto source = read_(i);
  if (!source.ok()) {
    // It is another one now, or none: the next run sees that. Of the rest the error itself tells.
    const bool changed = source.code() == Code::kFailedPrecondition || source.code() == Code::kNotFound;
    return source.error().With(
        fmt::format("{} can't be compared{}", graph_.Describe(i), changed ? "; run the same command again" : ""));
  }
  std::string path = FirstDifference(*source, *there);
  if (graph_.places[i].shared) {
    if (!path.empty())
      progress_.Warn(fmt::format("{} differs at {} in the target, where it stays as it is", graph_.Describe(i), path));
    return std::string();
  }
  // What has owners may be the garbage collector's, which only the copy tells.
  if (there->deleting() && !there->has_annotation(kDeleteForMoveAnnotation) &&
      ListOf(*there, "ownerReferences").empty())
    return fmt::format("{} is being deleted there; wait for its end", graph_.Describe(i));
  if (!path.empty()) return fmt::format("{} differs at {}", graph_.Describe(i), path);
  if (node.role != Role::kCluster || IsPaused(*there)) return std::string();
  return fmt::format("{} is there already, and isn't paused", graph_.Describe(i));
}

bool Transfer::GoesOn() const {
  return std::any_of(there_.begin(), there_.end(), [](const There& there) { return there.in_flight; });
}

Status Transfer::Run() {
  std::set<std::string> namespaces;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (graph_.places[i].moves && !graph_.kind(i).global()) namespaces.insert(graph_.nodes[i].ns);
  for (const std::string& ns : namespaces) TRY(Retried(ctx_, [&] { return MakeNamespace(ctx_, target_, ns); }));
  for (const auto& group : graph_.groups) {
    if (claim_ != nullptr) TRY(claim_->Check(ctx_));
    TRY(ForEach(ctx_, group, [&](size_t i) -> Status {
      const Node& node = graph_.nodes[i];
      progress_.Say(1, "Creating", {{graph_.kind(i).resource.kind, node.name}, {"Namespace", node.ns}});
      auto source = read_(i);
      Status done = source.ok() ? Copy(i, *source) : Status(source.error());
      return done.ok() ? done : done.error().With("failed to create " + graph_.Describe(i) + " in the target");
    }));
  }
  return Ok();
}

kube::Object Transfer::CopyFor(size_t i, const kube::Object& source) const {
  kube::Object copy = CopyOf(source, [&](const std::string& uid) {
    auto found = graph_.by_uid.find(uid);
    return found == graph_.by_uid.end() || !graph_.places[found->second].moves ? "" : new_uids_[found->second];
  });
  if (!IsRoot(graph_.nodes[i])) return copy;
  std::optional<Record> record = RecordOf(source);
  // What stays in the source isn't paused there: its controllers work on it in both clusters.
  if (graph_.places[i].stays && existing_ == Existing::kGoOn) {
    if (record) copy.json().merge_patch(ResumePatch(copy, *record));
  } else {
    const bool was_paused = record ? record->was_paused : IsPaused(source) && existing_ == Existing::kGoOn;
    Pause(copy, {ends_, was_paused, claim_ == nullptr ? "" : claim_->run()});
  }
  return copy;
}

Status Transfer::Copy(size_t i, const kube::Object& source) {
  kube::Object copy = CopyFor(i, source);
  bool was_there = there_[i].exists;
  if (!was_there) {
    std::vector<std::string> warnings;
    auto made = target_.Create(ctx_, graph_.kind(i).resource, copy, {.metadata_only = true, .warnings = &warnings});
    progress_.Tell(warnings);
    if (!made.ok() && made.code() != Code::kAlreadyExists) return made.error();
    was_there = !made.ok();
    if (made.ok()) {
      new_uids_[i] = made->uid();
      there_[i] = {.exists = true, .in_flight = true};
    }
  }
  if (was_there) {
    new_uids_[i] = TRY(GoOnWith(i, std::move(copy)));
    if (IsKept(i) || graph_.places[i].stays) return Ok();
  }
  TRY(Finish(i, source, was_there));
  copied_[i] = {source.resource_version(), Digest(source)};
  return Ok();
}

Result<std::string> Transfer::CopyAgain(size_t node) {
  auto source = read_(node);
  if (!source.ok() && source.code() == Code::kNotFound) return std::string();
  if (!source.ok()) return source.error();
  TRY(claim_->Check(ctx_));  // the change may be that of a run that took over
  if (Digest(*source) == copied_[node].digest) return source->resource_version();
  const std::string uid = new_uids_[node];
  there_[node].exists = there_[node].is_old = true;
  Status copied = Copy(node, *source);
  if (copied.ok() && new_uids_[node] == uid) return copied_[node].version;
  if (!copied.ok() && there_[node].exists) return copied.error();
  return Error{Code::kFailedPrecondition, "it was deleted in the target meanwhile: run the same command again", {}};
}

Error Transfer::OnceMore(size_t i) {
  there_[i].exists = false;
  return {Code::kConflict, "one of its name was there a moment ago", {}};
}

Result<std::string> Transfer::GoOnWith(size_t i, kube::Object copy) {
  const Node& node = graph_.nodes[i];
  auto found = target_.Get(ctx_, graph_.kind(i).resource, node.ns, node.name);
  if (!found.ok() && found.code() == Code::kNotFound) return OnceMore(i);
  kube::Object there = TRY(std::move(found));
  std::string path = FirstDifference(copy, there);
  if (IsKept(i)) {
    progress_.Say(1, "Object is there already and stays as it is",
                  {{there.kind(), node.name}, {"Namespace", node.ns}, {"Differs", path}});
    return there.uid();
  }
  if (there.deleting()) {
    TRY(Release(i, there, path.empty() && IsLate(copy, there)));
    return OnceMore(i);
  }
  if (!path.empty() && !there_[i].in_flight && !there_[i].joined)
    return Error{Code::kFailedPrecondition, fmt::format("one of its name is there, and differs at {}", path), {}};
  if (graph_.places[i].stays && path.empty()) return there.uid();
  if (there_[i].joined || there_[i].original) return Keep(i, copy, there, path);
  const bool is_mine = there_[i].is_old && there_[i].in_flight;  // what the source's has no more goes there, too
  if (path.empty() && !is_mine) return Join(i, copy, there);
  if (!is_mine)
    progress_.Warn(fmt::format("{} differs at {} in the target: that of the source counts", graph_.Describe(i), path));
  return Replace(i, std::move(copy), there);
}

// What a move that went the other way had begun to delete, or the garbage collector what came too late.
Status Transfer::Release(size_t i, const kube::Object& there, bool is_late) {
  const Node& node = graph_.nodes[i];
  if (!there.has_annotation(kDeleteForMoveAnnotation) && !is_late)
    return Error{Code::kFailedPrecondition, "one of its name is being deleted there; wait for its end", {}};
  Json release = {{"metadata", {{"finalizers", nullptr}, {"uid", there.uid()}}}};
  auto released = target_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, release);
  return released.ok() || released.code() == Code::kNotFound ? Ok() : Status(released.error());
}

Result<std::string> Transfer::Replace(size_t i, kube::Object copy, const kube::Object& there) {
  copy.json()["metadata"]["uid"] = there.uid();
  copy.json()["metadata"]["resourceVersion"] = there.resource_version();
  copy.set_annotation(kRunAnnotation, claim_->run());
  std::vector<std::string> warnings;
  auto written = target_.Update(ctx_, graph_.kind(i).resource, copy,
                                {.metadata_only = true, .repeatable = true, .warnings = &warnings});
  progress_.Tell(warnings);
  if (!written.ok()) return written.code() == Code::kNotFound ? OnceMore(i) : written.error();
  return there.uid();
}

// One that was there before. What has changed in the source since they were equal goes there, too.
Result<std::string> Transfer::Keep(size_t i, const kube::Object& copy, const kube::Object& there,
                                   const std::string& path) {
  if (path.empty()) return Join(i, copy, there);
  if (there_[i].original) {
    progress_.Warn(fmt::format("{} differs at {} in the target, which has the original: that one stays",
                               graph_.Describe(i), path));
    return Join(i, copy, there);
  }
  Json change = copy.json();
  change["metadata"].erase("managedFields");  // who owns what there is known there
  kube::Object both = there;
  both.json().merge_patch(change);
  Json& metadata = both.json()["metadata"];
  if (Json finalizers = FinalizersOfBoth(copy, there); !finalizers.empty()) metadata["finalizers"] = finalizers;
  if (Json owners = OwnersOfBoth(copy, there); !owners.empty()) metadata["ownerReferences"] = owners;
  return Replace(i, std::move(both), there);
}

// One that is equal keeps what it has beyond the source's. It is changed in any case: see kRunAnnotation.
Result<std::string> Transfer::Join(size_t i, const kube::Object& copy, const kube::Object& there) {
  const Node& node = graph_.nodes[i];
  std::optional<Record> record = RecordOf(copy), known = RecordOf(there);
  if (record && known && there_[i].original) record->ends = known->ends;  // the next run is to know it, too
  Json patch = record ? PausePatch(there, *record) : Json::object();
  Ensure(patch, {"metadata", "annotations", kRunAnnotation}) = claim_->run();
  Ensure(patch, {"metadata", "annotations", kDeleteForMoveAnnotation}) = nullptr;
  Json& metadata = patch["metadata"];
  metadata["uid"] = there.uid();
  metadata["resourceVersion"] = there.resource_version();
  if (Json both = FinalizersOfBoth(copy, there); !both.empty()) metadata["finalizers"] = std::move(both);
  Json owners =
      there_[i].in_flight && !there_[i].original ? ListOf(copy, "ownerReferences") : OwnersOfBoth(copy, there);
  metadata["ownerReferences"] = owners.empty() ? Json() : std::move(owners);
  auto done = target_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, patch,
                            {.metadata_only = true});
  if (!done.ok()) return done.code() == Code::kNotFound ? OnceMore(i) : done.error();
  there_[i].joined = !there_[i].in_flight;
  return there.uid();
}

// Of what a move has made, field managers too are those of the source: else this program would own every field, and who
// applies objects couldn't take one away again.
Status Transfer::Finish(size_t i, const kube::Object& source, bool was_there) {
  const Json* managers = Find(source.json(), {"metadata", "managedFields"});
  const Node& node = graph_.nodes[i];
  Json patch;
  if (was_there) Ensure(patch, {"metadata", "annotations", kRunAnnotation}) = nullptr;
  const bool made = !there_[i].joined && !there_[i].original;
  if (made && managers != nullptr && !managers->empty()) Ensure(patch, {"metadata", "managedFields"}) = *managers;
  if (patch.is_null()) return Ok();
  auto done = target_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, patch,
                            {.metadata_only = true});
  return done.ok() ? Ok() : Status(done.error().With("its field managers"));
}

}  // namespace capi::cli::move
