// A Secret and its issuer's, read for a decision. Pure and thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/http/certificate.h"
#include "lifecycle/certificates/issue.h"

namespace capi::certificates {

// By how much clocks may differ: a certificate counts from so long before it is issued, and one that counts from then
// on isn't taken for a bad one.
inline constexpr Seconds kClocksDiffer{300};

// A certificate with its key. A value.
struct KeyPair {
  http::Certificate pem;
  std::optional<http::CertificateFacts> facts;  // where it can be read
  std::string flaw;                             // why it can't be served; "" where it can
  bool usable() const { return flaw.empty(); }
};

// A value.
struct Held {
  KeyPair serving;
  std::optional<KeyPair> next;  // where the Secret has one
  std::string trusted;          // ca.crt as it is
};

// The CA that issues, where certificates don't sign themselves. A value.
struct Authority {
  http::Certificate pem;
  std::string chain;  // what goes behind what it issues: its own certificate, unless that signs itself
  std::string root;   // whom to trust
  WallTime ends;
};

// Who issued what a Secret serves, and for which Certificate. A value.
struct IssuedFor {
  IssuerRef issuer;
  std::string certificate;  // its name
};

// As cert-manager writes it.
inline constexpr const char* kIssuerNameAnnotation = "cert-manager.io/issuer-name";
inline constexpr const char* kIssuerKindAnnotation = "cert-manager.io/issuer-kind";
inline constexpr const char* kIssuerGroupAnnotation = "cert-manager.io/issuer-group";

// By the Secret's annotations. What they don't say isn't held against it, as in cert-manager's policies: that is as the
// request has it.
IssuedFor WhoseIs(const Request& request, const std::map<std::string, std::string>& annotations);

std::string ValueOf(const SecretData& data, std::string_view name);  // "" where it has none

Held Read(const SecretData& data, WallTime now);

// kFailedPrecondition, with the name of the Secret and what is wrong with it, where the CA can't issue.
Result<Authority> ReadAuthority(const Request& request, const Inputs& inputs);

// Why it isn't what is asked for; "" where it is. As cert-manager judges: pkg/util/pki/match.go.
std::string Mismatch(const Request& request, const KeyPair& pair);

// The same of one that we have made, or that we keep: by all that a new one would say, too, but when it ends. As
// cert-manager compares a CertificateRequest that is there.
std::string Difference(const Request& request, const KeyPair& pair);

// The certificate that verifies it, of those in `candidates_pem`, or itself; "" where there is none.
std::string RootOf(const KeyPair& pair, const std::string& candidates_pem);

// Whether the Secret has a next certificate that is still wanted: what is asked for, of the issuer that is asked for
// (as far as that can be read), and trusted by ca.crt.
bool IsNextGood(const Request& request, const Held& held, const Inputs& inputs);

// Whether ca.crt lacks the CA of tls.crt, which is known and hasn't ended.
bool LacksCurrent(const Request& request, const Held& held, const Inputs& inputs);

// What ca.crt has to be without the next certificate, which was never served: who issued tls.crt, and whom it had
// before and who hasn't ended.
std::string Trusted(const Request& request, const Held& held, const Inputs& inputs);

}  // namespace capi::certificates
