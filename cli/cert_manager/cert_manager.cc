#include "cli/cert_manager/cert_manager.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/kinds.h"
#include "cli/cert_manager/decision.h"
#include "cli/cert_manager/labels.h"
#include "kube/apply/apply.h"
#include "kube/meta/kind.h"
#include "lifecycle/direct/install.h"

namespace capi::cli {
namespace {

constexpr std::string_view kAnyCertManager = "app.kubernetes.io/name in (cert-manager,webhook)";
constexpr std::string_view kProbeNamespace = "default";  // which every cluster has
constexpr Millis kPause{250};

const kube::Resource& Crds() { return kube::Builtin("CustomResourceDefinition"); }

kube::Resource Kind(const std::string& plural, const std::string& kind) {
  return {.group = "cert-manager.io", .version = "v1", .plural = plural, .kind = kind};
}

Json Probe(const char* kind, const char* name, Json spec) {
  return {{"apiVersion", "cert-manager.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}, {"namespace", kProbeNamespace}}},
          {"spec", std::move(spec)}};
}

Status TryOne(const Context& ctx, kube::Client& client, const kube::Resource& kind, const Json& object) {
  auto made = client.Create(ctx, kind, kube::Object(object),
                            {.field_manager = std::string(kCertManagerWriter), .dry_run = true});
  if (made.ok() || made.code() == Code::kAlreadyExists) return Ok();
  return made.error();
}

Status Try(const Context& ctx, kube::Client& client) {
  Json issuer = Probe("Issuer", "clusterctl-probe", {{"selfSigned", Json::object()}});
  Json certificate = Probe("Certificate", "clusterctl-probe",
                           {{"dnsNames", {"example.com"}},
                            {"secretName", "clusterctl-probe"},
                            {"issuerRef", {{"name", "clusterctl-probe"}}}});
  TRY(TryOne(ctx, client, Kind("issuers", "Issuer"), issuer));
  return TryOne(ctx, client, Kind("certificates", "Certificate"), certificate);
}

// A right that is missing, or a cluster that is away, says nothing of cert-manager.
bool IsOther(const Error& error) {
  return error.code == Code::kPermissionDenied || error.code == Code::kUnauthenticated ||
         error.code == Code::kCancelled;
}

bool IsOurs(const kube::Object& crd) { return crd.has_label(kLabelCore); }

}  // namespace

bool IsInstalling(const kube::Object& crd) { return crd.has_annotation(kCertManagerInstalling); }

// One that somebody else has installed has the names of cert-manager's own manifests and of its chart.
Result<bool> HasNoDeployment(const Context& ctx, kube::Client& client) {
  for (const std::string& selector : {CertManagerSelector(), std::string(kAnyCertManager)}) {
    auto list =
        TRY(client.List(ctx, kube::Builtin("Deployment"), "", {.label_selector = selector, .metadata_only = true}));
    if (!list.items.empty()) return false;
  }
  return true;
}

Result<CertManagerFound> ProbeCertManager(const Context& ctx, kube::Client& client) {
  const char* what = "failed to look for cert-manager";
  Status tried = Try(ctx, client);
  if (!tried.ok() && IsOther(tried.error())) return tried.error().With(what);
  std::vector<kube::Object> kinds;
  for (const char* name : kCertManagerCrds) {
    auto crd = client.Get(ctx, Crds(), "", name, {.metadata_only = true});
    if (tried.ok() && (!crd.ok() || !IsOurs(*crd))) return CertManagerFound{CertManagerState::kAnswers, {}};
    if (!crd.ok() && crd.code() == Code::kNotFound) return CertManagerFound{CertManagerState::kMissing, {}};
    if (!crd.ok()) return crd.error().With(what);
    if (!IsOurs(*crd)) return CertManagerFound{CertManagerState::kStarts, {}};
    kinds.push_back(*std::move(crd));
  }
  bool broken_off = std::any_of(kinds.begin(), kinds.end(), IsInstalling);
  // Without webhooks its kinds take anything, too.
  if (broken_off || TRY_WITH(HasNoDeployment(ctx, client), what))
    return CertManagerFound{CertManagerState::kBrokenOff, std::move(kinds)};
  return CertManagerFound{tried.ok() ? CertManagerState::kAnswers : CertManagerState::kStarts, {}};
}

Status CheckNoOlder(const CertManagerFound& found, const CertManagerSettings& settings,
                    const std::vector<kube::Object>& objects) {
  auto decision = TRY(DecideCertManager(settings.version, found.kinds, objects));
  if (found.kinds.empty() || decision.upgrade || decision.from == settings.version) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("cert-manager {}, which clusterctl installed, is there in part, and the configuration names "
                           "the older {}: set cert-manager.version and cert-manager.url to those of {}",
                           decision.from, settings.version, decision.from),
               {}};
}

bool NeedsCertManager(CertManagerState state, const CertManagerSettings& settings) {
  if (settings.external) return false;
  return state == CertManagerState::kMissing || state == CertManagerState::kBrokenOff;
}

Status ApplyCertManager(const Context& ctx, kube::Client& client, std::vector<kube::Object> objects,
                        const CertManagerSettings& settings, Notes& notes) {
  notes.Say(0, "Installing cert-manager", {{"version", settings.version}});
  std::vector<kube::Manifest> manifests;
  for (kube::Object& object : objects) {
    object.set_label(api::kLabelClusterctl, "");
    object.set_label(kLabelCore, kCertManager);
    object.set_annotation(kCertManagerVersionAnnotation, settings.version);
    if (kube::IsCrd(object) && std::find(std::begin(kCertManagerCrds), std::end(kCertManagerCrds), object.name()) !=
                                   std::end(kCertManagerCrds))
      object.set_annotation(kCertManagerInstalling, "true");
    manifests.push_back(kube::ToManifest(std::move(object)));
  }
  kube::ApplyOptions options;
  options.field_manager = kCertManagerWriter;
  std::vector<kube::Change> changes;
  TRY_WITH(kube::Applier(client, options).Apply(ctx, manifests, {}, changes), "failed to install cert-manager");
  notes.Say(0, "Waiting for cert-manager to be available...");
  // Where it is there already, the old pods answer, too.
  TRY_WITH(lifecycle::AwaitAvailable(ctx, client, manifests, settings.timeout),
           fmt::format("cert-manager {} doesn't come up: look at its pods (kubectl get pods -n cert-manager), then run "
                       "the same command again",
                       settings.version));
  return Ok();
}

Status EndInstalling(const Context& ctx, kube::Client& client) {
  for (const char* name : kCertManagerCrds) {
    auto patched = client.Patch(ctx, Crds(), "", name, kube::PatchType::kMerge,
                                {{"metadata", {{"annotations", {{kCertManagerInstalling, nullptr}}}}}},
                                {.field_manager = std::string(kCertManagerWriter), .metadata_only = true});
    if (!patched.ok() && patched.code() != Code::kNotFound) return patched.error();
  }
  return Ok();
}

Status InstallCertManager(const Context& ctx, kube::Client& client, std::vector<kube::Object> objects,
                          const CertManagerSettings& settings, Notes& notes) {
  TRY(ApplyCertManager(ctx, client, std::move(objects), settings, notes));
  TRY_WITH(EndInstalling(ctx, client), "failed to install cert-manager");
  return Ok();
}

Status AwaitCertManager(const Context& ctx, kube::Client& client, const CertManagerSettings& settings, bool installed,
                        Notes& notes) {
  Context bounded = ctx.WithTimeout(settings.timeout);
  Status tried = Try(ctx, client);
  if (!tried.ok() && !installed) notes.Say(0, "Waiting for cert-manager to be available...");
  while (!tried.ok()) {
    if (IsOther(tried.error())) return tried.error();
    if (!bounded.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) {
      return Error{ctx.stop.stop_requested() ? Code::kCancelled : Code::kDeadlineExceeded,
                   fmt::format("cert-manager doesn't answer after {} s: {}. Look at its pods (kubectl get pods -n "
                               "cert-manager), then run the same command again",
                               std::chrono::duration_cast<Seconds>(settings.timeout).count(), tried.error().message),
                   {}};
    }
    tried = Try(ctx, client);
  }
  return Ok();
}

}  // namespace capi::cli
