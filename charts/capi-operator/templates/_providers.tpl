{{/*
The providers of the values, as a list: kind, name, namespace, path of its value, whether its Namespace is to be made (unset:
nobody said), spec, and the text of a ConfigMap with more manifests. What the values leave out is as in cluster-api-operator's chart, so that
the same values mean the same objects.
*/}}
{{- define "capi-operator.providers" -}}
{{- $given := include "capi-operator.given" . | fromJson -}}
{{- $list := list -}}
{{- range $row := include "capi-operator.kinds" . | fromYamlArray -}}
{{- range $name, $entry := index $given $row.value -}}
{{- $entry = $entry | default dict -}}
{{- $default := include "capi-operator.namespaceOf" (dict "root" $ "row" $row "name" $name) -}}
{{- $provider := dict "kind" $row.kind "name" $name "namespace" ($entry.namespace | default $default) -}}
{{- $path := printf "%s.%s" $row.value $name -}}
{{- $_ := set $provider "path" $path -}}
{{- if and $.Values.watchNamespace (ne $provider.namespace $.Values.watchNamespace) -}}
{{- printf "%s.namespace: the operator works in namespace %s alone (watchNamespace), not in %s" $path $.Values.watchNamespace $provider.namespace | fail -}}
{{- end -}}
{{- if kindIs "bool" $entry.createNamespace -}}
{{- $_ := set $provider "createNamespace" $entry.createNamespace -}}
{{- end -}}
{{- with $entry.additionalManifests -}}
{{- with .manifests -}}
{{- $_ := set $provider "manifests" . -}}
{{- end -}}
{{- end -}}
{{- $spec := include "capi-operator.spec" (dict "root" $ "row" $row "name" $name "entry" $entry "path" $path) | fromJson -}}
{{- $_ := set $provider "spec" $spec -}}
{{- $list = append $list $provider -}}
{{- end -}}
{{- end -}}
{{ toJson $list }}
{{- end -}}

{{/*
The values' maps of providers, with those that they imply: a core provider for any other, and kubeadm's two for an
infrastructure provider where no other bootstrap or control plane provider is named.
*/}}
{{- define "capi-operator.given" -}}
{{- $given := dict -}}
{{- $any := false -}}
{{- range $row := include "capi-operator.kinds" . | fromYamlArray -}}
{{- $entries := index $.Values $row.value | default dict -}}
{{- $any = or $any (not (empty $entries)) -}}
{{- $_ := set $given $row.value $entries -}}
{{- end -}}
{{- if and $any (empty $given.core) -}}
{{- $_ := set $given "core" (dict "cluster-api" dict) -}}
{{- end -}}
{{- if not (empty $given.infrastructure) -}}
{{- range $value, $namespace := dict "bootstrap" "capi-kubeadm-bootstrap-system" "controlPlane" "capi-kubeadm-control-plane-system" -}}
{{- if empty (index $given $value) -}}
{{- $_ := set $given $value (dict "kubeadm" (dict "namespace" ($.Values.watchNamespace | default $namespace))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ toJson $given }}
{{- end -}}

{{/* The namespace of a provider whose value names none. */}}
{{- define "capi-operator.namespaceOf" -}}
{{- if .root.Values.watchNamespace -}}
{{- .root.Values.watchNamespace -}}
{{- else if eq .row.value "core" -}}
capi-system
{{- else -}}
{{- printf "%s-%s-system" .name (kebabcase .row.value) -}}
{{- end -}}
{{- end -}}

{{/* The spec of a provider: its value without what isn't in the spec, and with what is given to several at once. */}}
{{- define "capi-operator.spec" -}}
{{- $values := .root.Values -}}
{{- $spec := omit .entry "namespace" "createNamespace" "configSecret" "additionalManifests" -}}
{{- if not $spec.version -}}
{{- $spec = omit $spec "version" -}}
{{- end -}}
{{- $secret := .entry.configSecret | default dict -}}
{{- if not $secret.name -}}
{{- $secret = merge (dict) $secret ($values.configSecret | default dict) -}}
{{- end -}}
{{- if not $secret.namespace -}}
{{- $secret = omit $secret "namespace" -}}
{{- end -}}
{{- if $secret.name -}}
{{- $_ := set $spec "configSecret" $secret -}}
{{- else if $secret.namespace -}}
{{- printf "%s.configSecret: it has a namespace and no name" .path | fail -}}
{{- end -}}
{{- with .entry.additionalManifests -}}
{{- $reference := omit . "manifests" -}}
{{- if not .namespace -}}
{{- $reference = omit $reference "namespace" -}}
{{- end -}}
{{- $_ := set $spec "additionalManifests" $reference -}}
{{- end -}}
{{- if has .row.value (list "infrastructure" "ipam") -}}
{{- with index ($values.fetchConfig | default dict) .name -}}
{{- if $spec.fetchConfig -}}
{{- printf "fetchConfig.%s: %s.fetchConfig is set, too; remove one of them" $.name $.path | fail -}}
{{- end -}}
{{- $_ := set $spec "fetchConfig" . -}}
{{- end -}}
{{- if and $values.additionalDeployments (not $spec.additionalDeployments) -}}
{{- $_ := set $spec "additionalDeployments" $values.additionalDeployments -}}
{{- end -}}
{{- end -}}
{{ toJson $spec }}
{{- end -}}
