#include "cli/remove/delete.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/confirm.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/printable.h"
#include "cli/operator_manifests/installation.h"
#include "cli/remove/by_operator.h"
#include "cli/remove/guards.h"
#include "cli/remove/namespaces.h"
#include "lifecycle/clusterctl_inventory.h"
#include "lifecycle/direct/remove.h"
#include "lifecycle/labelled.h"

namespace capi::cli {
namespace {

constexpr size_t kMostNames = 5;
constexpr std::string_view kQuestion =
    "Clusters whose providers are gone can't be changed or deleted any more, and what is in a namespace goes with it: "
    "go "
    "on";

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

Error Unreadable(const Target& target) {
  return Refused(fmt::format("the inventory of {} can't be read: {}", Describe(target.id), target.inventory_error));
}

constexpr std::string_view kFlags =
    "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";

Status CheckFlags(const DeleteOptions& options) {
  bool named = false;
  for (const auto& [type, names] : options.names) {
    named = named || !names.empty();
    if (std::find(names.begin(), names.end(), "") != names.end())
      return Invalid(
          fmt::format("the flag for {} has an empty name; give the provider's name", api::KindOf(type).kind));
  }
  if (options.all && named) return Invalid(fmt::format("The --all flag can't be used in combination with {}", kFlags));
  if (options.all || named) return Ok();
  return Invalid(fmt::format("At least one of {} should be specified or the --all flag should be set", kFlags));
}

// A Namespace that goes. A value.
struct DoomedNamespace {
  std::string uid;
  std::vector<kube::ObjectId> contents;
  std::set<std::string> known;  // uids of what may be in it: of the providers, or accepted by --force
  std::set<std::string> uids;   // of all that was in it at the last look
  bool unseen = false;          // what is in it can't be told, which --force accepts
};

// One run of the command. Thread-compatible.
class Deletion {
 public:
  Deletion(const Context& ctx, const DeleteOptions& options, ManagementCluster& cluster, World& world, Notes& notes)
      : ctx_(ctx), options_(options), cluster_(cluster), world_(world), notes_(notes) {}

  Status Run();

 private:
  kube::Client& client() { return cluster_.client(); }
  bool ByOperator(const Target& target) const { return target.object && options_.with_operator; }
  // What Cluster API's clusterctl installed, and the operator hasn't taken over yet (A1): it would leave all of that.
  bool IsNotAdopted(const Target& target) const { return target.object && target.entry && !target.has_inventory(); }
  bool RemovesOperator() const {
    return options_.all && options_.ns.empty() && options_.with_operator && operator_ && !operator_->by_helm;
  }
  OperatorRemoval WithOperator() const { return {options_.crds, options_.namespaces}; }
  bool Shared(const Target& target) const {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Target& other) { return SharesObjects(target, other) && !gone_.contains(other.id); });
  }

  Status Look();
  Result<std::vector<ProviderObject>> Objects();
  Result<std::vector<NotedProvider>> Noted();
  Status CheckOperator() const;
  Status CheckGuards();
  Result<std::vector<std::string>> WhoNeedsThem();
  Result<std::vector<std::string>> WhatElseGoes();
  Status CheckInventories() const;
  Result<std::string> StrangersIn(const std::string& ns, const std::vector<Target>& targets, DoomedNamespace& doomed);
  lifecycle::Keep OwnedByOthers(const Target& target) const;
  Result<std::vector<kube::ObjectId>> WhatGoesWithOperator();
  Status Print();
  Status PrintTarget(const Target& target, std::set<kube::ObjectId>& printed);
  Status Note(bool going);
  Status DeleteRound(const std::vector<Target>& round);
  Status DeleteDirectly(const Target& target);
  Status DeleteRests(const std::vector<Target>& round);
  Status MigrateStorage(const Target& target);
  Status DeleteNamespace(const std::string& ns, DoomedNamespace& doomed);
  Status DeleteNamespaces();
  Status DeleteOperator();
  Status CarryOut();

  Context ctx_;
  const DeleteOptions& options_;
  ManagementCluster& cluster_;
  World& world_;
  Notes& notes_;
  std::vector<Target> all_, going_;
  std::optional<InstalledOperator> operator_;
  std::map<std::string, DoomedNamespace> namespaces_;  // with --include-namespace, those that are there
  std::set<api::ProviderId> gone_;
  bool forced_ = false;  // a guard that the operator has too was overridden, after a question; without one its own stay
};

