#include "cli/remove/delete.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "base/strings.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/operator_manifests/installation.h"
#include "cli/remove/by_operator.h"
#include "cli/remove/guards.h"
#include "lifecycle/direct/remove.h"

namespace capi::cli {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

Error Refused(std::string message) { return {Code::kFailedPrecondition, std::move(message), {}}; }

constexpr std::string_view kFlags =
    "--core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, --addon";

Status CheckFlags(const DeleteOptions& options) {
  bool named = false;
  for (const auto& [type, names] : options.names) {
    named = named || !names.empty();
    if (std::find(names.begin(), names.end(), "") != names.end())
      return Invalid(fmt::format("a name is missing; name a {}", api::KindOf(type).kind));
  }
  if (options.all && named) return Invalid(fmt::format("The --all flag can't be used in combination with {}", kFlags));
  if (options.all || named) return Ok();
  return Invalid(fmt::format("At least one of {} should be specified or the --all flag should be set", kFlags));
}

// One run of the command. Thread-compatible.
class Deletion {
 public:
  Deletion(const Context& ctx, const DeleteOptions& options, ManagementCluster& cluster, World& world, Notes& notes)
      : ctx_(ctx), options_(options), cluster_(cluster), world_(world), notes_(notes) {}

  Status Run();

 private:
  kube::Client& client() { return cluster_.client(); }
  bool ByOperator(const Target& target) const { return target.object && options_.with_operator; }
  bool RemovesOperator() const {
    return options_.all && options_.ns.empty() && options_.with_operator && operator_ && !operator_->by_helm;
  }
  lifecycle::RemovalScope Scope() const { return {options_.crds, options_.namespaces, true}; }

  Status Look();
  Status CheckOperator() const;
  Status CheckGuards();
  Status Confirm(const std::vector<std::string>& blocks);
  Result<std::vector<ProviderObject>> Objects();
  Status CheckInventories() const;
  lifecycle::Keep OwnedByOthers(const Target& target) const;
  Status Print();
  Status DeleteRound(const std::vector<Target>& round);
  Status DeleteDirectly(const Target& target);
  Status DeleteNamespaces();
  Status DeleteOperator();

