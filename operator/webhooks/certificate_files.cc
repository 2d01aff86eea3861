#include "operator/webhooks/certificate_files.h"

#include "base/files.h"
#include "base/http/tls.h"

namespace capi::ops {
namespace {

constexpr Millis kLook = Seconds(1);
constexpr size_t kLargest = 1u << 20;

Status ServeFiles(const std::string& cert_file, const std::string& key_file, const ServeCertificate& serve) {
  http::Certificate certificate;
  certificate.cert_pem = TRY(ReadFile(cert_file, kLargest));
  certificate.key_pem = TRY(ReadFile(key_file, kLargest));
  return serve(certificate);
}

}  // namespace

Status ServeCertificateFiles(const Context& ctx, const std::string& folder, const ServeCertificate& serve) {
  http::TlsOptions files;
  files.cert_file = folder + "/tls.crt";
  files.key_file = folder + "/tls.key";
  http::TlsFiles watched(files);
  Logger log = ctx.log.With({{"folder", folder}});
  for (bool changed = true;; changed = watched.Changed(ctx.clock->Monotonic())) {
    if (changed) {
      Status served = ServeFiles(files.cert_file, files.key_file, serve);
      if (served.ok()) {
        log.Info("serving a certificate of the webhooks");
      } else if (watched.Unusable(ctx.clock->Monotonic())) {
        log.Warn("the files of the webhooks' certificate can't be used", {{"error", served.error().message}});
      }
    }
    if (!ctx.clock->Sleep(ctx.stop, kLook)) return Ok();
  }
}

}  // namespace capi::ops
