#include "operator/webhooks.h"

#include <fmt/format.h>

#include "api/schema/crds.h"
#include "api/schema/webhooks.h"
#include "operator/act/own_storage.h"
#include "operator/webhooks/certificate_files.h"
#include "operator/webhooks/conversion_review.h"

namespace capi::ops {
namespace {

// Sorted, as certificates write them.
std::vector<std::string> ServiceHosts(const std::string& ns) {
  std::string host = fmt::format("{}.{}.svc", api::kWebhookService, ns);
  return {host, host + ".cluster.local"};
}

}  // namespace

Reviews Webhooks::AllReviews() const {
  Reviews reviews = {{"/convert", [](const Context&, Json review) { return ReviewConversion(std::move(review)); }}};
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    reviews[api::MutatingPath(kind)] = [this](const Context& ctx, Json review) {
      return admission_.Mutate(ctx, std::move(review));
    };
    reviews[api::ValidatingPath(kind)] = [this](const Context&, Json review) {
      return admission_.Validate(std::move(review));
    };
  }
  return reviews;
}

Webhooks::Webhooks(const Options& o, const Settings& settings, const std::string& ns, kube::Client& client,
                   InventoryKey& key, kube::Metrics& metrics, kube::EventRecorder& events, const Logger& log)
    : client_(client),
      access_(client, SystemClock()),
      admission_({[&settings](const api::ProviderId& id) { return settings.UrlOf(id.type, id.name).has_value(); },
                  [&key](const Context& ctx) { return key.Get(ctx); }, access_}),
      cert_dir_(o.webhook_cert_dir),
      server_(fmt::format(":{}", o.webhook_port), AllReviews(), metrics) {
  if (!cert_dir_.empty()) return;
  auto serve = [this](const http::Certificate& certificate) { return server_.SetCertificate(certificate); };
  certificates_.emplace(client, ns, o.webhook_hosts.empty() ? ServiceHosts(ns) : o.webhook_hosts, serve, metrics,
                        events, log);
}

void Webhooks::AddTo(kube::Manager& manager) {
  manager.Add("webhooks", [this](const Context& ctx) { return server_.Run(ctx); });
  // Without a webhook nobody can read what is stored at another version.
  auto migrate = [this](const Context& ctx) {
    MigrateOwnStorage(ctx, client_);
    return Ok();
  };
  manager.Add("own-storage-migration", migrate, /*needs_lead=*/true);
  if (certificates_) return certificates_->AddTo(manager);
  manager.Add("webhook-certificate-files", [this](const Context& ctx) {
    auto serve = [this](const http::Certificate& certificate) { return server_.SetCertificate(certificate); };
    return ServeCertificateFiles(ctx, cert_dir_, serve);
  });
}

}  // namespace capi::ops
