// What the objects of a provider say of certificates that the operator makes itself (behaviour.md I19): annotations,
// and which values are still as they were written. Read from metadata alone, so that a watch can keep it. Pure.
//
// Format: docs/formats.md, "Certificates of providers".
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "kube/meta/object.h"

namespace capi::ops {

// Of an object. A value.
struct CertificateMarks {
  std::string state;    // of a Secret: StateText
  std::string ca_from;  // whose CA an injector has to fill in: NAMESPACE/CERTIFICATE, or SecretMark(NAMESPACE/SECRET)
  std::string bundle;   // of what has such CAs: BundleMark of the bundle that was filled in last
  int held = 0;         // values still as written: of a Secret kCertificateKeys at most, or CA bundles
  bool next = false;    // of a Secret: it has a next certificate, too
  bool came = false;    // of what has such CAs: something that they belong in came since
  bool operator==(const CertificateMarks&) const = default;
};

std::string SecretMark(const std::string& secret);

// Of an object with its managedFields.
CertificateMarks MarksIn(const kube::Object& object);
// As a watch keeps them; null where there are none.
Json AsJson(const CertificateMarks& marks);
CertificateMarks MarksFrom(const Json& kept);

// A Secret that the operator keeps. A value.
struct CertificateState {
  std::string certificate;  // name of the Certificate, in the Secret's namespace
  std::string bundle;       // hash of the CAs that are to be trusted
  WallTime renew{};         // when it is due
  WallTime ends{};          // when it expires
};
std::string StateText(const CertificateState& state);
// nullopt: the Secret isn't the operator's to keep.
std::optional<CertificateState> ParseState(const std::string& text);

inline constexpr int kCertificateKeys = 3;  // ca.crt, tls.crt, tls.key

}  // namespace capi::ops
