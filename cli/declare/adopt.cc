#include "cli/declare/adopt.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/declare/adopt_plan.h"
#include "cli/declare/declaration.h"
#include "cli/declare/find_release.h"
#include "cli/declare/recovery.h"
#include "cli/frame/provider_objects.h"

namespace capi::cli {
namespace {

constexpr std::string_view kImagesKey = "images";

// One provider's objects, before they are written. Holds secrets.
struct Adoption {
  AdoptStep step;
  kube::Object object;
  std::map<std::string, std::string> secret;  // keys and values; empty where the operator makes the Secret, or none
  std::vector<std::string> asked;             // of these keys, those that the configuration gave
};

kube::Object SecretOf(const Adoption& adoption) {
  Json data = Json::object();
  for (const auto& [name, value] : adoption.secret) data[name] = Base64Encode(value);
  return kube::Object(Json{
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata", {{"name", VariablesSecretName(adoption.step.entry.id)}, {"namespace", adoption.step.entry.id.ns}}},
      {"type", "Opaque"},
      {"data", data}});
}

std::string KeysOf(const Adoption& adoption) {
  std::vector<std::string> keys;
  for (const auto& item : adoption.secret) keys.push_back(item.first);
  return Join(keys, ", ");
}

class Adopting {
 public:
  Adopting(const Context& ctx, ManagementCluster& cluster, const Config& config, Notes& notes, World& world)
      : ctx_(ctx), client_(cluster.client()), config_(config), notes_(notes), world_(world) {}

  // What is needed for each; the error names all that lack something.
  Status Prepare(const std::vector<AdoptStep>& steps) {
    std::vector<std::string> refusals;
    for (const AdoptStep& step : steps) {
      TRY(ctx_.Check());
      if (step.there) {
        adoptions_.push_back({step, {}, {}, {}});
        continue;
      }
      auto prepared = PrepareOne(step);
      if (prepared.ok()) {
        adoptions_.push_back(*std::move(prepared));
      } else {
        refusals.push_back(fmt::format("{} can't be adopted: {}", Describe(step.entry.id), prepared.error().message));
      }
    }
    if (!refusals.empty()) return Error{Code::kFailedPrecondition, Join(refusals, "\n"), {}};
    return Ok();
  }

  void Print() const {
    for (const Adoption& one : adoptions_) {
      if (one.step.there) continue;
      world_.out << "---\n";
      if (!one.secret.empty()) {
        world_.out << fmt::format("# Secret {}/{} is made, too, with the keys {}.\n", one.step.entry.id.ns,
                                  VariablesSecretName(one.step.entry.id), KeysOf(one));
      }
      world_.out << ToYaml(one.object.json());
    }
  }

  // Asks the server whether it takes all of them.
  Status DryRun() {
    std::vector<std::string> refusals;
    for (const Adoption& one : adoptions_) {
      if (one.step.there) continue;
      Status taken = Create(one, true);
      if (!taken.ok())
        refusals.push_back(fmt::format("{} can't be adopted: {}", Describe(one.step.entry.id), taken.error().message));
    }
    if (!refusals.empty()) return Error{Code::kFailedPrecondition, Join(refusals, "\n"), {}};
    return Ok();
  }

  Status Write() {
    for (const Adoption& one : adoptions_) {
      const std::string name = Describe(one.step.entry.id);
      if (one.step.there) {
        world_.out << fmt::format("{} is there already\n", name);
        continue;
      }
      TRY_WITH(Create(one, false), name);
      world_.out << fmt::format("{} created at {}\n", name, one.step.entry.version) << std::flush;
    }
    return Ok();
  }

