// Names of what the operator writes for certificates that it makes in cert-manager's place (behaviour.md I19).
#pragma once

#include <string_view>

namespace capi::api {

// Of a Secret, certificates::kRequestAnnotation: what the release asks for.
inline constexpr std::string_view kAnnotationCertificate = "operator.cluster.x-k8s.io/certificate-request";
// Of a Secret, what the operator has to know without its values: docs/formats.md.
inline constexpr std::string_view kAnnotationCertificateState = "operator.cluster.x-k8s.io/certificate-state";
// Of what has CA bundles: which one was filled in.
inline constexpr std::string_view kAnnotationCaBundle = "operator.cluster.x-k8s.io/ca-bundle";
inline constexpr std::string_view kAnnotationInjectCaFrom = "cert-manager.io/inject-ca-from";
inline constexpr std::string_view kAnnotationInjectCaFromSecret = "cert-manager.io/inject-ca-from-secret";
// Of what the operator fills in: the rest of these objects is kFieldManager's.
inline constexpr std::string_view kCertificateManager = "capi-operator-certificates";

}  // namespace capi::api