// None where the cluster has no such kind.
Result<std::vector<ProviderObject>> Deletion::Objects() {
  auto objects = AllProviders(ctx_, cluster_, "");
  if (!objects.ok() && objects.code() == Code::kFailedPrecondition) return std::vector<ProviderObject>();
  return objects;
}

// Without the right to look there is nothing to go on with.
Result<std::vector<NotedProvider>> Deletion::Noted() {
  auto namespaces = client().List(ctx_, kube::Builtin("Namespace"), "", {.metadata_only = true});
  if (!namespaces.ok() && namespaces.code() == Code::kPermissionDenied) return std::vector<NotedProvider>();
  if (!namespaces.ok()) return namespaces.error().With("failed to list Namespaces");
  return NotedDeletions(namespaces->items);
}

Status Deletion::Look() {
  auto objects = TRY(Objects());
  all_ = Merge(objects, TRY(cluster_.Providers(ctx_)), TRY(Noted()));
  going_ = TRY(Select(all_, options_.names, options_.ns));
  operator_ = TRY(FindOperator(ctx_, client()));
  return Ok();
}

// Two that write the same objects would undo each other's work.
Status Deletion::CheckOperator() const {
  bool objects = std::any_of(going_.begin(), going_.end(), [](const Target& target) { return target.object; });
  if (!objects) return Ok();
  if (!options_.with_operator && operator_) {
    return Refused(
        fmt::format("capi-operator in namespace {} looks after these providers, and would bring back what is "
                    "removed: leave out --operator=false",
                    operator_->ns));
  }
  if (options_.with_operator && !operator_) {
    notes_.Warn(
        "No Deployment has the label app.kubernetes.io/name=capi-operator: the operator runs elsewhere, or not "
        "at all. Where it is gone for good, --operator=false removes its providers without it.");
  }
  return Ok();
}

// Before the first write.
Status Deletion::CheckGuards() {
  if (options_.crds) TRY(CheckNoObjects(ctx_, client(), going_));
  std::vector<std::string> blocks = TRY(WhoNeedsThem());
  const bool needed = !blocks.empty();
  const std::vector<std::string> others = TRY(WhatElseGoes());
  blocks.insert(blocks.end(), others.begin(), others.end());
  if (blocks.empty()) return Ok();
  if (!options_.force) return Refused(Join(blocks, "; ") + "; --force deletes them all the same");
  forced_ = needed;
  for (const std::string& why : blocks) notes_.Warn(why);
  return options_.yes || options_.dry_run ? Ok() : Confirm(kQuestion, world_);
}

// What the operator would hold back as well.
Result<std::vector<std::string>> Deletion::WhoNeedsThem() {
  std::vector<std::string> out;
  if (Status core = CheckCoreGoesLast(all_, going_); !core.ok()) out.push_back(core.error().message);
  if (options_.crds) return out;  // there is no object of theirs
  for (std::string& why : InUse(ctx_, client(), going_)) out.push_back(std::move(why));
  for (const Target& target : going_) {
    // Without --force they are brought there first, or nothing is deleted.
    const bool by_operator = ByOperator(target) && !IsNotAdopted(target);
    if (!options_.force || by_operator || Shared(target)) continue;
    auto old = TRY_WITH(lifecycle::MigrateStorage(ctx_, client(), target.id, /*dry_run=*/true), Describe(target.id));
    if (old.empty()) continue;
    out.push_back(fmt::format("objects of {} may be stored at older versions, which nobody can read without {}",
                              JoinNames(old, kMostNames), Describe(target.id)));
  }
  return out;
}

