#include "cli/install/prepare.h"

#include <fmt/format.h>

#include <algorithm>

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

BegunVersions Begun(const std::vector<PresentProvider>& present) {
  BegunVersions out;
  for (const PresentProvider& one : present) {
    if (one.recorded.empty() && !one.provider.version.empty())
      out[{one.provider.type, one.provider.name}] = one.provider.version;
  }
  return out;
}

// In its namespace and at its version; one that was begun isn't.
bool IsInstalled(const InitPlan& plan, const Candidate& candidate) {
  return std::any_of(plan.present.begin(), plan.present.end(), [&](const PresentProvider& one) {
    return one.installed() && IsThis(one, candidate.id) &&
           api::SameVersion(one.provider.version, candidate.found.release.version.ToString());
  });
}

// What counts beside the queue: all that is there, but what a run before this one has begun and this one goes on with.
std::vector<InstalledProvider> Others(const InitPlan& plan) {
  std::vector<InstalledProvider> out;
  for (const PresentProvider& one : plan.present) {
    bool goes_on = std::any_of(plan.queue.begin(), plan.queue.end(), [&](const Candidate& candidate) {
      return !one.installed() && IsThis(one, candidate.id) &&
             api::SameVersion(one.provider.version, candidate.found.release.version.ToString());
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
Result<ProviderCargo> Adopt(const Context& ctx, const Config& config, const InstalledProvider& provider, Notes& notes) {
  ProviderCargo out;
  out.id = {provider.type, provider.ns, provider.name};
  out.version = provider.version;
  const std::string label = api::ManifestLabel(provider.type, provider.name);
  const std::string what = fmt::format("failed to take over {}", label);
  auto images = TRY(config.Images());
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
  out.release = std::move(found.release);
  return out;
}

StoredValues ValuesOf(const Context& ctx, ManagementCluster& cluster, const InitPlan& plan) {
  return [&ctx, &cluster, &plan](const Candidate& candidate) -> Result<std::map<std::string, std::string>> {
    std::string name = SecretName(candidate.id);
    for (const PresentProvider& one : plan.present) {
      if (IsThis(one, candidate.id) && !one.secret.empty()) name = one.secret;
    }
    auto values = TRY(ReadSecret(ctx, cluster.client(), candidate.id.ns, name));
    return values ? *std::move(values) : std::map<std::string, std::string>();
  };
}

Status CheckNamespace(const std::string& ns) {
  if (ns.empty() || IsDns1123Label(ns)) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("invalid target namespace \"{}\": write lower case letters, digits and '-', 63 at most", ns),
               {}};
}

}  // namespace

Result<InitPlan> PrepareInit(const Context& ctx, const Config& config, ManagementCluster& cluster,
                             const InitOptions& options, Notes& notes) {
  TRY(CheckNamespace(options.target_namespace));
  InitPlan plan;
  plan.present = TRY(ReadPresent(ctx, cluster));
  plan.first_time = !HasCore(plan.present);
  notes.Say(0, "Fetching providers");
  for (const ProviderChoice& choice : TRY(ChooseProviders(options.providers, plan.first_time, Begun(plan.present)))) {
    Candidate candidate = TRY(FetchCandidate(ctx, config, choice, options.target_namespace, notes));
    if (!IsInstalled(plan, candidate)) {
      plan.queue.push_back(std::move(candidate));
      continue;
    }
    notes.Say(0, "Skipping installing the provider as it is already installed",
              {{"provider", candidate.label()},
               {"version", candidate.found.release.version.ToString()},
               {"targetNamespace", candidate.id.ns}});
  }
  Status valid = Validate(ctx, config, plan, notes);
  if (!valid.ok() && options.validate) return valid.error();
  if (!valid.ok()) notes.Say(0, "Ignoring validation errors: " + valid.error().message);
  TRY(FillIn(config, ValuesOf(ctx, cluster, plan), options.validate, plan.queue));
  for (const PresentProvider& one : plan.present) {
    if (!one.has_object && options.with_operator) plan.adopted.push_back(TRY(Adopt(ctx, config, one.provider, notes)));
  }
  return plan;
}

Result<ProviderCargo> CargoOf(const Config& config, const InitPlan& plan, const Candidate& candidate) {
  ProviderCargo out;
  out.id = candidate.id;
  out.version = candidate.found.release.version.ToString();
  out.namespace_labels = candidate.namespace_labels;
  out.values = SecretValues(candidate, TRY(config.Images()));
  for (const PresentProvider& one : plan.present) {
    if (IsThis(one, candidate.id)) out.secret = one.secret;
  }
  bool needs_secret = !candidate.variables.empty() || !out.values.empty();
  if (out.secret.empty() && needs_secret) out.secret = SecretName(candidate.id);
  out.source = TRY(SourceOf(config, candidate.found.source, out.version, candidate.found.file));
  if (out.source.kind == ReleaseSource::Kind::kInCluster) out.release = candidate.found.release;
  return out;
}

}  // namespace capi::cli
