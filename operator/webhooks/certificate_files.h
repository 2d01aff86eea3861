// The certificate of the webhooks from a folder, as cert-manager's Secret is mounted (behaviour.md T7).
#pragma once

#include <string>

#include "operator/webhooks/certificates.h"

namespace capi::ops {

// Serves tls.crt and tls.key of `folder`, and again when they change (a look each second costs two calls of stat).
// Files that aren't there yet are waited for; ones that can't be used are reported, and the former certificate is
// served on. Blocks until the context stops.
Status ServeCertificateFiles(const Context& ctx, const std::string& folder, const ServeCertificate& serve);

}  // namespace capi::ops