// What would go with them, and is others'.
Result<std::vector<std::string>> Deletion::WhatElseGoes() {
  std::vector<std::string> out;
  auto block = [&](const Status& status) {
    if (!status.ok()) out.push_back(status.error().message);
  };
  block(CheckInventories());
  block(CheckOnlyOfItsName(all_, going_, options_.with_operator));
  if (!options_.namespaces) return out;
  block(CheckNamespaces(all_, going_, operator_ && !RemovesOperator() ? operator_->ns : ""));
  std::vector<std::string> names = NamespacesOf(going_);
  if (RemovesOperator()) names.push_back(operator_->ns);
  for (const std::string& ns : names) {
    if (namespaces_.contains(ns)) continue;
    if (IsOfKubernetes(ns))
      return Refused(fmt::format("namespace {} is Kubernetes' own; leave out --include-namespace", ns));
    auto live = client().Get(ctx_, kube::Builtin("Namespace"), "", ns, {.metadata_only = true});
    if (!live.ok() && live.code() == Code::kNotFound) continue;
    if (!live.ok()) return live.error().With("Namespace " + ns);
    if (live->deleting()) continue;  // it goes on by itself
    DoomedNamespace& doomed = namespaces_[ns];
    doomed.uid = live->uid();
    auto strangers = StrangersIn(ns, going_, doomed);
    doomed.unseen = !strangers.ok();
    if (!strangers.ok()) {
      out.push_back(fmt::format("can't tell what else is in namespace {}: {}", ns, strangers.error().message));
    } else if (!strangers->empty()) {
      doomed.known.insert(doomed.uids.begin(), doomed.uids.end());  // what is told here goes only with --force
      out.push_back(fmt::format("namespace {} also has {}, which would go with it; leave out --include-namespace", ns,
                                *strangers));
    }
  }
  return out;
}

// In words; "" for none.
Result<std::string> Deletion::StrangersIn(const std::string& ns, const std::vector<Target>& targets,
                                          DoomedNamespace& doomed) {
  NamespaceOwners owners;
  owners.with_operator = RemovesOperator() && operator_->ns == ns;
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(owners.targets),
               [&](const Target& target) { return target.id.ns == ns; });
  auto objects = TRY(lifecycle::ListInNamespace(ctx_, client(), ns));
  doomed.contents.clear();
  doomed.uids.clear();
  for (const kube::Object& object : objects) {
    doomed.uids.insert(object.uid());
    if (object.kind() != "Event") doomed.contents.push_back(object.id());
  }
  auto strangers = Strangers(objects, owners, doomed.known);
  return strangers.empty() ? "" : JoinNames(strangers, kMostNames);
}

// What can't be read of another provider's inventory couldn't be kept.
Status Deletion::CheckInventories() const {
  for (const Target& other : all_) {
    if (!other.inventory_error.empty()) return Unreadable(other);
  }
  return Ok();
}

// What other providers' objects say is theirs.
lifecycle::Keep Deletion::OwnedByOthers(const Target& target) const {
  auto owners = std::make_shared<std::map<kube::ObjectId, std::string>>();
  for (const Target& other : all_) {
    if (other.id == target.id || gone_.contains(other.id)) continue;
    for (const auto& [id, entry] : other.inventory.entries()) owners->emplace(id, Describe(other.id));
  }
  return [owners, shared = Shared(target)](const kube::Object& live) -> std::string {
    if (shared && live.ns().empty()) return "the provider of this name in another namespace has it as well";
    auto found = owners->find(live.id());
    return found == owners->end() ? "" : "it is in the inventory of " + found->second;
  };
}

Status Deletion::PrintTarget(const Target& target, std::set<kube::ObjectId>& printed) {
  world_.out << fmt::format("{} {}{}\n", Describe(target.id), target.version.empty() ? "-" : target.version,
                            ByOperator(target) ? ", by the operator" : "");
  std::vector<kube::ObjectId> ids;
  if (ByOperator(target) && !IsNotAdopted(target)) {
    // Without --force the command has ended.
    if (!target.inventory_error.empty())
      world_.out << "  its objects can't be told: " << PrintableLine(target.inventory_error) << '\n';
    for (const auto& [id, entry] : target.inventory.entries()) ids.push_back(id);
    ids = lifecycle::ToRemove(ids, target.id.ns, {options_.crds, true});
  } else {
    auto removal = TRY(lifecycle::PlanRemoval(ctx_, client(), target.id, {options_.crds, true}, OwnedByOthers(target)));
    ids = std::move(removal.objects);
    ids.insert(ids.end(), removal.crds.begin(), removal.crds.end());
    if (removal.entry) ids.push_back(lifecycle::EntryId(target.id));
    for (const std::string& kept : removal.kept) notes_.Say(0, "Kept", {{"object", kept}});
  }
  const std::string kind(api::KindOf(target.id.type).kind);
  if (target.object) ids.push_back({std::string(api::kGroup), kind, target.id.ns, target.id.name});
  for (const kube::ObjectId& id : ids) {
    world_.out << "  " << id.ToString() << '\n';
    printed.insert(id);
  }
  gone_.insert(target.id);
  return Ok();
}

