{{/* The kinds of providers: the value that lists providers of each, and what differs between their CRDs. */}}
{{- define "capi-operator.kinds" -}}
- value: core
  kind: CoreProvider
  plural: coreproviders
  shortName: cacp
  v1alpha1: true
  description: "The core provider: Cluster API itself. Its name is cluster-api."
- value: bootstrap
  kind: BootstrapProvider
  plural: bootstrapproviders
  shortName: cabp
  v1alpha1: true
  description: A provider that turns machines into nodes; its name is that of the provider.
- value: controlPlane
  kind: ControlPlaneProvider
  plural: controlplaneproviders
  shortName: cacpp
  v1alpha1: true
  description: A provider of control planes; its name is that of the provider.
- value: infrastructure
  kind: InfrastructureProvider
  plural: infrastructureproviders
  shortName: caip
  v1alpha1: true
  description: A provider of infrastructure; its name is that of the provider.
- value: addon
  kind: AddonProvider
  plural: addonproviders
  shortName: caap
  v1alpha1: false
  description: A provider of add-ons for clusters; its name is that of the provider.
- value: ipam
  kind: IPAMProvider
  plural: ipamproviders
  shortName: caipamp
  v1alpha1: false
  description: A provider of IP addresses; its name is that of the provider.
- value: runtimeExtension
  kind: RuntimeExtensionProvider
  plural: runtimeextensionproviders
  shortName: carep
  v1alpha1: false
  description: A runtime extension; its name is that of the provider.
{{- end -}}
