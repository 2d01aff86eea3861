#include "cli/install/init.h"

#include <fmt/format.h>

#include "api/schema/crds.h"
#include "cli/frame/interrupt.h"
#include "cli/install/operator_step.h"
#include "cli/install/prepare.h"
#include "cli/install/wait.h"
#include "cli/install/without_operator.h"
#include "cli/operator_manifests/manifests.h"

namespace capi::cli {
namespace {

// What is known of cert-manager before anything is written. A value.
struct CertManagerPlan {
  CertManagerSettings settings;
  bool install = false;
  std::vector<kube::Object> objects;
};

Result<CertManagerPlan> PrepareCertManager(const Context& ctx, const Config& config, kube::Client& client,
                                           Notes& notes) {
  CertManagerPlan out;
  out.settings = TRY(ReadCertManagerSettings(config, notes));
  CertManagerFound found = TRY(ProbeCertManager(ctx, client));
  if (found.state == CertManagerState::kAnswers)
    notes.Say(0, "Skipping installing cert-manager as it is already installed");
  out.install = NeedsCertManager(found.state, out.settings);
  if (!out.install) return out;
  out.objects = TRY(FetchCertManager(ctx, config, out.settings, notes));
  TRY(CheckNoOlder(found, out.settings, out.objects));
  return out;
}

Status CarryCertManager(const Context& ctx, kube::Client& client, CertManagerPlan& plan, Notes& notes) {
  if (plan.install) TRY(InstallCertManager(ctx, client, std::move(plan.objects), plan.settings, notes));
  return AwaitCertManager(ctx, client, plan.settings, plan.install, notes);
}

// Its namespace; it may not be available yet. One that others installed is left as it is.
Result<std::string> CarryOperator(const Context& ctx, kube::Client& client,
                                  const std::optional<InstalledOperator>& there, bool half, const std::string& image,
                                  Notes& notes) {
  if (there && !half) return there->ns;
  TRY(InstallOperator(ctx, client, there ? there->image : image, notes));
  return std::string(api::kOperatorNamespace);
}

void SayStep(Notes& notes, std::string_view message, const ProviderCargo& cargo) {
  notes.Say(0, message,
            {{"provider", api::ManifestLabel(cargo.id.type, cargo.id.name)},
             {"version", cargo.version},
             {"targetNamespace", cargo.id.ns}});
}

// What the objects need, but no credentials. Nothing of it needs the operator, which comes up meanwhile.
Status CarryAllParts(const Context& ctx, kube::Client& client, const std::vector<ProviderCargo>& adopted,
                     const std::vector<ProviderCargo>& cargo) {
  for (const auto* all : {&adopted, &cargo}) {
    for (const ProviderCargo& one : *all) TRY(CarryParts(ctx, client, one));
  }
  return Ok();
}

// The core's object last: as long as it isn't recorded, the next run is a first one again and goes on.
Status CarryObjects(const Context& ctx, kube::Client& client, const std::vector<ProviderCargo>& adopted,
                    const std::vector<ProviderCargo>& cargo, Notes& notes) {
  for (const ProviderCargo& one : adopted) {
    SayStep(notes, "Taking over", one);
    TRY(CarryObject(ctx, client, one));
  }
  for (const ProviderCargo& one : cargo) SayStep(notes, "Installing", one);
  for (bool core : {false, true}) {
    for (const ProviderCargo& one : cargo) {
      if ((one.id.type == api::ProviderType::kCore) == core) TRY(CarryObject(ctx, client, one));
    }
  }
  return Ok();
}

Status Await(const Context& ctx, kube::Client& client, const InitOptions& options, const InitPlan& plan,
             const std::vector<ProviderCargo>& cargo, World& world) {
  std::vector<api::ProviderId> all, ids = plan.skipped;
  for (const ProviderCargo& one : plan.adopted) all.push_back(one.id);
  for (const ProviderCargo& one : cargo) ids.push_back(one.id);
  Notes notes(world.err);
  // What is being deleted was refused.
  PassOverPaused(plan.present, ids, notes);
  all.insert(all.end(), ids.begin(), ids.end());
  TRY(AwaitLook(ctx, client, all));
  if (!options.wait_providers || ids.empty()) return Ok();
  notes.Say(0, "Waiting for providers to be available...");
  LiveLines lines(world.err, world.err_columns);
  return AwaitReady(ctx, client, ids, Seconds(options.wait_provider_timeout), lines);
}

void SayUsage(Notes& notes) {
  for (const char* line :
       {"", "Your management cluster has been initialized successfully!", "",
        "You can now create your first workload cluster by running the following:", "",
        "  clusterctl generate cluster [name] --kubernetes-version [version] | kubectl apply -f -", ""}) {
    notes.Say(0, line);
  }
}

}  // namespace

Status InitUninterrupted(const Context& ctx, const GlobalOptions& global, const InitOptions& options, World& world) {
  TRY(CheckOptions(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::string image = TRY(ConfiguredOperatorImage(config, options.operator_image));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  kube::Client& client = cluster.client();
  TRY(cluster.CheckContract(ctx, AlsoAllowed::kNotInstalled));
  auto there = TRY(FindOperator(ctx, client));
  if (!options.with_operator) TRY(CheckNoOperator(there));
  bool half = false;
  if (there) {
    TRY(CheckSkew(*there, OwnVersion()));
    TRY(CheckSameImage(*there, options.operator_image));
    half = TRY(IsHalfInstalled(ctx, client, *there));
    if (half) TRY(CheckSameVersion(*there, OwnVersion()));
  }
  InitPlan plan = TRY(PrepareInit(ctx, config, cluster, options, there.has_value(), notes));
  std::vector<lifecycle::DirectRelease> direct;
  if (!options.with_operator) direct = TRY(PrepareDirectly(ctx, config, client, plan.queue));
  std::vector<ProviderCargo> cargo;
  for (Candidate& candidate : plan.queue) {
    cargo.push_back(TRY(CargoOf(config, plan, candidate)));
    if (options.with_operator) TRY(CheckCargo(ctx, client, cargo.back()));
    candidate.found.release = {};  // large, and no longer needed
  }
  std::optional<CertManagerPlan> cert_manager;
  if (options.cert_manager) cert_manager = TRY(PrepareCertManager(ctx, config, client, notes));
  for (const std::string& surprise : config.Surprises()) notes.Warn(surprise);

  if (cert_manager) TRY(CarryCertManager(ctx, client, *cert_manager, notes));
  if (options.with_operator) {
    const std::string ns = TRY(CarryOperator(ctx, client, there, half, image, notes));
    TRY(CarryAllParts(ctx, client, plan.adopted, cargo));
    TRY(AwaitRollout(ctx, client, ns, !there || half, notes));
    TRY(CarryObjects(ctx, client, plan.adopted, cargo, notes));
    TRY(Await(ctx, client, options, plan, cargo, world));
  } else {
    TRY(InstallDirectly(ctx, client, direct, plan.skipped, options, notes));
  }
  if (plan.first_time) SayUsage(notes);
  return Ok();
}

Status CheckOptions(const InitOptions& options) {
  if (options.wait_provider_timeout < 0)
    return Error{Code::kInvalidArgument, "--wait-provider-timeout must not be negative", {}};
  if (options.with_operator || options.operator_image.empty()) return Ok();
  return Error{Code::kInvalidArgument, "--operator-image has no use with --operator=false: leave one of them out", {}};
}

Status Init(const Context& parent, const GlobalOptions& global, const InitOptions& options, World& world) {
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  return OrInterrupted(ctx, InitUninterrupted(ctx, global, options, world));
}

}  // namespace capi::cli