// In its order.
Result<std::vector<kube::ObjectId>> Deletion::WhatGoesWithOperator() {
  std::vector<kube::ObjectId> out;
  if (options_.crds) {
    for (const kube::Object& map : TRY(OwnedReleases(ctx_, client()))) out.push_back(map.id());
  }
  auto its = TRY(OperatorObjectsThere(ctx_, client(), operator_->ns, WithOperator()));
  out.insert(out.end(), its.begin(), its.end());
  return out;
}

Status Deletion::Print() {
  std::set<kube::ObjectId> printed;
  for (const auto& round : Rounds(going_)) {
    for (const Target& target : round) TRY(PrintTarget(target, printed));
  }
  std::vector<kube::ObjectId> its;
  if (RemovesOperator()) its = TRY(WhatGoesWithOperator());
  printed.insert(its.begin(), its.end());
  for (const auto& [ns, doomed] : namespaces_) {
    if (!RemovesOperator() || ns != operator_->ns) world_.out << "Namespace/" << ns << '\n';
    for (const kube::ObjectId& id : doomed.contents) {
      if (printed.insert(id).second) world_.out << "  " << id.ToString() << '\n';
    }
  }
  if (RemovesOperator()) world_.out << "capi-operator in namespace " << operator_->ns << '\n';
  for (const kube::ObjectId& id : its) world_.out << "  " << id.ToString() << '\n';
  return Ok();
}

// Before the first deletion, and taken back after the last one of all.
Status Deletion::Note(bool going) {
  for (const Target& target : going_) {
    auto noted = NoteDeletion(ctx_, client(), target, going);
    if (noted.ok()) continue;
    if (noted.code() != Code::kPermissionDenied) return noted;
    if (going) {
      notes_.Warn(fmt::format("{}; a run that is broken off can't be completed by naming {} again",
                              noted.error().message, Describe(target.id)));
    }
  }
  return Ok();
}

Status Deletion::DeleteRound(const std::vector<Target>& round) {
  std::vector<DoomedObject> awaited;
  // Of an earlier run with --force the override stays where this one has it too.
  const std::optional<bool> force = options_.force && !forced_ ? std::nullopt : std::optional(forced_);
  for (const Target& target : round) {
    std::string name = target.id.ns + "/" + api::ManifestLabel(target.id.type, target.id.name);
    notes_.Say(0, target.left() ? "Deleting what is left" : "Deleting",
               {{"Provider", name}, {"providerVersion", target.version}});
    if (!ByOperator(target)) continue;
    auto asked = TRY(RequestDeletion(ctx_, client(), target.id, {options_.crds, force}));
    if (asked) awaited.push_back(*std::move(asked));
  }
  for (const Target& target : round) {
    if (ByOperator(target)) continue;
    TRY_WITH(DeleteDirectly(target), Describe(target.id));
    gone_.insert(target.id);
  }
  TRY(AwaitGone(ctx_, client(), awaited, Seconds(options_.wait_seconds), notes_));
  return DeleteRests(round);
}

// What the operator left of a provider that it hadn't taken over, once all that have no such rest are gone. One whose
// object is there again is somebody's.
Status Deletion::DeleteRests(const std::vector<Target>& round) {
  const bool due =
      std::any_of(round.begin(), round.end(), [&](const Target& target) { return ByOperator(target) && target.entry; });
  const std::vector<Target> now = due ? Merge(TRY(Objects()), TRY(cluster_.Providers(ctx_))) : std::vector<Target>();
  std::vector<Target> rests;
  for (const Target& target : round) {
    if (!ByOperator(target)) continue;
    auto found = std::find_if(now.begin(), now.end(), [&](const Target& one) { return one.id == target.id; });
    const bool again = found != now.end() && found->object;
    if (again) notes_.Warn(Describe(target.id) + " has an object again, and keeps what is left of it");
    if (again) continue;
    const bool rest = target.entry && (found != now.end() || IsNotAdopted(target));
    rest ? rests.push_back(target) : void(gone_.insert(target.id));
  }
  for (Target& target : rests) {
    target.object = false;
    TRY_WITH(DeleteDirectly(target), Describe(target.id));
    gone_.insert(target.id);
  }
  return Ok();
}

