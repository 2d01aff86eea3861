// What the Secret with the webhooks' certificate is to hold now (behaviour.md T7). Pure, but for the randomness of
// keys.
//
// A CA lives for three years and a serving certificate for 90 days; either is followed by the next one after two thirds
// of its life. With a CA that takes three steps: the bundle that clients are to trust gets the new CA too; once that
// bundle has been with all of them for some minutes, the new CA issues the serving certificate; and the old one leaves
// the bundle when no certificate of it can be served any more. Format of the Secret: docs/formats.md, "Certificate of
// the webhooks".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace capi::ops {

// A Secret's data, decoded. Its values are secret.
using SecretData = std::map<std::string, std::string>;

namespace certificate_key {
inline constexpr const char* kServing = "tls.crt";
inline constexpr const char* kServingKey = "tls.key";
inline constexpr const char* kBundle = "ca.crt";                            // what clients are to trust: one CA or more
inline constexpr const char* kAuthorityKey = "ca.key";                      // of the CA in the bundle that issues
inline constexpr const char* kNextAuthorityKey = "next-ca.key";             // of the one that is to issue next
inline constexpr const char* kOthersTrustedUntil = "others-trusted-until";  // RFC 3339: then the other CAs leave
}  // namespace certificate_key

enum class CertificateStep {
  kKeep,
  kMakeAll,      // nothing of it can be used: a new CA and a serving certificate of it
  kRenew,        // a serving certificate of the CA that issues
  kTrustNext,    // the next CA comes into the bundle
  kIssueByNext,  // the next CA issues from now on
  kDropOthers,   // none but the CA that issues, and the next one, stay in the bundle
};

// Rows of a metric and reasons of events: "Renewed".
std::string_view StepName(CertificateStep step);

struct CertificateInputs {
  // Names and IP addresses that clients call, one at least: sorted, each once, as certificates write them
  // (CanonicalHost).
  std::vector<std::string> hosts;
  WallTime now;
  // Since when the bundle of the Secret, as it is, has been in everything that clients trust by.
  std::optional<WallTime> injected_since;
};

struct CertificatePlan {
  CertificateStep step = CertificateStep::kKeep;
  std::string why;  // for a person; never a piece of what the Secret holds
};

// How long a bundle has to be injected everywhere before what it is needed for begins: API servers see the change of a
// CRD or a webhook configuration within seconds.
inline constexpr Seconds kBundleSettles{300};

// Nothing (nullopt) is a Secret that isn't there.
CertificatePlan PlanCertificate(const std::optional<SecretData>& data, const CertificateInputs& inputs);

// The whole data of the Secret after that step. kInvalidArgument where the step isn't the plan's.
Result<SecretData> MakeCertificate(CertificateStep step, const SecretData& data, const CertificateInputs& inputs);

}  // namespace capi::ops
