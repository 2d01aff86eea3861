// Which certificates of a provider are due, from an Observation alone (behaviour.md I19). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/decide/decide.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Notes what `marks` say of an object of the provider's inventory.
void SeeCertificates(const kube::ObjectId& id, const CertificateMarks& marks, Fleet& fleet);

// Secrets whose certificate is to be renewed or mended, and objects whose CA bundle isn't the one that it is to be.
std::vector<kube::ObjectId> DueCertificates(const Fleet& fleet, WallTime now);
// Until the next of the provider's certificates is due; nullopt where it has none. 0 for one that is.
std::optional<Millis> NextCertificate(const Fleet& fleet, WallTime now);

// cert-manager's kinds (Certificate, Issuer, ClusterIssuer), which aren't applied where the operator makes
// certificates.
bool IsCertificateRequest(const kube::ObjectId& id);
// Whether the provider's inventory has what the other one than now is to make certificates left: of cert-manager where
// the operator is to, of the operator where cert-manager is.
bool ToHandOver(const Observation& o);

// What is to be done for certificates in this pass; nullopt for nothing. Where keeping them failed, a hand-over that
// waits comes first, and where that failed what is due does.
std::optional<Step> DecideCertificates(const Observation& o);
std::optional<Step> DecideHandOver(const Observation& o);
// The last try failed, and the next is awaited.
std::optional<Hold> CertificatesFailed(const Observation& o);
Hold CertificatesHold(const Error& error, Millis next_try);

}  // namespace capi::ops
