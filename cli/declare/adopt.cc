#include "cli/declare/adopt.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/release_maps.h"
#include "api/stored_release.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/declare/adopt_plan.h"
#include "cli/declare/declaration.h"
#include "cli/declare/find_release.h"
#include "cli/declare/recovery.h"
#include "cli/frame/provider_objects.h"
#include "cli/install/carry.h"

namespace capi::cli {
namespace {

constexpr std::string_view kImagesKey = "images";

// One provider's objects, before they are written. Holds secrets.
struct Adoption {
  AdoptStep step;
  kube::Object object;
  SecretValuesByKey secret;           // to be made; empty where the operator makes it, where it is there, or for none
  std::vector<kube::Object> release;  // ConfigMaps, where the operator can't fetch it
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
      if (!one.release.empty()) {
        world_.out << fmt::format("# Its release is put into ConfigMap {}/{}, too.\n", one.step.entry.id.ns,
                                  one.release.back().name());
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

  // What adoptions left that were interrupted behind the object, for each that is meant.
  Status OwnLeftOvers(const Fleet& fleet, const AdoptOptions& options) {
    for (const InventoryEntry& entry : fleet.entries) {
      const kube::Object* object = fleet.ObjectOf(entry.id);
      bool meant = options.all || std::any_of(options.names.begin(), options.names.end(),
                                              [&](const auto& name) { return IsMeant(name, entry.id); });
      if (!meant || object == nullptr || object->ns() != entry.id.ns) continue;
      TRY_WITH(OwnLeftOver(entry.id, *object), Describe(entry.id));
    }
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
    const api::ProviderId& id = step.entry.id;
    Declaration declaration = TRY(Declare(config_, step.entry));
    for (const std::string& remark : declaration.remarks) notes_.Warn(fmt::format("{}: {}", Describe(id), remark));
    Adoption out{step, std::move(declaration.object), {}, {}};
    api::Provider provider;
    provider.id = id;
    provider.spec.version = step.entry.version;
    api::Release release = TRY_WITH(FindRelease(ctx_, {config_}, provider, notes_),
                                    "its release says which variables it has, and can't be read (`clusterctl config "
                                    "repositories` has its place)");
    if (declaration.needs_release) out.release = ReleaseMapsOf(id, release);
    TRY(LackingMaps(ctx_, client_, out.release));
    const auto images = ImagesOf(TRY(config_.Images()), api::ManifestLabel(id.type, id.name));
    LiveVariables live = TRY(RecoverLive(ctx_, client_, id, release, images));
    for (const std::string& unclear : live.found.unclear) notes_.Warn(fmt::format("variable {}", unclear));
    auto there = TRY(ReadSecret(ctx_, client_, id.ns, VariablesSecretName(id)));
    RecoveredValues values = TRY(AskForRest(config_, live, there));
    if (!values.missing.empty()) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("the values of [{}] stand in no object of the cluster: set {} in the environment or in "
                               "clusterctl's configuration file",
                               Join(values.missing, ", "), values.missing.size() == 1 ? "it" : "them"),
                   {}};
    }
    // The operator recovers them by itself (A2), but doesn't look into a Secret that is there.
    if (!there && values.asked.empty() && images.empty()) return out;
    SecretValuesByKey needed = std::move(values.values);
    if (!images.empty()) needed[std::string(kImagesKey)] = ImagesText(images);
    if (there && !needed.empty()) {
      live.found.given.emplace(kImagesKey, "");
      TRY(CheckSecret(id, *there, needed, live.found.given));
    }
    if (!needed.empty()) out.object.json()["spec"]["configSecret"] = {{"name", VariablesSecretName(id)}};
    if (!there) out.secret = std::move(needed);
    return out;
  }

  // What is used has to be there before the object is: the operator begins as soon as it sees that.
  Status Create(const Adoption& one, bool dry_run) {
    const api::ProviderId& id = one.step.entry.id;
    const kube::WriteOptions options{.field_manager = std::string(kProviderFieldManager), .dry_run = dry_run};
    if (!one.secret.empty()) {
      auto secret = client_.Create(ctx_, kube::Builtin("Secret"), SecretOf(one), options);
      if (!secret.ok() && secret.code() != Code::kAlreadyExists) return secret.error();
      if (!secret.ok()) {  // somebody else was quicker
        auto there = TRY(ReadSecret(ctx_, client_, id.ns, VariablesSecretName(id)));
        TRY(CheckSecret(id, there.value_or(SecretValuesByKey()), one.secret, {}));
      }
    }
    TRY(MakeMaps(ctx_, client_, one.release, options));
    auto created = client_.Create(ctx_, api::ResourceOf(id.type), one.object, options);
    if (!created.ok() && created.code() != Code::kAlreadyExists) return created.error();
    return created.ok() && !dry_run ? OwnMaps(ctx_, client_, one.release, *created) : Ok();
  }

  Status OwnLeftOver(const api::ProviderId& id, const kube::Object& owner) {
    const std::string selector = api::SelectorOf(api::ReleaseSelector(id));
    const auto maps =
        TRY(client_.List(ctx_, kube::Builtin("ConfigMap"), id.ns, {.label_selector = selector, .metadata_only = true}));
    for (const kube::Object& map : maps.items) {
      Status owned = OwnRelease(ctx_, client_, map, owner);
      if (!owned.ok() && owned.code() != Code::kNotFound) return owned;  // one that went meanwhile needs no owner
    }
    return Ok();
  }

  // One that an interrupted adoption left is what this one would write; another one isn't changed.
  static Status CheckSecret(const api::ProviderId& id, SecretValuesByKey there, const SecretValuesByKey& needed,
                            const SecretValuesByKey& given) {
    if (auto images = there.find(std::string(kImagesKey)); images != there.end()) {
      // In another order, or with those of other providers (`convert`), they say the same.
      auto parsed = templating::ParseImageOverrides(images->second);
      if (parsed.ok()) images->second = ImagesText(ImagesOf(*parsed, api::ManifestLabel(id.type, id.name)));
    }
    const std::string mismatch = MismatchOf(there, needed, given);
    if (mismatch.empty()) return Ok();
    return Error{Code::kFailedPrecondition,
                 fmt::format("Secret {}/{} is there already, and {}: correct it, or delete it", id.ns,
                             VariablesSecretName(id), mismatch),
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
  Adopting adopting(ctx, cluster, config, notes, world);
  TRY(adopting.Prepare(steps));
  if (!options.dry_run) TRY(adopting.DryRun());
  if (steps.empty()) {
    if (!options.dry_run) TRY(adopting.OwnLeftOvers(fleet, options));
    world.out << (fleet.entries.empty() ? "clusterctl installed no provider here: there is nothing to adopt\n"
                                        : "every provider is adopted already\n");
    return Ok();
  }
  if (options.dry_run) {
    adopting.Print();
    return Ok();
  }
  TRY(adopting.Write());
  world.out << "The operator takes them over without a change of what runs. Watch it:\n"
               "  kubectl get capi-providers --all-namespaces --watch\n"
               "  clusterctl why NAME    says what holds one back\n";
  return adopting.OwnLeftOvers(fleet, options);
}

}  // namespace capi::cli
