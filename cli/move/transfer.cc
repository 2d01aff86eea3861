#include "cli/move/transfer.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/move/checks.h"
#include "cli/move/copy.h"
#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

bool IsRoot(const Node& node) { return node.role == Role::kCluster || node.role == Role::kClusterClass; }

std::set<std::string> OwnerUids(const kube::Object& object) {
  std::set<std::string> out;
  const Json* references = Find(object.json(), {"metadata", "ownerReferences"});
  if (references == nullptr || !references->is_array()) return out;
  for (const Json& reference : *references) out.insert(GetString(reference, {"uid"}));
  return out;
}

}  // namespace

Transfer::Transfer(const Context& ctx, const Graph& graph, const Ends& ends, kube::Client& target, Read read,
                   Existing existing, Progress& progress)
    : ctx_(ctx),
      graph_(graph),
      ends_(ends),
      target_(target),
      read_(std::move(read)),
      existing_(existing),
      progress_(progress),
      there_(graph.nodes.size()),
      new_uids_(graph.nodes.size()) {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const kube::Resource& resource = graph_.kind(i).resource;
    if (graph_.places[i].moves) by_id_[{resource.group, resource.kind, graph_.nodes[i].ns, graph_.nodes[i].name}] = i;
  }
}

Status Transfer::Check() {
  TRY(CheckKinds());
  TRY(Look());
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
  if (!IsRoot(graph_.nodes[found->second])) return;
  std::optional<Record> record = RecordOf(object);
  there.in_flight = record && move::GoesOn(*record, ends_);
}

Status Transfer::Look() {
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
    }
  }
  return Ok();
}

Result<std::string> Transfer::InTheWay(size_t i) {
  const Node& node = graph_.nodes[i];
  auto there = target_.Get(ctx_, graph_.kind(i).resource, node.ns, node.name);
  if (!there.ok() && there.code() == Code::kNotFound) return std::string();
  if (!there.ok()) return there.error();
  kube::Object source = TRY(read_(i));
  std::string path = FirstDifference(source, *there);
  if (graph_.places[i].shared) {
    if (!path.empty())
      progress_.Warn(fmt::format("{} differs at {} in the target, where it stays as it is", graph_.Describe(i), path));
    return std::string();
  }
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
  for (const std::string& ns : namespaces) TRY(Retried(ctx_, [&] { return MakeNamespace(ns); }));
  for (const auto& group : graph_.groups) {
    TRY(ForEach(ctx_, group, [&](size_t i) -> Status {
      const Node& node = graph_.nodes[i];
      progress_.Say(1, "Creating", {{graph_.kind(i).resource.kind, node.name}, {"Namespace", node.ns}});
      Status done = CreateOne(i);
      return done.ok() ? done : done.error().With("failed to create " + graph_.Describe(i) + " in the target");
    }));
  }
  return Ok();
}

Status Transfer::MakeNamespace(const std::string& ns) {
  auto found = target_.Get(ctx_, kube::Builtin("Namespace"), "", ns);
  // Who may not look, or create, may well write into one that is there.
  if (found.ok() || found.code() == Code::kPermissionDenied) return Ok();
  if (found.code() != Code::kNotFound) return found.error();
  kube::Object object(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
  auto made = target_.Create(ctx_, kube::Builtin("Namespace"), object);
  if (made.ok() || made.code() == Code::kAlreadyExists) return Ok();
  return made.error().With(fmt::format("failed to create Namespace {} in the target", ns));
}

kube::Object Transfer::Copy(size_t i, const kube::Object& source) const {
  kube::Object copy = CopyOf(source, [&](const std::string& uid) {
    auto found = graph_.by_uid.find(uid);
    return found == graph_.by_uid.end() || !graph_.places[found->second].moves ? "" : new_uids_[found->second];
  });
  // One of the source that stays there isn't paused there.
  if (IsRoot(graph_.nodes[i])) {
    std::optional<Record> record = RecordOf(source);
    Pause(copy, {ends_, record ? record->was_paused : IsPaused(source) && existing_ == Existing::kGoOn});
  }
  return copy;
}

Status Transfer::CreateOne(size_t i) {
  kube::Object source = TRY(read_(i));
  kube::Object copy = Copy(i, source);
  bool exists = there_[i].exists;
  if (!exists) {
    std::vector<std::string> warnings;
    auto made = target_.Create(ctx_, graph_.kind(i).resource, copy, {.metadata_only = true, .warnings = &warnings});
    progress_.Tell(warnings);
    if (!made.ok() && made.code() != Code::kAlreadyExists) return made.error();
    exists = !made.ok();
    if (made.ok()) new_uids_[i] = made->uid();
  }
  if (exists) {
    new_uids_[i] = TRY(GoOnWith(i, std::move(copy)));
    if (graph_.places[i].shared || existing_ == Existing::kKeep) return Ok();
  }
  return RestoreManagers(i, source);
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
  if (graph_.places[i].shared || existing_ == Existing::kKeep) {
    progress_.Say(1, "Object is there already and stays as it is",
                  {{there.kind(), node.name}, {"Namespace", node.ns}, {"Differs", path}});
    return there.uid();
  }
  bool leaving = there.has_annotation(kDeleteForMoveAnnotation);
  if (there.deleting()) {
    if (!leaving)
      return Error{Code::kFailedPrecondition, "one of its name is being deleted there; wait for its end", {}};
    Json release = {{"metadata", {{"finalizers", nullptr}, {"uid", there.uid()}}}};
    auto released = target_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, release);
    if (!released.ok() && released.code() != Code::kNotFound) return released.error();
    return OnceMore(i);
  }
  if (!path.empty() && !there_[i].in_flight)
    return Error{Code::kFailedPrecondition, fmt::format("one of its name is there, and differs at {}", path), {}};
  if (path.empty() && !leaving && OwnerUids(copy) == OwnerUids(there) && RecordOf(copy) == RecordOf(there))
    return there.uid();
  if (!path.empty())
    progress_.Warn(fmt::format("{} differs at {} in the target: that of the source counts", graph_.Describe(i), path));
  return Replace(i, std::move(copy), there);
}

Result<std::string> Transfer::Replace(size_t i, kube::Object copy, const kube::Object& there) {
  copy.json()["metadata"]["uid"] = there.uid();
  copy.json()["metadata"]["resourceVersion"] = there.resource_version();
  std::vector<std::string> warnings;
  auto written = target_.Update(ctx_, graph_.kind(i).resource, copy,
                                {.metadata_only = true, .repeatable = true, .warnings = &warnings});
  progress_.Tell(warnings);
  if (!written.ok()) return written.error();
  return there.uid();
}

// Else this program would own every field, and who applies objects couldn't take one away again.
Status Transfer::RestoreManagers(size_t i, const kube::Object& source) {
  const Json* managers = Find(source.json(), {"metadata", "managedFields"});
  const Node& node = graph_.nodes[i];
  if (managers == nullptr || managers->empty()) return Ok();
  Json patch = {{"metadata", {{"managedFields", *managers}}}};
  auto done = target_.Patch(ctx_, graph_.kind(i).resource, node.ns, node.name, kube::PatchType::kMerge, patch,
                            {.metadata_only = true});
  return done.ok() ? Ok() : Status(done.error().With("its field managers"));
}

}  // namespace capi::cli::move
