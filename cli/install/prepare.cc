#include "cli/install/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/variables_secret.h"
#include "base/strings.h"
#include "cli/install/validate.h"

namespace capi::cli {
namespace {

bool IsThis(const PresentProvider& present, const api::ProviderId& id) {
  const InstalledProvider& it = present.provider;
  return it.type == id.type && it.name == id.name && it.ns == id.ns;
}

bool HasCore(const std::vector<PresentProvider>& present) {
  return std::any_of(present.begin(), present.end(), [](const PresentProvider& one) {
    return !one.recorded.empty() && one.provider.type == api::ProviderType::kCore;
  });
}

// Until the core is recorded, all that is there comes from a run that was broken off.
BegunVersions Begun(const InitPlan& plan) {
  BegunVersions out;
  for (const PresentProvider& one : plan.present) {
    bool begun = plan.first_time || one.recorded.empty();
    if (begun && !one.provider.version.empty()) out[{one.provider.type, one.provider.name}] = one.provider.version;
  }
  return out;
}

const PresentProvider* PresentOf(const InitPlan& plan, const api::ProviderId& id) {
  auto found = std::find_if(plan.present.begin(), plan.present.end(), [&](const auto& one) { return IsThis(one, id); });
  return found == plan.present.end() ? nullptr : &*found;
}

// Or a policy has led it on from there (U13): what is asked for was installed.
bool IsAtVersionOf(const PresentProvider& present, const Candidate& candidate) {
  const std::string version = candidate.found.release.version.ToString();
  return api::SameVersion(present.provider.version, version) ||
         (!present.led_from.empty() && api::SameVersion(present.led_from, version));
}

// In its namespace and at its version; one that was begun isn't.
bool IsInstalled(const InitPlan& plan, const Candidate& candidate) {
  const PresentProvider* present = PresentOf(plan, candidate.id);
  return present != nullptr && present->installed() && IsAtVersionOf(*present, candidate);
}

// Whether somebody else has made the object, and it asks for what the candidate is. kFailedPrecondition where it asks
// for something else: it is never applied over.
Result<bool> IsTheirs(const Context& ctx, ManagementCluster& cluster, const InitPlan& plan,
                      const Candidate& candidate) {
  const PresentProvider* present = PresentOf(plan, candidate.id);
  if (present == nullptr || !present->has_object) return false;
  const api::ProviderId& id = candidate.id;
  auto live = TRY_WITH(cluster.client().Get(ctx, api::ResourceOf(id.type), id.ns, id.name), Describe(id));
  std::string manager = OtherManagerOf(live);
  if (manager.empty()) return false;
  const std::string& asked = present->provider.version;
  if (asked.empty() || IsAtVersionOf(*present, candidate)) return true;
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is there already, asks for {}, and its spec is {}'s: change spec.version to {} there",
                           Describe(id), asked, manager, candidate.found.release.version.ToString()),
               {}};
}

// What is going is neither installed, nor can it be applied over. Without an operator it is going for ever.
Status CheckStays(const InitPlan& plan, const Candidate& candidate) {
  const PresentProvider* present = PresentOf(plan, candidate.id);
  if (present == nullptr || !present->deleting) return Ok();
  const std::string_view wait =
      plan.has_operator ? "; wait until it has gone"
                        : ", and no operator is there to end that: `clusterctl delete --operator=false` does";
  return Error{Code::kFailedPrecondition,
               fmt::format("{} is being deleted{}, then run the same command again", Describe(candidate.id), wait),
               {}};
}

Error NobodyInstalls(const api::ProviderId& id) {
  return {Code::kFailedPrecondition,
          fmt::format("{} is a provider object, and nothing looks after it: leave out --operator=false", Describe(id)),
          {}};
}

// What counts beside the queue: all that is there, but what a run before this one has begun and this one goes on with.
std::vector<InstalledProvider> Others(const InitPlan& plan) {
  std::vector<InstalledProvider> out;
  for (const PresentProvider& one : plan.present) {
    bool goes_on = std::any_of(plan.queue.begin(), plan.queue.end(), [&](const Candidate& candidate) {
      return !one.installed() && IsThis(one, candidate.id) && IsAtVersionOf(one, candidate);
    });
    if (!goes_on) out.push_back(one.provider);
  }
  return out;
}

