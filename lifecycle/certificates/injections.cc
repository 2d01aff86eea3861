// What the annotations of injectors say (requests.h).
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/meta/kind.h"
#include "lifecycle/certificates/read_objects.h"
#include "lifecycle/certificates/requests.h"

namespace capi::certificates {
namespace {

constexpr std::string_view kFromCertificate = "cert-manager.io/inject-ca-from";
constexpr std::string_view kFromSecret = "cert-manager.io/inject-ca-from-secret";
constexpr std::string_view kFromServer = "cert-manager.io/inject-apiserver-ca";

bool CallsWebhooks(const kube::ObjectId& id) {
  return kube::IsCrd(id) || kube::Is(id, "admissionregistration.k8s.io", "ValidatingWebhookConfiguration") ||
         kube::Is(id, "admissionregistration.k8s.io", "MutatingWebhookConfiguration") ||
         kube::Is(id, "apiregistration.k8s.io", "APIService");
}

Error At(std::string_view annotation, std::string_view problem) {
  return {Code::kInvalidArgument, fmt::format("metadata.annotations[{}]: {}", annotation, problem), {}};
}

Result<std::optional<Place>> ReadPlace(const kube::Object& object, std::string_view annotation) {
  if (!object.has_annotation(annotation)) return std::optional<Place>();
  const std::string text = object.annotation(annotation);
  const size_t slash = text.find('/');
  Place place{text.substr(0, slash), slash == std::string::npos ? "" : text.substr(slash + 1)};
  if (!IsDns1123Label(place.ns) || !IsDns1123Subdomain(place.name)) {
    return At(annotation,
              fmt::format("must be a namespace and a name, as in \"capi-system/serving-cert\"; it is \"{}\"",
                          Shorten(text, 100)));
  }
  return std::optional<Place>(std::move(place));
}

}  // namespace

Result<std::optional<InjectFrom>> ReadInjection(const kube::Object& object) {
  if (!CallsWebhooks(object.id())) return std::optional<InjectFrom>();
  if (object.has_annotation(kFromServer)) return At(kFromServer, kUnsupported);
  InjectFrom from;
  from.certificate = TRY(ReadPlace(object, kFromCertificate));
  from.secret = TRY(ReadPlace(object, kFromSecret));
  if (from.certificate && from.secret) return At(kFromSecret, "can't be set beside inject-ca-from");
  if (!from.certificate && !from.secret) return std::optional<InjectFrom>();
  return std::optional<InjectFrom>(std::move(from));
}

}  // namespace capi::certificates