// While its webhooks are there to convert them (X1).
Status Deletion::MigrateStorage(const Target& target) {
  if (options_.crds || Shared(target)) return Ok();
  auto migrated = lifecycle::MigrateStorage(ctx_, client(), target.id);
  TRY(ctx_.Check());
  if (migrated.ok()) return Ok();
  std::string why =
      fmt::format("its objects couldn't be brought to the version that is stored now: {}", migrated.error().message);
  if (!forced_) return Error{migrated.code(), why + "; nothing of it was deleted; --force leaves them as they are", {}};
  notes_.Warn(fmt::format("{}: {}", Describe(target.id), why));
  return Ok();
}

Status Deletion::DeleteDirectly(const Target& target) {
  TRY(MigrateStorage(target));
  const lifecycle::Keep owned = OwnedByOthers(target);
  auto removal = TRY(lifecycle::PlanRemoval(ctx_, client(), target.id, {options_.crds, true}, owned));
  for (const std::string& kept : removal.kept) notes_.Say(0, "Kept", {{"object", kept}});
  for (const std::string& left : TRY(lifecycle::Remove(ctx_, client(), removal, owned)))
    notes_.Say(0, "Deleted, but not gone yet", {{"object", left}});
  if (target.object) TRY(ReleaseObject(ctx_, client(), target.id));
  return Ok();
}

// What came into it meanwhile is others': of the providers nothing comes any more. --force accepts what was told alone.
Status Deletion::DeleteNamespace(const std::string& ns, DoomedNamespace& doomed) {
  std::vector<Target> gone = going_;
  for (Target& target : gone) target.object = false;
  if (!doomed.unseen) {
    const std::string strangers = TRY(StrangersIn(ns, gone, doomed));
    if (!strangers.empty()) {
      return Refused(
          fmt::format("namespace {} stays, for {} came into it meanwhile; run the same command again once that "
                      "is elsewhere, or leave out --include-namespace",
                      ns, strangers));
    }
  }
  if (RemovesOperator() && ns == operator_->ns) return Ok();  // it goes with the operator
  notes_.Say(0, "Deleting", {{"namespace", ns}});
  auto deleted = client().Delete(ctx_, kube::Builtin("Namespace"), "", ns, {.uid = doomed.uid});
  if (!deleted.ok() && deleted.code() != Code::kNotFound) return deleted.error().With("Namespace " + ns);
  return Ok();
}

// Once no provider of any is there.
Status Deletion::DeleteNamespaces() {
  for (auto& [ns, doomed] : namespaces_) TRY(DeleteNamespace(ns, doomed));
  return Ok();
}

// Only when no provider needs it any more.
Status Deletion::DeleteOperator() {
  if (!options_.all || !options_.with_operator || !operator_) return Ok();
  if (operator_->by_helm) {
    notes_.Warn(fmt::format("capi-operator in namespace {} stays: Helm installed it, and `helm uninstall` removes it",
                            operator_->ns));
    return Ok();
  }
  if (!RemovesOperator()) return Ok();
  if (!TRY(Objects()).empty())
    return Refused("capi-operator stays, for providers came meanwhile: run the same command again");
  notes_.Say(0, "Deleting", {{"operator", operator_->ns + "/capi-operator"}});
  if (options_.crds) TRY(RemoveOwnedReleases(ctx_, client()));
  return RemoveOperator(ctx_, client(), operator_->ns, WithOperator());
}

Status Deletion::CarryOut() {
  TRY(Note(true));
  for (const auto& round : Rounds(going_)) TRY(DeleteRound(round));
  TRY(DeleteNamespaces());
  TRY(DeleteOperator());  // in its Namespace, too, may be what a note alone tells of
  return Note(false);
}

Status Deletion::Run() {
  TRY(Look());
  TRY(CheckOperator());
  TRY(CheckGuards());
  if (options_.dry_run) return Print();
  Interrupt interrupt;  // at a question before, Ctrl-C ends the program
  ctx_ = ctx_.WithStop(interrupt.token());
  return OrInterrupted(ctx_, CarryOut());
}

}  // namespace

Status Delete(const Context& ctx, const GlobalOptions& global, const DeleteOptions& options, World& world) {
  TRY(CheckFlags(options));
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  // Where it isn't installed any more a deletion that was broken off is completed.
  TRY(cluster.CheckContract(ctx, AlsoAllowed::kNotInstalled));
  return Deletion(ctx, options, cluster, world, notes).Run();
}

}  // namespace capi::cli