Result<std::string> FetchContract(const Context& ctx, const Config& config, const InstalledProvider& provider,
                                  Notes& notes) {
  ProviderSource source = TRY(config.FindProvider(provider.type, provider.name));
  api::Version version = TRY(ParseVersion(provider.version));
  auto text = FetchFile(ctx, config, source, version, "metadata.yaml", notes);
  if (!text.ok()) return NoMetadata(provider, text.error());
  return ContractInMetadata(provider, TRY(api::Metadata::Parse(*text, provider.name)));
}

// Also where nothing else is validated: another version over one that is installed is an upgrade.
Status CheckNoUpgrade(const InitPlan& plan) {
  for (const Candidate& candidate : plan.queue) {
    const PresentProvider* present = PresentOf(plan, candidate.id);
    if (present == nullptr || present->recorded.empty() || IsAtVersionOf(*present, candidate)) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is installed in namespace {} at {}: `clusterctl upgrade apply` brings it to {}",
                             candidate.label(), candidate.id.ns, present->provider.version,
                             candidate.found.release.version.ToString()),
                 {}};
  }
  return Ok();
}

Status Validate(const Context& ctx, const Config& config, const InitPlan& plan, Notes& notes) {
  std::vector<InstalledProvider> queue;
  for (const Candidate& candidate : plan.queue) queue.push_back(candidate.AsInstalled());
  if (queue.empty()) return Ok();
  auto contract_of = [&](const InstalledProvider& provider) -> Result<std::string> {
    for (const Candidate& candidate : plan.queue) {
      if (candidate.AsInstalled() != provider) continue;
      return ContractInMetadata(provider, TRY(api::Metadata::Parse(candidate.found.release.metadata, provider.name)));
    }
    for (const PresentProvider& one : plan.present) {
      if (one.provider == provider && !one.contract.empty()) return one.contract;
    }
    return FetchContract(ctx, config, provider, notes);
  };
  return ValidateInstall(Others(plan), queue, contract_of);
}

// A provider of clusterctl's inventory becomes the operator's as it is; its variables the operator finds itself (A2).
Result<ProviderCargo> Adopt(const Context& ctx, const Config& config, kube::Client& client,
                            const templating::ImageOverrides& images, const InstalledProvider& provider, Notes& notes) {
  ProviderCargo out;
  out.id = {provider.type, provider.ns, provider.name};
  out.version = provider.version;
  const std::string label = api::ManifestLabel(provider.type, provider.name);
  const std::string what = fmt::format("failed to take over {}", label);
  if (HasImageOverrides(images, label)) {
    notes.Warn(
        fmt::format("the image overrides of the configuration aren't taken over with {}: where its images differ "
                    "from those of its release, it says so and waits (`clusterctl why {}`)",
                    label, provider.name));
  }
  ProviderSource source = TRY_WITH(config.FindProvider(provider.type, provider.name), what);
  std::string file = source.url.substr(source.url.rfind('/') + 1);
  out.source = TRY_WITH(SourceOf(config, source, provider.version, file), what);
  if (out.source.kind != ReleaseSource::Kind::kInCluster) return out;
  auto found = TRY_WITH(FetchRelease(ctx, config, provider.type, {provider.name, provider.version}, notes), what);
  out.maps = ReleaseMapsOf(out.id, found.release);
  TRY_WITH(LackingMaps(ctx, client, out.maps), what);
  return out;
}

Error Again(const Error& error) {
  return {error.code,
          fmt::format("{}; nothing has been written: run the same command again once that answers", error.message),
          {}};
}

// All that can be taken over. One that can't stays as it is and fails nobody else, but for the core. An outage, or an
// interruption, says nothing of what can be.
Status AdoptAll(const Context& ctx, const Config& config, kube::Client& client, InitPlan& plan, Notes& notes) {
  const auto images = TRY(config.Images());
  for (const PresentProvider& one : plan.present) {
    if (one.has_object) continue;
    auto cargo = Adopt(ctx, config, client, images, one.provider, notes);
    bool core = one.provider.type == api::ProviderType::kCore;
    if (!cargo.ok() && cargo.error().Transient()) return Again(cargo.error());
    if (!cargo.ok() && (core || cargo.code() == Code::kCancelled)) return cargo.error();
    if (cargo.ok()) {
      plan.adopted.push_back(*std::move(cargo));
      continue;
    }
    notes.Warn(
        fmt::format("{}; it stays as it is, and no operator looks after it: clusterctl adopt takes it over later",
                    cargo.error().message));
    std::erase_if(plan.skipped, [&](const api::ProviderId& id) { return IsThis(one, id); });
  }
  return Ok();
}

