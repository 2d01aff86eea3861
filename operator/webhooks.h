// The webhooks of the operator, put together: server, paths and certificate (behaviour.md T7).
#pragma once

#include <memory>
#include <optional>

#include "operator/act/inventory_key.h"
#include "operator/observe/settings.h"
#include "operator/options.h"
#include "operator/webhooks/access_review.h"
#include "operator/webhooks/admission_review.h"
#include "operator/webhooks/certificates.h"
#include "operator/webhooks/webhook_server.h"

namespace capi::ops {

// Thread-safe.
class Webhooks {
 public:
  // `ns`: the operator's own namespace, of its Service and its Secrets. `o` asks for webhooks. What it is given
  // outlives it.
  Webhooks(const Options& o, const Settings& settings, const std::string& ns, kube::Client& client, InventoryKey& key,
           kube::Metrics& metrics, kube::EventRecorder& events, const Logger& log);

  void AddTo(kube::Manager& manager);
  bool Ready() const { return server_.Ready(); }

 private:
  Reviews AllReviews() const;

  kube::Client& client_;
  AccessReviews access_;
  const Admission admission_;
  const std::string cert_dir_;
  WebhookServer server_;
  std::optional<WebhookCertificates> certificates_;  // none where they come from files
};

}  // namespace capi::ops
