// Which cert-manager the configuration asks for, and its objects.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "cli/frame/config.h"
#include "kube/meta/object.h"

namespace capi::cli {

// Of key `cert-manager`. A value.
struct CertManagerSettings {
  std::string url, version;
  Millis timeout = std::chrono::minutes(10);
  bool external = false;  // externallyProvisioned: it is waited for, and never installed
};

// Says so where the timeout is none.
Result<CertManagerSettings> ReadCertManagerSettings(const Config& config, Notes& notes);

// "5m"; ten minutes for "" and, with `valid` false, for what is no duration.
Millis CertManagerTimeout(const std::string& text, bool& valid);

// The objects of its release, with the image overrides of component `cert-manager`, in the order in which they are to
// be created. Files in the folder of overrides go before those of the release.
Result<std::vector<kube::Object>> FetchCertManager(const Context& ctx, const Config& config,
                                                   const CertManagerSettings& settings, Notes& notes);

// The text of its manifests, as the release has it (or the folder of overrides).
Result<std::string> ReadCertManagerManifests(const Context& ctx, const Config& config,
                                             const CertManagerSettings& settings, Notes& notes);

}  // namespace capi::cli