  const Context& ctx_;
  const DeleteOptions& options_;
  ManagementCluster& cluster_;
  World& world_;
  Notes& notes_;
  std::vector<Target> all_, going_;
  std::optional<InstalledOperator> operator_;
  bool forced_ = false;  // a guard was overridden, after a question: without one the operator's own guards stay
};

// None where the cluster has no such kind.
Result<std::vector<ProviderObject>> Deletion::Objects() {
  auto objects = AllProviders(ctx_, cluster_, "");
  if (!objects.ok() && objects.code() == Code::kFailedPrecondition) return std::vector<ProviderObject>();
  return objects;
}

Status Deletion::Look() {
  auto objects = TRY(Objects());
  all_ = Merge(objects, TRY(cluster_.Providers(ctx_)));
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
  std::vector<std::string> blocks;
  auto block = [&](const Status& status) {
    if (!status.ok()) blocks.push_back(status.error().message);
  };
  block(CheckCoreGoesLast(all_, going_));
  if (options_.namespaces) {
    std::string kept = operator_ && !RemovesOperator() ? operator_->ns : "";
    block(CheckNamespaces(all_, going_, kept));
  }
  block(CheckInventories());
  if (options_.crds) {
    TRY(CheckNoObjects(ctx_, client(), going_));
  } else {
    for (std::string& why : InUse(ctx_, client(), going_)) blocks.push_back(std::move(why));
  }
  if (blocks.empty()) return Ok();
  forced_ = options_.force;
  if (!options_.force) return Refused(Join(blocks, "; ") + "; --force deletes them all the same");
  return Confirm(blocks);
}

Status Deletion::Confirm(const std::vector<std::string>& blocks) {
  for (const std::string& why : blocks) notes_.Warn(why);
  if (options_.yes || options_.dry_run) return Ok();
  bool terminal = world_.in.rdbuf() == std::cin.rdbuf() && isatty(STDIN_FILENO) != 0;
  if (!terminal) return Invalid("--force overrides this; without a terminal to ask on it needs --yes as well");
  world_.err << "Clusters whose providers are gone can't be changed or deleted any more. Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(world_.in, answer);
  answer = ToLower(Trim(answer));
  if (answer == "y" || answer == "yes") return Ok();
  return Error{Code::kCancelled, "nothing was deleted", {}};
}

// What can't be read of another provider's inventory couldn't be kept.
Status Deletion::CheckInventories() const {
  for (const Target& other : all_) {
    auto inventory = kube::Inventory::Parse(other.inventory);
    if (!inventory.ok())
      return Refused(
          fmt::format("the inventory of {} can't be read: {}", Describe(other.id), inventory.error().message));
  }
  return Ok();
}

// What other providers' objects say is theirs.
lifecycle::Keep Deletion::OwnedByOthers(const Target& target) const {
  auto owners = std::make_shared<std::map<kube::ObjectId, std::string>>();
  for (const Target& other : all_) {
    if (other.id == target.id) continue;
    auto inventory = kube::Inventory::Parse(other.inventory);
    if (!inventory.ok()) continue;
    for (const auto& [id, entry] : inventory->entries()) owners->emplace(id, Describe(other.id));
  }
  return [owners](const kube::Object& live) -> std::string {
    auto found = owners->find(live.id());
    return found == owners->end() ? "" : "it is in the inventory of " + found->second;
  };
}

Status Deletion::Print() {
  for (const auto& round : Rounds(going_)) {
    for (const Target& target : round) {
      world_.out << fmt::format("{} {}{}\n", Describe(target.id), target.version.empty() ? "-" : target.version,
                                ByOperator(target) ? ", by the operator" : "");
      std::vector<kube::ObjectId> ids;
      if (ByOperator(target)) {
        auto inventory = TRY(kube::Inventory::Parse(target.inventory));
        for (const auto& [id, entry] : inventory.entries()) ids.push_back(id);
        ids = lifecycle::ToRemove(ids, target.id.ns, {options_.crds, false, true});
      } else {
        auto removal = TRY(lifecycle::PlanRemoval(ctx_, client(), target.id, Scope(), OwnedByOthers(target)));
        ids = removal.objects;
        for (const std::string& kept : removal.kept) notes_.Say(0, "Kept", {{"object", kept}});
      }
      for (const kube::ObjectId& id : ids) world_.out << "  " << id.ToString() << '\n';
    }
  }
  if (options_.namespaces) {
    for (const std::string& ns : NamespacesOf(going_)) world_.out << "Namespace/" << ns << '\n';
  }
  if (RemovesOperator()) world_.out << "capi-operator in namespace " << operator_->ns << '\n';
  return Ok();
}

Status Deletion::DeleteRound(const std::vector<Target>& round) {
  std::vector<Target> awaited;
  for (const Target& target : round) {
    std::string name = target.id.ns + "/" + api::ManifestLabel(target.id.type, target.id.name);
    notes_.Say(0, "Deleting", {{"Provider", name}, {"providerVersion", target.version}});
    if (!ByOperator(target)) continue;
    TRY(RequestDeletion(ctx_, client(), target.id, {options_.crds, forced_}));
    awaited.push_back(target);
  }
  for (const Target& target : round) {
    if (!ByOperator(target)) TRY_WITH(DeleteDirectly(target), Describe(target.id));
  }
  return AwaitGone(ctx_, client(), awaited, Seconds(options_.wait_seconds), notes_);
}

Status Deletion::DeleteDirectly(const Target& target) {
  const lifecycle::Keep owned = OwnedByOthers(target);
  auto removal = TRY(lifecycle::PlanRemoval(ctx_, client(), target.id, Scope(), owned));
  for (const std::string& kept : removal.kept) notes_.Say(0, "Kept", {{"object", kept}});
  for (const std::string& left : TRY(lifecycle::Remove(ctx_, client(), removal, owned)))
    notes_.Say(0, "Deleted, but not gone yet", {{"object", left}});
  if (target.object) TRY(ReleaseObject(ctx_, client(), target.id));
  return Ok();
}

// Of providers that the operator has removed: it leaves their namespaces.
Status Deletion::DeleteNamespaces() {
  std::vector<Target> removed;
  std::copy_if(going_.begin(), going_.end(), std::back_inserter(removed),
               [&](const Target& target) { return ByOperator(target); });
  for (const std::string& ns : NamespacesOf(removed)) {
    if (operator_ && ns == operator_->ns) continue;  // it goes with the operator
    notes_.Say(0, "Deleting", {{"namespace", ns}});
    auto deleted = client().Delete(ctx_, kube::Builtin("Namespace"), "", ns);
    if (!deleted.ok() && deleted.code() != Code::kNotFound) return deleted.error().With("Namespace " + ns);
  }
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
  return RemoveOperator(ctx_, client(), operator_->ns, {options_.crds, options_.namespaces});
}

Status Deletion::Run() {
  TRY(Look());
  TRY(CheckOperator());
  TRY(CheckGuards());
  if (options_.dry_run) return Print();
  for (const auto& round : Rounds(going_)) TRY(DeleteRound(round));
  if (options_.namespaces) TRY(DeleteNamespaces());
  return DeleteOperator();
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