 private:
  Result<Adoption> PrepareOne(const AdoptStep& step) {
    Declaration declaration = TRY(Declare(config_, step.entry));
    for (const std::string& remark : declaration.remarks)
      notes_.Warn(fmt::format("{}: {}", Describe(step.entry.id), remark));
    Adoption out{step, std::move(declaration.object), {}, {}};
    api::Provider provider;
    provider.id = step.entry.id;
    provider.spec.version = step.entry.version;
    api::Release release = TRY_WITH(FindRelease(ctx_, {config_}, provider, notes_),
                                    "its release says which variables it has, and can't be read (`clusterctl config "
                                    "repositories` has its place)");
    auto images = TRY(ImagesOf(config_, step.entry.id));
    LiveVariables live = TRY(RecoverLive(ctx_, client_, step.entry, release, images));
    for (const std::string& unclear : live.found.unclear) notes_.Warn(fmt::format("variable {}", unclear));
    RecoveredValues values = TRY(AskForRest(config_, live));
    if (!values.missing.empty()) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("the values of [{}] stand in no object of the cluster: set {} in the environment or in "
                               "clusterctl's configuration file",
                               Join(values.missing, ", "), values.missing.size() == 1 ? "it" : "them"),
                   {}};
    }
    if (values.asked.empty() && images.empty()) return out;  // the operator recovers them by itself (A2)
    out.secret = std::move(values.values);
    out.asked = std::move(values.asked);
    if (!images.empty()) out.secret[std::string(kImagesKey)] = ImagesAsYaml(images);
    out.object.json()["spec"]["configSecret"] = {{"name", VariablesSecretName(step.entry.id)}};
    return out;
  }

  // The Secret comes first: the operator begins as soon as the object is there. What an interrupted adoption left is
  // what this one would write; a Secret of somebody's own with that name is used where it has all that is needed.
  Status Create(const Adoption& one, bool dry_run) {
    const kube::WriteOptions options{.field_manager = "clusterctl", .dry_run = dry_run};
    if (!one.secret.empty()) {
      auto secret = client_.Create(ctx_, kube::Builtin("Secret"), SecretOf(one), options);
      if (!secret.ok() && secret.code() == Code::kAlreadyExists) {
        TRY(CheckSecret(one));
      } else if (!secret.ok()) {
        return secret.error();
      }
    }
    auto created = client_.Create(ctx_, api::ResourceOf(one.step.entry.id.type), one.object, options);
    if (!created.ok() && created.code() != Code::kAlreadyExists) return created.error();
    return Ok();
  }

  Status CheckSecret(const Adoption& one) {
    const kube::Object wanted = SecretOf(one);
    auto live = TRY(client_.Get(ctx_, kube::Builtin("Secret"), wanted.ns(), wanted.name()));
    std::vector<std::string> lacking;
    for (const std::string& name : one.asked) {
      if (Find(live.json(), {"data", name}) == nullptr) lacking.push_back(name);
    }
    if (one.secret.contains(std::string(kImagesKey)) && Find(live.json(), {"data", kImagesKey}) == nullptr)
      lacking.emplace_back(kImagesKey);
    if (lacking.empty()) return Ok();
    return Error{Code::kAlreadyExists,
                 fmt::format("Secret {}/{} is there, and lacks the keys [{}]: add them, or delete it", wanted.ns(),
                             wanted.name(), Join(lacking, ", ")),
                 {}};
  }

  const Context& ctx_;
  kube::Client& client_;
  const Config& config_;
  Notes& notes_;
  World& world_;
  std::vector<Adoption> adoptions_;
};

Status CheckOptions(const AdoptOptions& options) {
  if (options.all == options.names.empty()) return Ok();
  return Error{Code::kInvalidArgument,
               options.all ? "name providers or give --all, not both"
                           : "name the providers, like aws or bootstrapprovider/kubeadm, or give --all",
               {}};
}

Status NoKinds() {
  return Error{
      Code::kFailedPrecondition,
      fmt::format("the cluster has no kinds of {}: install capi-operator first (docs/install.md)", api::kGroup),
      {}};
}

}  // namespace

Status Adopt(const Context& ctx, const GlobalOptions& global, const AdoptOptions& options, World& world) {
  TRY(CheckOptions(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  Fleet fleet = TRY(ReadFleet(ctx, cluster));
  if (!fleet.has_kinds && !options.dry_run) return NoKinds();
  std::vector<AdoptStep> steps = TRY(PlanAdoption(fleet, options.names, options.all));
  if (steps.empty()) {
    world.out << (fleet.entries.empty() ? "clusterctl installed no provider here: there is nothing to adopt\n"
                                        : "every provider is adopted already\n");
    return Ok();
  }
  Adopting adopting(ctx, cluster, config, notes, world);
  TRY(adopting.Prepare(steps));
  if (options.dry_run) {
    adopting.Print();
    return Ok();
  }
  TRY(adopting.DryRun());
  TRY(adopting.Write());
  world.out << "The operator takes them over without a change of what runs. Watch it:\n"
               "  kubectl get capi-providers --all-namespaces --watch\n"
               "  clusterctl why NAME    says what holds one back\n";
  return Ok();
}

}  // namespace capi::cli
