// cert-manager in a cluster: whether it answers, and what installs it.
#pragma once

#include <vector>

#include "base/context.h"
#include "cli/cert_manager/release.h"
#include "cli/frame/world.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::cli {

enum class CertManagerState {
  kAnswers,      // it takes an Issuer and a Certificate
  kMissing,      // its kinds aren't there
  kStartsOurs,   // its kinds are there, and clusterctl's; it doesn't answer
  kStartsOther,  // the same, and somebody else's: it may only need a moment, and is never overwritten
};

// What an Issuer and a Certificate meet, in a dry-run: nothing is left behind.
Result<CertManagerState> ProbeCertManager(const Context& ctx, kube::Client& client);

// Whether it has to be installed, in that state.
bool NeedsCertManager(CertManagerState state, const CertManagerSettings& settings);

// Installs these objects, with clusterctl's labels and the version. It can be repeated.
Status InstallCertManager(const Context& ctx, kube::Client& client, std::vector<kube::Object> objects,
                          const CertManagerSettings& settings, Notes& notes);

// Waits until it answers, for as long as the settings say. kDeadlineExceeded with what it met last.
Status AwaitCertManager(const Context& ctx, kube::Client& client, const CertManagerSettings& settings, Notes& notes);

}  // namespace capi::cli
