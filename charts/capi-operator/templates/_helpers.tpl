{{/* The labels that the pods have, and that nothing else has. They are those of manifests/base. */}}
{{- define "capi-operator.selector" -}}
app.kubernetes.io/name: capi-operator
control-plane: controller-manager
{{- end -}}

{{/* "true" where an operator of more than one replica is asked for. */}}
{{- define "capi-operator.several" -}}
{{- if gt (int .Values.replicaCount) 1 -}}true{{- end -}}
{{- end -}}

{{/* The port of an address such as ":8443". */}}
{{- define "capi-operator.port" -}}
{{- regexFind "[0-9]+$" . -}}
{{- end -}}

{{/* The seconds of a duration such as "1h30m". */}}
{{- define "capi-operator.seconds" -}}
{{- $seconds := 0 -}}
{{- range $part := regexFindAll "[0-9]+[hms]" . -1 -}}
{{- $unit := index (dict "h" 3600 "m" 60 "s" 1) (regexFind "[hms]" $part) -}}
{{- $seconds = add $seconds (mul (regexFind "[0-9]+" $part | int64) $unit) -}}
{{- end -}}
{{- $seconds -}}
{{- end -}}

{{/*
[REGISTRY/]REPOSITORY, with the digest where there is one, else with the tag. What the values don't name is the chart's own, but
its tag and digest are one: the own digest beside somebody's tag would be another image than the tag says.
*/}}
{{- define "capi-operator.image" -}}
{{- $image := .Values.image.manager -}}
{{- $own := .Files.Get "image.yaml" | fromYaml -}}
{{- $version := ternary $image $own (not (empty (or $image.tag $image.digest))) -}}
{{- $repository := $image.repository | default $own.repository -}}
{{- if $image.registry -}}
{{- /* The chart's own repository may begin with a registry, which this one takes the place of. */ -}}
{{- $first := splitList "/" $repository | first -}}
{{- if and (not $image.repository) (contains "/" $repository) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) -}}
{{- $repository = trimPrefix (print $first "/") $repository -}}
{{- end -}}
{{- $image.registry }}/
{{- end -}}
{{- $repository -}}
{{- include "capi-operator.version" (dict "of" $version "appVersion" .Chart.AppVersion) -}}
{{- end -}}

{{/* The image that the chart has itself. */}}
{{- define "capi-operator.ownImage" -}}
{{- $own := .Files.Get "image.yaml" | fromYaml -}}
{{- $own.repository -}}
{{- include "capi-operator.version" (dict "of" $own "appVersion" .Chart.AppVersion) -}}
{{- end -}}

{{- define "capi-operator.version" -}}
{{- if .of.digest -}}@{{ .of.digest }}{{- else -}}:{{ .of.tag | default .appVersion }}{{- end -}}
{{- end -}}

{{/*
The annotations of what stays where the release or its value goes: Helm reads the first, and Argo CD, which prints the chart and
deletes what isn't printed any more, the second alone.
*/}}
{{- define "capi-operator.kept" -}}
helm.sh/resource-policy: keep
argocd.argoproj.io/sync-options: Prune=false,Delete=false
{{- end -}}

{{/* The operator's ServiceAccount as a subject of bindings. */}}
{{- define "capi-operator.subjects" -}}
- kind: ServiceAccount
  name: capi-operator-manager
  namespace: {{ .Release.Namespace }}
{{- end -}}

{{/* Whether cert-manager issues the certificate of the webhooks; "" where it doesn't. */}}
{{- define "capi-operator.certManager" -}}
{{- if and .Values.webhooks.enabled .Values.webhooks.certManager -}}true{{- end -}}
{{- end -}}

{{/* Has cert-manager's injector write its CA into an object that calls the operator. */}}
{{- define "capi-operator.injectCA" -}}
{{- if include "capi-operator.certManager" .root -}}
{{- $from := printf "%s/capi-operator-serving-cert" .root.Release.Namespace -}}
{{- $annotations := merge (dict "cert-manager.io/inject-ca-from" $from) (.object.metadata.annotations | default dict) -}}
{{- $_ := set .object.metadata "annotations" $annotations -}}
{{- end -}}
{{- end -}}
