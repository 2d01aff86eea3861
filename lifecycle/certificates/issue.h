// What the Secret of a Certificate is to hold now (behaviour.md I19). Pure, but for the randomness of keys.
//
// A certificate is renewed in steps, each of them one write of the Secret, so that whoever calls the webhook trusts
// what it serves at every moment, wherever the steps are broken off:
//
//   1. kTrustNext: next.crt and next.key join the Secret, and the CA of the next certificate joins ca.crt. Nothing else
//      is served than before. The caller brings ca.crt into everything that is injected.
//   2. kServeNext, once that ca.crt has been in all of it for kBundleSettles: next.crt becomes tls.crt. The former CA
//      stays in ca.crt, since a process may serve with the former certificate until that ends.
//   3. kTidyTrusted, when a former CA has ended: it leaves ca.crt.
//
// ca.crt is what is to be trusted, and so what is injected: as cert-manager's injector takes it, should that come in
// between. Its first certificate is always the CA of tls.crt, the only one that cert-manager's CA issuer reads. For an
// issuer that signs itself each certificate is its own CA, as with cert-manager. Format: docs/formats.md,
// "Certificates of providers".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "lifecycle/certificates/requests.h"

namespace capi::certificates {

// A Secret's data, decoded. Its values are secret.
using SecretData = std::map<std::string, std::string>;

namespace data_key {
inline constexpr const char* kServing = "tls.crt";  // and the chain to its CA, without that
inline constexpr const char* kServingKey = "tls.key";
inline constexpr const char* kTrusted = "ca.crt";
inline constexpr const char* kNext = "next.crt";  // while a renewal is on its way
inline constexpr const char* kNextKey = "next.key";
}  // namespace data_key

inline constexpr const char* kSecretType = "kubernetes.io/tls";
// Of the Secret: the request (ToText) that it was issued for by us.
inline constexpr const char* kRequestAnnotation = "operator.cluster.x-k8s.io/certificate-request";
// Of the Secret, as cert-manager writes it: the Certificate's name.
inline constexpr const char* kCertificateNameAnnotation = "cert-manager.io/certificate-name";

// A Secret that is there. A value.
struct LiveSecret {
  SecretData data;
  std::map<std::string, std::string> annotations;
};

// How long a bundle has to be in everything that is injected before what it is needed for is served: API servers see
// the change of a CRD or a webhook configuration within seconds.
inline constexpr Seconds kBundleSettles{60};

// How far the injection is. A value.
struct Injected {
  bool targets = false;  // there is something to inject into
  // Since when the Secret's ca.crt, as it is, has been in all of it. Kept in memory: after a restart it counts anew.
  std::optional<WallTime> since;
};

struct Inputs {
  WallTime now;
  Injected injected;
  // The Secret of request.issuer_secret, where there is one; null where it isn't there (yet). Outlives the call.
  const SecretData* issuer = nullptr;
};

enum class Step {
  kKeep,         // nothing to do
  kBlocked,      // something has to be done that can't be: `why` says what is missing
  kIssue,        // nothing can be served, and nothing is lost by serving a new certificate at once
  kRenew,        // a new certificate at once, of a CA that is trusted already
  kTrustNext,    // see above
  kServeNext,    // see above; at once where nothing else can be served
  kTidyTrusted,  // ca.crt alone is written: what has ended leaves it, what is needed and was lost comes back
};

// Rows of a metric and reasons of events: "Issued".
std::string_view StepName(Step step);

struct Decision {
  Step step = Step::kKeep;
  std::string why;      // for a person; never a piece of what the Secret holds
  WallTime look_again;  // when to ask again, unless the request, the Secret, its issuer's or the injection changes
};

// nullopt is a Secret that isn't there. A certificate that cert-manager issued is kept until cert-manager would renew
// it, and judged as cert-manager judges one whose CertificateRequest is gone (its internal/controller/certificates/
// policies): by its key, its names, its issuer's and Certificate's names, and its end. One whose Secret has
// kRequestAnnotation is judged by its usages, subject and isCA, too: what is asked for may have changed since.
Decision Decide(const Request& request, const std::optional<LiveSecret>& secret, const Inputs& inputs);

// The whole data of the Secret after that step: with kIssue and kRenew nothing but tls.crt, tls.key and ca.crt.
// `live`: caBundles (PEM) that are in what is injected; certificates for this request in them (bundle.h, IsFor) that
// still count stay in ca.crt, so that a Secret that was lost takes no running process's trust away. With kIssue the
// caller injects the new ca.crt first, where there is something that serves, and writes the Secret then.
// kInvalidArgument where the step isn't the decision's.
Result<SecretData> Make(Step step, const Request& request, const std::optional<LiveSecret>& secret,
                        const Inputs& inputs, const std::vector<std::string>& live);

// Whether ca.crt has the CA of tls.crt: nothing else may be brought into what is injected.
bool TrustsWhatIsServed(const SecretData& data, WallTime now);

// Whether what is served after that step was made for the request: who issued it, and for which Certificate, is the
// request's from then on.
bool ServesAnew(Step step);

// What else the Secret has, as cert-manager writes it (so that it takes the Secret over without issuing anew), with the
// request's secretTemplate and kRequestAnnotation. The annotations that `secret` has say who issued what it serves, and
// for whom: after a step that ServesAnew there are to be none. kInvalidArgument where tls.crt can't be read.
Result<std::map<std::string, std::string>> SecretAnnotations(const Request& request, const LiveSecret& secret);
std::map<std::string, std::string> SecretLabels(const Request& request);

// When a certificate of that validity is to be renewed, to the second (cert-manager's pkg/util/pki/renewaltime.go).
WallTime RenewalTime(const Request& request, const http::Validity& validity);

// For conditions and metrics: when what is served ends; nullopt where there is nothing that can be read.
std::optional<WallTime> EndOf(const SecretData& data);

}  // namespace capi::certificates
