// The Secret of a certificate that the operator makes (behaviour.md I19): what a release asks for, what lies in the
// cluster, and what it is to hold next. Pure, but for the randomness of keys.
//
// Format: docs/formats.md, "Certificates of providers".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/apply/manifest.h"
#include "kube/meta/object.h"
#include "lifecycle/certificates/issue.h"
#include "operator/decide/certificates/marks.h"

namespace capi::ops {

// A value.
class CertificateSecret {
 public:
  using All = std::map<kube::ObjectId, CertificateSecret>;

  // As the release has it (SecretsForCertificates): that counts, and not what the live one says.
  void Wanted(const kube::Object& manifest);
  // As it is now: what it was before is forgotten.
  void Live(const kube::Object& live);
  void Gone();

  bool IsWanted() const { return wanted_; }
  // Whether anybody says what it is to hold.
  bool IsOurs() const { return !request_text_.empty(); }
  // Whom injections name: the Certificate, and the Secret itself. As CertificateMarks has them.
  bool IsNamedBy(const std::string& ca_from) const;

  // What is to be done now. An error where what it is to hold can't be read.
  Result<certificates::Decision> Decide(const All& all, const certificates::Injected& injected, WallTime now) const;
  // Makes it what it is after the decision's step. `live`: as certificates::Make takes it.
  Status Take(const certificates::Decision& decision, const All& all, const certificates::Injected& injected,
              const std::vector<std::string>& live, WallTime now);
  // Whether what it says of itself isn't so: it isn't ours yet, somebody has changed it, or it is to be looked at
  // later.
  bool IsMisstated(const certificates::Decision& decision, WallTime now) const;
  const std::string& type() const { return type_; }  // "" where there is none yet
  bool HasState() const;                             // it has said before what it holds
  bool IsAsStated() const;                           // and its ca.crt is as it says
  // For a server-side apply that writes nothing over what came since it was read: kConflict then. One that wasn't there
  // may come at any moment (IsNew). `decision` is of what it holds by now.
  Result<kube::Object> ToApply(const certificates::Decision& decision, WallTime now) const;

  bool IsNew() const { return is_new_; }

  const certificates::SecretData& data() const { return live_.data; }
  std::string Bundle() const;  // PEM: the CAs that are to be trusted; "" for none
  std::string BundleHash() const;
  bool TrustsWhatIsServed(WallTime now) const;  // its ca.crt does, alone
  const certificates::Request* request() const { return request_ ? &*request_ : nullptr; }
  std::string issuer_secret() const { return request_ ? request_->issuer_secret : ""; }

 private:
  certificates::Inputs InputsOf(const All& all, const certificates::Injected& injected, WallTime now) const;
  void Request(const std::string& text);

  std::string ns_, name_, type_, request_text_;
  std::string uid_, resource_version_;  // as it was read
  std::optional<certificates::Request> request_;
  std::optional<Error> request_error_;
  std::map<std::string, std::string> labels_;
  bool wanted_ = false;
  bool is_new_ = true;  // it wasn't there when it was read
  bool exists_ = false;
  int held_ = 0;  // CertificateMarks
  certificates::LiveSecret live_;
};

// Those that issue before those that are issued by them.
std::vector<kube::ObjectId> InOrder(const CertificateSecret::All& all);

// Takes cert-manager's objects out of a render, and puts a Secret in the place of each Certificate, with what it asks
// for and no data. kInvalidArgument with the object and its field where the operator doesn't make what is asked for.
Status SecretsForCertificates(std::vector<kube::Object>& objects);

// Whether a manifest is such a Secret.
bool HoldsCertificate(const kube::Manifest& manifest);

}  // namespace capi::ops