api::ObjectRef SecretOf(const InitPlan& plan, const api::ProviderId& id) {
  const PresentProvider* present = PresentOf(plan, id);
  if (present != nullptr && present->secret) return *present->secret;
  return {api::VariablesSecretName(id), id.ns};
}

// None without an operator, since it is the one that reads that Secret.
StoredValues ValuesOf(const Context& ctx, ManagementCluster& cluster, const InitPlan& plan, bool with_operator) {
  using Values = std::map<std::string, std::string>;
  return [&ctx, &cluster, &plan, with_operator](const Candidate& candidate) -> Result<Values> {
    if (!with_operator) return Values();
    api::ObjectRef ref = SecretOf(plan, candidate.id);
    auto values = TRY(ReadSecret(ctx, cluster.client(), ref.ns, ref.name));
    return values ? *std::move(values) : Values();
  };
}

Status CheckNamespace(const std::string& ns) {
  if (ns.empty() || IsDns1123Label(ns)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("invalid target namespace \"{}\": write lower case letters, digits and '-', 63 at most", ns),
               {}};
}

void SaySkipped(Notes& notes, std::string_view message, const Candidate& candidate) {
  notes.Say(0, message,
            {{"provider", candidate.label()},
             {"version", candidate.found.release.version.ToString()},
             {"targetNamespace", candidate.id.ns}});
}

Status FillQueue(const Context& ctx, const Config& config, ManagementCluster& cluster, const InitOptions& options,
                 InitPlan& plan, Notes& notes) {
  for (const ProviderChoice& choice : TRY(ChooseProviders(options.providers, plan.first_time, Begun(plan)))) {
    Candidate candidate = TRY(FetchCandidate(ctx, config, choice, options.target_namespace, notes));
    TRY(CheckStays(plan, candidate));
    if (IsInstalled(plan, candidate)) {
      SaySkipped(notes, "Skipping installing the provider as it is already installed", candidate);
      plan.skipped.push_back(candidate.id);
    } else if (TRY(IsTheirs(ctx, cluster, plan, candidate))) {
      if (!options.with_operator) return NobodyInstalls(candidate.id);
      SaySkipped(notes, "Skipping the provider as somebody else has made its object", candidate);
      plan.skipped.push_back(candidate.id);
    } else {
      plan.queue.push_back(std::move(candidate));
    }
  }
  return Ok();
}

}  // namespace

Result<InitPlan> PrepareInit(const Context& ctx, const Config& config, ManagementCluster& cluster,
                             const InitOptions& options, bool has_operator, Notes& notes) {
  TRY(CheckNamespace(options.target_namespace));
  InitPlan plan;
  plan.has_operator = has_operator;
  plan.present = TRY(ReadPresent(ctx, cluster));
  plan.first_time = !HasCore(plan.present);
  notes.Say(0, "Fetching providers");
  TRY(FillQueue(ctx, config, cluster, options, plan, notes));
  Status valid = Validate(ctx, config, plan, notes);
  if (!valid.ok() && options.validate) return valid.error();
  if (!valid.ok()) notes.Say(0, "Ignoring validation errors: " + valid.error().message);
  TRY(CheckNoUpgrade(plan));
  TRY(FillIn(config, ValuesOf(ctx, cluster, plan, options.with_operator), options.validate, plan.queue));
  if (options.with_operator) TRY(AdoptAll(ctx, config, cluster.client(), plan, notes));
  return plan;
}

Result<ProviderCargo> CargoOf(const Config& config, const InitPlan& plan, const Candidate& candidate) {
  ProviderCargo out;
  out.id = candidate.id;
  out.version = candidate.found.release.version.ToString();
  out.namespace_labels = candidate.namespace_labels;
  out.values = SecretValues(candidate, TRY(config.Images()));
  const PresentProvider* present = PresentOf(plan, candidate.id);
  bool names_one = present != nullptr && present->secret;
  if (names_one || !candidate.variables.empty() || !out.values.empty()) out.secret = SecretOf(plan, candidate.id);
  out.source = TRY(SourceOf(config, candidate.found.source, out.version, candidate.found.file));
  if (out.source.kind == ReleaseSource::Kind::kInCluster) out.maps = ReleaseMapsOf(out.id, candidate.found.release);
  return out;
}

}  // namespace capi::cli
