#include "cli/cert_manager/cert_manager.h"

#include <fmt/format.h>

#include "api/kinds.h"
#include "cli/cert_manager/decision.h"
#include "kube/apply/apply.h"

namespace capi::cli {
namespace {

constexpr std::string_view kLabelCore = "clusterctl.cluster.x-k8s.io/core";
constexpr std::string_view kFieldManager = "clusterctl";
constexpr std::string_view kProbeNamespace = "default";  // which every cluster has
constexpr Millis kPause{250};

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
  auto made =
      client.Create(ctx, kind, kube::Object(object), {.field_manager = std::string(kFieldManager), .dry_run = true});
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

}  // namespace

Result<CertManagerState> ProbeCertManager(const Context& ctx, kube::Client& client) {
  Status tried = Try(ctx, client);
  if (tried.ok()) return CertManagerState::kAnswers;
  if (IsOther(tried.error())) return tried.error().With("failed to look for cert-manager");
  for (const char* name : {"issuers.cert-manager.io", "certificates.cert-manager.io"}) {
    auto crd = client.Get(ctx, kube::Builtin("CustomResourceDefinition"), "", name);
    if (!crd.ok() && crd.code() == Code::kNotFound) return CertManagerState::kMissing;
    if (!crd.ok()) return crd.error().With("failed to look for cert-manager");
    if (!crd->has_label(kLabelCore)) return CertManagerState::kStartsOther;
  }
  return CertManagerState::kStartsOurs;
}

bool NeedsCertManager(CertManagerState state, const CertManagerSettings& settings) {
  if (settings.external) return false;
  return state == CertManagerState::kMissing || state == CertManagerState::kStartsOurs;
}

Status InstallCertManager(const Context& ctx, kube::Client& client, std::vector<kube::Object> objects,
                          const CertManagerSettings& settings, Notes& notes) {
  notes.Say(0, "Installing cert-manager", {{"version", settings.version}});
  std::vector<kube::Manifest> manifests;
  for (kube::Object& object : objects) {
    object.set_label(api::kLabelClusterctl, "");
    object.set_label(kLabelCore, "cert-manager");
    object.set_annotation(kCertManagerVersionAnnotation, settings.version);
    manifests.push_back(kube::ToManifest(std::move(object)));
  }
  kube::ApplyOptions options;
  options.field_manager = kFieldManager;
  std::vector<kube::Change> changes;
  return TRY_WITH(kube::Applier(client, options).Apply(ctx, manifests, {}, changes), "failed to install cert-manager"),
         Ok();
}

Status AwaitCertManager(const Context& ctx, kube::Client& client, const CertManagerSettings& settings, Notes& notes) {
  Context bounded = ctx.WithTimeout(settings.timeout);
  Status tried = Try(ctx, client);
  if (!tried.ok()) notes.Say(0, "Waiting for cert-manager to be available...");
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
