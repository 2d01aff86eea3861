// The webhooks of the operator, put together: server, paths and certificate (behaviour.md T7).
#pragma once

#include <memory>
#include <optional>

#include "operator/options.h"
#include "operator/webhooks/certificates.h"
#include "operator/webhooks/webhook_server.h"

namespace capi::ops {

// Thread-safe.
class Webhooks {
 public:
  // `ns`: the operator's own namespace, of its Secret. `o` asks for webhooks.
  Webhooks(const Options& o, const std::string& ns, kube::Client& client, kube::Metrics& metrics,
           kube::EventRecorder& events, const Logger& log);

  void AddTo(kube::Manager& manager);
  bool Ready() const { return server_.Ready(); }

 private:
  kube::Client& client_;
  const std::string cert_dir_;
  WebhookServer server_;
  std::optional<WebhookCertificates> certificates_;  // none where they come from files
};

}  // namespace capi::ops
