// The two kinds of cert-manager that releases of providers have objects of, for tests that start without it
// (behaviour.md I13).
#pragma once

namespace capi::kube {

inline constexpr char kCertManagerKinds[] = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: issuers.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Issuer, plural: issuers, singular: issuer, listKind: IssuerList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
    type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Certificate, plural: certificates, singular: certificate, listKind: CertificateList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {
    type: object, x-kubernetes-preserve-unknown-fields: true}}}]
)";

}  // namespace capi::kube
