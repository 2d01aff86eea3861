// cert-manager in a cluster: whether it answers, and what installs it.
#pragma once

#include <vector>

#include "base/context.h"
#include "cli/cert_manager/release.h"
#include "cli/frame/world.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::cli {

// On its kinds for as long as clusterctl installs or upgrades it: without its webhooks, which come last, these take
// anything.
inline constexpr std::string_view kCertManagerInstalling = "cert-manager.clusterctl.cluster.x-k8s.io/installing";

enum class CertManagerState {
  kAnswers,    // it takes an Issuer and a Certificate
  kMissing,    // its kinds aren't there
  kBrokenOff,  // its kinds are clusterctl's, and it isn't whole: they say so, or its Deployments are gone
  kStarts,     // its kinds are there, and it doesn't answer: it may only need a moment, and is never overwritten
};

// A value.
struct CertManagerFound {
  CertManagerState state = CertManagerState::kMissing;
  std::vector<kube::Object> kinds;  // its CRDs, for kBrokenOff
};

// What an Issuer and a Certificate meet, in a dry-run: nothing is left behind.
Result<CertManagerFound> ProbeCertManager(const Context& ctx, kube::Client& client);

// Whether it has to be installed, in that state.
bool NeedsCertManager(CertManagerState state, const CertManagerSettings& settings);

// kFailedPrecondition where these objects would replace those of a newer version.
Status CheckNoOlder(const CertManagerFound& found, const CertManagerSettings& settings,
                    const std::vector<kube::Object>& objects);

bool IsInstalling(const kube::Object& crd);

// Whether nothing could ever answer: clusterctl's Deployments are gone (with its Namespace, for example), and nobody
// else has installed one over what is left.
Result<bool> HasNoDeployment(const Context& ctx, kube::Client& client);

// Installs these objects, with clusterctl's labels and the version, and waits until they run, for as long as the
// settings say. It can be repeated.
Status InstallCertManager(const Context& ctx, kube::Client& client, std::vector<kube::Object> objects,
                          const CertManagerSettings& settings, Notes& notes);

// The same in two steps: all objects until they run, and what says that all is done.
Status ApplyCertManager(const Context& ctx, kube::Client& client, std::vector<kube::Object> objects,
                        const CertManagerSettings& settings, Notes& notes);
Status EndInstalling(const Context& ctx, kube::Client& client);

// Waits until it answers, for as long as the settings say; `installed`: that was told already. kDeadlineExceeded with
// what it met last.
Status AwaitCertManager(const Context& ctx, kube::Client& client, const CertManagerSettings& settings, bool installed,
                        Notes& notes);

}  // namespace capi::cli
