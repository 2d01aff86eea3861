// What the objects of cert-manager in a release ask for, read so that it can be done without cert-manager (behaviour.md
// I19). What isn't known here is refused with the object and the path of its field, never left out.
//
// Defaults are those of cert-manager v1.20 (pkg/apis/certmanager/v1/types_certificate.go and
// internal/apis/certmanager/v1/defaults.go there): 90 days, renewed when a third of the life is left, RSA of 2048 bits
// in PKCS1, a new key with each renewal (since v1.18; before, the key stayed), usages "digital signature" and "key
// encipherment". All functions are pure and thread-safe.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/http/certificate.h"
#include "base/result.h"
#include "kube/meta/object.h"

namespace capi::certificates {

// Who issues, as the Certificate writes it: cert-manager compares these with the Secret's annotations. A value.
struct IssuerRef {
  std::string name;
  std::string kind = "Issuer";            // or ClusterIssuer
  std::string group = "cert-manager.io";  // never another
  bool operator==(const IssuerRef&) const = default;
};

// A namespace and a name in it. A value.
struct Place {
  std::string ns, name;
  auto operator<=>(const Place&) const = default;
  std::string ToString() const { return ns + "/" + name; }
};

// What a Certificate asks for. A value.
struct Request {
  Place certificate;        // the Certificate: its annotation and the injections name it
  std::string secret_name;  // of the Secret in the Certificate's namespace
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;  // in their shortest form
  std::string common_name;                // "" for none
  std::vector<std::string> organizations;
  Seconds duration{std::chrono::hours(24 * 90)};
  // How long before its end a certificate is renewed; at most one of them.
  std::optional<Seconds> renew_before;
  std::optional<int> renew_before_percentage;  // of its life: 1 to 99
  http::KeyKind key;
  bool keep_key = false;            // rotationPolicy Never: a renewal takes the key that is there
  std::vector<std::string> usages;  // as cert-manager names them, sorted; without "cert sign", which authority says
  bool authority = false;           // isCA
  IssuerRef issuer;
  // Of the Secret in the Certificate's namespace whose CA issues; "" where each certificate signs itself.
  std::string issuer_secret;
  std::map<std::string, std::string> secret_labels, secret_annotations;  // secretTemplate

  Place secret() const { return {certificate.ns, secret_name}; }
  bool operator==(const Request&) const = default;
};

// An object whose API server has to trust what a Secret says in ca.crt: a CustomResourceDefinition, a webhook
// configuration or an APIService. A value.
struct Injection {
  kube::ObjectId target;
  Place secret;
  bool operator==(const Injection&) const = default;
};

// A value.
struct Requests {
  std::vector<Request> certificates;  // who issues before whom it issues for
  std::vector<Injection> injections;  // in the order of the objects
  bool empty() const { return certificates.empty() && injections.empty(); }
};

// Whether it is of cert-manager's API: an object that is carried out here instead of being applied.
bool IsCertManagers(const kube::ObjectId& id);

// Of all objects of a release, as they would be applied. kInvalidArgument, with the object and the path of its field,
// for the first thing that can't be done without cert-manager.
Result<Requests> ReadRequests(std::span<const kube::Object> objects);

// What an annotation of an injector says of one object, be it of a release or live. A value.
struct InjectFrom {
  std::optional<Place> certificate;  // cert-manager.io/inject-ca-from: the ca.crt of this Certificate's Secret
  std::optional<Place> secret;       // cert-manager.io/inject-ca-from-secret
};

// nullopt for an object without such an annotation, or of a kind that cert-manager injects nothing into.
// kInvalidArgument for one that can't be done: inject-apiserver-ca, more than one, no namespace/name.
Result<std::optional<InjectFrom>> ReadInjection(const kube::Object& object);

// As text, to be kept with the Secret so that a renewal needs no release (docs/formats.md): no value of it is secret.
std::string ToText(const Request& request);
// kInvalidArgument for what ToText hasn't written.
Result<Request> ParseRequest(std::string_view text);

}  // namespace capi::certificates
