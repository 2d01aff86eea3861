// The Secret of a certificate that the operator makes (behaviour.md I19): what a release asks for, what lies in the
// cluster, and what it is to hold next. Pure, but for the randomness of keys.
//
// Format: docs/formats.md, "Certificates".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/meta/object.h"
#include "operator/decide/certificate_marks.h"

namespace capi::ops {

// A Secret's data, decoded. Its values are secret.
using CertificateData = std::map<std::string, std::string>;

// A value.
class CertificateSecret {
 public:
  using All = std::map<kube::ObjectId, CertificateSecret>;

  // As the release has it (SecretsForCertificates): that counts, and not what the live one says.
  void Wanted(kube::Object manifest);
  void Live(kube::Object live);

  // Whether anybody says what it is to hold.
  bool IsOurs() const { return !facts_.empty(); }
  std::string Name() const;  // NAMESPACE/CERTIFICATE; "" where it isn't ours

  struct Change {
    bool writes = false;  // what it holds isn't what it is to hold
    bool new_ca = false;  // whoever trusts it has to trust more first
    std::string what;     // in words, for an event
  };
  // Makes it what it is to be now. `all` are the provider's: one may be issued by the CA in another.
  Result<Change> Next(const All& all, WallTime now);

  // For a server-side apply.
  kube::Object ToApply() const;
  const CertificateData& data() const { return data_; }
  std::string Bundle() const;      // PEM: the CAs that are to be trusted; "" for none
  std::string BundleHash() const;

 private:
  std::string facts_;  // of api::kAnnotationCertificate
  std::string ns_, name_, state_;
  Json labels_ = Json::object();
  bool exists_ = false;
  int held_ = 0;  // CertificateMarks
  CertificateData data_;
  std::map<std::string, std::string> annotations_;  // cert-manager's own, by which it takes the Secret over
};

// Those that issue before those that are issued by them.
std::vector<kube::ObjectId> InOrder(const CertificateSecret::All& all);

// Takes cert-manager's Issuers and Certificates out of a render, and puts a Secret in the place of each Certificate, with
// what it asks for and no data. kUnsupported with the object's name where the operator doesn't make what is asked for.
Status SecretsForCertificates(std::vector<kube::Object>& objects);

}  // namespace capi::ops
