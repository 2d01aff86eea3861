#include "lifecycle/certificates/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kube/meta/kind.h"
#include "lifecycle/certificates/read_objects.h"

namespace capi::certificates {
namespace {

constexpr std::string_view kGroup = "cert-manager.io";
constexpr const char* kAllowsInjection = "cert-manager.io/allow-direct-injection";

// The release, sorted. Pointers into it live as long as the call of ReadRequests.
struct Sorted {
  std::map<Place, std::string> issuers;  // the Secret of their CA; of ClusterIssuers with ns ""
  std::vector<Request> requests;
  std::map<Place, const kube::Object*> secrets;
};

Error Refused(const Place& certificate, std::string_view problem) {
  return {
      Code::kInvalidArgument, fmt::format("Certificate.cert-manager.io/{}: {}", certificate.ToString(), problem), {}};
}

// An Ingress whose annotations have cert-manager make a Certificate for it, say.
Status CheckAnnotations(const kube::Object& object) {
  const std::string group = object.group_version().group;
  if (group != "networking.k8s.io" && group != "gateway.networking.k8s.io") return Ok();
  const Json* annotations = Find(object.json(), {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) return Ok();
  for (const auto& [name, value] : annotations->items()) {
    if (!name.starts_with("cert-manager.io/")) continue;
    return Error{Code::kInvalidArgument, fmt::format("metadata.annotations[{}]: {}", name, kUnsupported), {}};
  }
  return Ok();
}

Status Sort(const kube::Object& object, Sorted& out) {
  const kube::ObjectId id = object.id();
  if (kube::Is(id, "", "Secret")) out.secrets[{id.ns, id.name}] = &object;
  if (!IsCertManagers(id)) return CheckAnnotations(object);
  if (kube::Is(id, kGroup, "Certificate")) {
    out.requests.push_back(TRY(RequestOf(object)));
    return Ok();
  }
  if (kube::Is(id, kGroup, "Issuer") || kube::Is(id, kGroup, "ClusterIssuer")) {
    std::string secret = TRY(CaSecretOf(object));
    out.issuers[{id.kind == "Issuer" ? id.ns : "", id.name}] = std::move(secret);
    return Ok();
  }
  return Error{Code::kInvalidArgument, fmt::format("kind: {}", kUnsupported), {}};
}

const Request* MakerOf(const Sorted& sorted, const Place& secret) {
  for (const Request& request : sorted.requests) {
    if (request.secret() == secret) return &request;
  }
  return nullptr;
}

Status FindIssuer(const Sorted& sorted, Request& request) {
  const bool namespaced = request.issuer.kind == "Issuer";
  auto issuer = sorted.issuers.find({namespaced ? request.certificate.ns : "", request.issuer.name});
  if (issuer == sorted.issuers.end()) {
    return Refused(request.certificate,
                   fmt::format("spec.issuerRef: the release has no {} \"{}\"{}", request.issuer.kind,
                               request.issuer.name, namespaced ? " in namespace " + request.certificate.ns : ""));
  }
  request.issuer_secret = issuer->second;
  if (request.issuer_secret.empty()) return Ok();
  const Request* maker = MakerOf(sorted, {request.certificate.ns, request.issuer_secret});
  if (maker != nullptr && maker->authority) return Ok();
  return Refused(request.certificate,
                 fmt::format("spec.issuerRef: no Certificate of the release with isCA makes Secret {}/{}, which {} {} "
                             "issues by",
                             request.certificate.ns, request.issuer_secret, request.issuer.kind, request.issuer.name));
}

Status CheckSecrets(const Sorted& sorted) {
  std::set<Place> made;
  for (const Request& request : sorted.requests) {
    if (!made.insert(request.secret()).second) {
      return Refused(request.certificate, fmt::format("spec.secretName: another Certificate makes Secret {}, too",
                                                      request.secret().ToString()));
    }
    if (sorted.secrets.contains(request.secret())) {
      return Refused(request.certificate,
                     fmt::format("spec.secretName: the release has a Secret {} itself", request.secret().ToString()));
    }
  }
  return Ok();
}

// Who issues before whom it issues for.
Result<std::vector<Request>> InOrder(std::vector<Request> requests) {
  std::vector<Request> ordered;
  std::set<Place> made;
  while (!requests.empty()) {
    auto ready = std::find_if(requests.begin(), requests.end(), [&](const Request& request) {
      return request.issuer_secret.empty() || made.contains({request.certificate.ns, request.issuer_secret});
    });
    if (ready == requests.end()) {
      return Refused(requests.front().certificate,
                     "spec.issuerRef: nobody can be the first of those that issue each other");
    }
    made.insert(ready->secret());
    ordered.push_back(std::move(*ready));
    requests.erase(ready);
  }
  return ordered;
}

Result<Place> SecretOf(const InjectFrom& from, const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    if (from.certificate && request.certificate == *from.certificate) return request.secret();
    if (!from.secret || request.secret() != *from.secret) continue;
    auto allows = request.secret_annotations.find(kAllowsInjection);
    if (allows != request.secret_annotations.end() && allows->second == "true") return request.secret();
    return Error{
        Code::kInvalidArgument,
        fmt::format("metadata.annotations[cert-manager.io/inject-ca-from-secret]: Certificate {} doesn't allow "
                    "it by {}: \"true\" in its secretTemplate",
                    request.certificate.ToString(), kAllowsInjection),
        {}};
  }
  const bool by_certificate = from.certificate.has_value();
  return Error{
      Code::kInvalidArgument,
      fmt::format("metadata.annotations[cert-manager.io/inject-ca-from{}]: no Certificate of the release {} {}",
                  by_certificate ? "" : "-secret", by_certificate ? "is" : "makes Secret",
                  (by_certificate ? *from.certificate : *from.secret).ToString()),
      {}};
}

Result<std::vector<Injection>> ReadInjections(std::span<const kube::Object> objects,
                                              const std::vector<Request>& requests) {
  std::vector<Injection> injections;
  for (const kube::Object& object : objects) {
    kube::ObjectId id = object.id();
    auto from = TRY_WITH(ReadInjection(object), id.ToString());
    if (!from) continue;
    Place secret = TRY_WITH(SecretOf(*from, requests), id.ToString());
    injections.push_back({std::move(id), std::move(secret)});
  }
  return injections;
}

}  // namespace

bool IsCertManagers(const kube::ObjectId& id) { return id.group == kGroup || id.group.ends_with(".cert-manager.io"); }

Result<Requests> ReadRequests(std::span<const kube::Object> objects) {
  Sorted sorted;
  for (const kube::Object& object : objects) TRY_WITH(Sort(object, sorted), object.id().ToString());
  TRY(CheckSecrets(sorted));
  for (Request& request : sorted.requests) TRY(FindIssuer(sorted, request));
  Requests out;
  out.certificates = TRY(InOrder(std::move(sorted.requests)));
  out.injections = TRY(ReadInjections(objects, out.certificates));
  return out;
}

std::string ToText(const Request& request) {
  return ToJsonText({{"namespace", request.certificate.ns},
                     {"name", request.certificate.name},
                     {"issuerSecret", request.issuer_secret},
                     {"spec", SpecOf(request)}});
}

Result<Request> ParseRequest(std::string_view text) {
  Json json = TRY(ParseJson(text));
  kube::Object certificate;
  certificate.json() = {
      {"apiVersion", "cert-manager.io/v1"},
      {"kind", "Certificate"},
      {"metadata", {{"namespace", GetString(json, {"namespace"})}, {"name", GetString(json, {"name"})}}}};
  if (const Json* spec = Find(json, {"spec"})) certificate.json()["spec"] = *spec;
  Request request = TRY(RequestOf(certificate));
  request.issuer_secret = GetString(json, {"issuerSecret"});
  return request;
}

}  // namespace capi::certificates
