{{/*
The Namespaces that the release makes, each once: those of providers, unless a value says that one is there already, and
that of watchNamespace. The release's own is made by whoever installs it (`--create-namespace`).
*/}}
{{- define "capi-operator.namespaces" -}}
{{- $wanted := dict -}}
{{- with .root.Values.watchNamespace -}}
{{- $_ := set $wanted . $.root.Values.createWatchNamespace -}}
{{- end -}}
{{- range $provider := .providers -}}
{{- if hasKey $provider "createNamespace" -}}
{{- $before := index $wanted $provider.namespace -}}
{{- if and (kindIs "bool" $before) (ne $before $provider.createNamespace) -}}
{{- printf "createNamespace is both true and false for namespace %s: say the same of all its providers" $provider.namespace | fail -}}
{{- end -}}
{{- $_ := set $wanted $provider.namespace $provider.createNamespace -}}
{{- else if not (hasKey $wanted $provider.namespace) -}}
{{- $_ := set $wanted $provider.namespace "unless somebody says no" -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range $name, $create := $wanted -}}
{{- if and $create (ne $name $.root.Release.Namespace) -}}
{{- $names = append $names $name -}}
{{- end -}}
{{- end -}}
{{ toJson $names }}
{{- end -}}

{{/* NAMESPACE/NAME of each ConfigMap with more manifests, and its text. */}}
{{- define "capi-operator.manifests" -}}
{{- $texts := dict -}}
{{- range $provider := . -}}
{{- with $provider.manifests -}}
{{- $reference := $provider.spec.additionalManifests -}}
{{- $name := printf "%s/%s" ($reference.namespace | default $provider.namespace) $reference.name -}}
{{- if ne (index $texts $name | default .) . -}}
{{- printf "additionalManifests: two providers give ConfigMap %s other manifests" $name | fail -}}
{{- end -}}
{{- $_ := set $texts $name . -}}
{{- end -}}
{{- end -}}
{{ toJson $texts }}
{{- end -}}

{{/* Fails where values would be ignored, where Helm can't install them in one step, and where it would delete providers. */}}
{{- define "capi-operator.checks" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- range $volume := $values.volumes -}}
{{- if eq (($volume.secret | default dict).secretName | default "") "capi-operator-webhook-service-cert" -}}
{{- printf "volumes: remove %s and its entry in volumeMounts.manager; the operator makes the webhooks' certificate itself" $volume.name | fail -}}
{{- end -}}
{{- end -}}
{{- if and $values.webhooks.certManager (not $values.webhooks.enabled) -}}
{{- fail "webhooks.certManager: there is nothing to issue a certificate for, webhooks.enabled is false" -}}
{{- end -}}
{{- include "capi-operator.checkDurations" $values -}}
{{- include "capi-operator.checkPorts" $values -}}
{{- include "capi-operator.checkSources" $values -}}
{{- if $values.installProviders -}}
{{- $served := dict -}}
{{- range $provider := .providers -}}
{{- if has $provider.kind (list "InfrastructureProvider" "IPAMProvider") -}}
{{- $_ := set $served $provider.name true -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := $values.fetchConfig -}}
{{- if not (hasKey $served $name) -}}
{{- printf "fetchConfig.%s: there is no provider infrastructure.%s or ipam.%s" $name $name $name | fail -}}
{{- end -}}
{{- end -}}
{{- if and $values.additionalDeployments (not $served) -}}
{{- fail "additionalDeployments: they are of infrastructure and IPAM providers, and there is none" -}}
{{- end -}}
{{- if and $values.configSecret (not .providers) -}}
{{- fail "configSecret: it is for providers, and there is none" -}}
{{- end -}}
{{- end -}}
{{- include "capi-operator.checkConversion" $root -}}
{{- if and .providers $root.Release.IsInstall -}}
{{- include "capi-operator.checkOrder" $root -}}
{{- end -}}
{{- if $root.Release.IsUpgrade -}}
{{- include "capi-operator.checkReadable" $root -}}
{{- end -}}
{{- if not $values.watchNamespace -}}
{{- include "capi-operator.checkOnce" . -}}
{{- end -}}
{{- include "capi-operator.checkTaken" . -}}
{{- if $root.Release.IsUpgrade -}}
{{- include "capi-operator.checkKept" . -}}
{{- end -}}
{{- end -}}

{{/* The operator ends at once where its durations don't go together. Those that aren't set are its own. */}}
{{- define "capi-operator.checkDurations" -}}
{{- if lt (include "capi-operator.seconds" (.syncPeriod | default "10h") | int64) 10 -}}
{{- fail "syncPeriod: it must be at least 10s" -}}
{{- end -}}
{{- $check := include "capi-operator.seconds" (.checkUpdates | default "12h") | int64 -}}
{{- if and (gt $check 0) (lt $check 10) -}}
{{- fail "checkUpdates: it must be 0s, for never, or at least 10s" -}}
{{- end -}}
{{- $lease := include "capi-operator.seconds" (.leaderElection.leaseDuration | default "15s") | int64 -}}
{{- $renew := include "capi-operator.seconds" (.leaderElection.renewDeadline | default "10s") | int64 -}}
{{- $retry := include "capi-operator.seconds" (.leaderElection.retryPeriod | default "2s") | int64 -}}
{{- if lt $retry 1 -}}
{{- fail "leaderElection.retryPeriod: it must be at least 1s" -}}
{{- end -}}
{{- if or (ge $renew $lease) (ge $retry $renew) -}}
{{- fail "leaderElection: retryPeriod (2s) must be shorter than renewDeadline (10s), and that shorter than leaseDuration (15s); in brackets what they are where they aren't set" -}}
{{- end -}}
{{- end -}}

{{/* So it does where two of its servers have the same port. */}}
{{- define "capi-operator.checkPorts" -}}
{{- $ports := dict "healthAddr" (include "capi-operator.port" .healthAddr) -}}
{{- if ne .diagnosticsAddress "0" -}}
{{- $_ := set $ports "diagnosticsAddress" (include "capi-operator.port" .diagnosticsAddress) -}}
{{- end -}}
{{- if ne (.uiAddress | default "0") "0" -}}
{{- $_ := set $ports "uiAddress" (include "capi-operator.port" .uiAddress) -}}
{{- end -}}
{{- if .webhooks.enabled -}}
{{- $_ := set $ports "webhooks.port" (.webhooks.port | int | toString) -}}
{{- end -}}
{{- $taken := dict -}}
{{- range $name, $port := $ports -}}
{{- if hasKey $taken $port -}}
{{- printf "%s: %s has port %s, too; give each a port of its own" $name (index $taken $port) $port | fail -}}
{{- end -}}
{{- $_ := set $taken $port $name -}}
{{- end -}}
{{- end -}}

{{/* And where it can't use a source of its configuration file (T4 of docs/behaviour.md). */}}
{{- define "capi-operator.checkSources" -}}
{{- range $number, $provider := (.clusterctlConfig | default dict).providers -}}
{{- $path := printf "clusterctlConfig.providers[%d]" $number -}}
{{- if contains "${" $provider.url -}}
{{- printf "%s.url: it has a variable, which the operator doesn't expand; write the URL out" $path | fail -}}
{{- end -}}
{{- with regexFind "%(.?$|[^0-9A-Fa-f].|.[^0-9A-Fa-f])" $provider.url -}}
{{- printf "%s.url: %s is no escape; write %%25 for a percent sign" $path . | fail -}}
{{- end -}}
{{- $host := regexFind "^[^/?#]*" ((splitn "://" 2 $provider.url)._1 | default "") -}}
{{- if and (hasPrefix "[" $host) (not (contains "]" $host)) -}}
{{- printf "%s.url: its host begins with [ and has no ]" $path | fail -}}
{{- end -}}
{{- if ne (eq $provider.name "cluster-api") (eq $provider.type "CoreProvider") -}}
{{- printf "%s.name: a CoreProvider, and no other provider, has the name cluster-api" $path | fail -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
A provider of the same kind and name in two namespaces is one too many for the operator. A value that now names a provider which
was implied before (kubeadm's) would lead to that.
*/}}
{{- define "capi-operator.checkOnce" -}}
{{- $version := "operator.cluster.x-k8s.io/v1alpha2" -}}
{{- range $provider := .providers -}}
{{- if $.root.Capabilities.APIVersions.Has (printf "%s/%s" $version $provider.kind) -}}
{{- range $there := (lookup $version $provider.kind "" "").items | default list -}}
{{- if and (eq $there.metadata.name $provider.name) (ne $there.metadata.namespace $provider.namespace) -}}
{{- $words := "%s.namespace: %s %s is in namespace %s already; name that one" -}}
{{- printf $words $provider.path $provider.kind $provider.name $there.metadata.namespace | fail -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
The API server takes Provider objects once it has their kinds, and the operator answers its webhooks. Neither is so while
Helm installs both for the first time: it would write half of it and fail. `helm template` asks no API server, and prints all.
*/}}
{{- define "capi-operator.checkOrder" -}}
{{- $known := .Capabilities.APIVersions.Has "operator.cluster.x-k8s.io/v1alpha2/CoreProvider" -}}
{{- if and (or .Values.webhooks.enabled (not $known)) (lookup "v1" "Namespace" "" "kube-system") -}}
{{- fail "providers can be installed once the operator runs: add `--set installProviders=false --wait` to this command, and then run `helm upgrade` with the same values and without these two flags" -}}
{{- end -}}
{{- end -}}

{{/*
Without webhooks nobody converts an object that is stored as v1alpha1: its fields of other names would be lost. And a kind that
has somebody's CA for its conversion keeps that when Helm takes out the rest, so that the API server refuses what is left: the
operator's where webhooks are turned off, cert-manager's in a kind that had a webhook for nothing in the peer's release.
*/}}
{{- define "capi-operator.checkConversion" -}}
{{- $page := "see docs/install.md, \"Change the variant\"" -}}
{{- $commands := list -}}
{{- range $row := include "capi-operator.kinds" . | fromYamlArray -}}
{{- $name := printf "%s.operator.cluster.x-k8s.io" $row.plural -}}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name -}}
{{- $stored := (.status | default dict).storedVersions | default list -}}
{{- if and (not $.Values.webhooks.enabled) (has "v1alpha1" $stored) -}}
{{- printf "webhooks.enabled: objects of %s may be stored as v1alpha1, and lose fields without the webhooks; %s" $name $page | fail -}}
{{- end -}}
{{- $client := ((.spec.conversion | default dict).webhook | default dict).clientConfig | default dict -}}
{{- $converts := and $.Values.webhooks.enabled $row.v1alpha1 -}}
{{- if and $.Values.crds.install (not $converts) $client.caBundle -}}
{{- if not $.Values.webhooks.enabled -}}
{{- printf "webhooks.enabled: %s still names the webhook; %s" $name $page | fail -}}
{{- end -}}
{{- $patch := dict "spec" (dict "conversion" (dict "strategy" "None" "webhook" nil)) | toJson -}}
{{- $commands = append $commands (printf "kubectl patch crd %s --type=merge -p '%s'" $name $patch) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $commands -}}
{{- printf "somebody's CA would stay in kinds that convert nothing. To take it out, run this first:\n%s" (join "\n" $commands) | fail -}}
{{- end -}}
{{- end -}}

{{/*
The checks below read providers. One that is stored as v1alpha1 can't be read while nobody converts it: the API server's words
don't say what to do, and without reading nobody knows what the upgrade would lose. Who converts are the pods of the Service that
the kinds name. Before an upgrade that may be another operator's, whose Deployment has another name.
*/}}
{{- define "capi-operator.checkReadable" -}}
{{- $old := list -}}
{{- $service := dict -}}
{{- range $row := include "capi-operator.kinds" . | fromYamlArray -}}
{{- $name := printf "%s.operator.cluster.x-k8s.io" $row.plural -}}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name -}}
{{- $client := ((.spec.conversion | default dict).webhook | default dict).clientConfig | default dict -}}
{{- if and $client.service (has "v1alpha1" ((.status | default dict).storedVersions | default list)) -}}
{{- $old = append $old $name -}}
{{- $service = $client.service -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $old -}}
{{- $words := printf "objects of %s may be stored as v1alpha1, and the operator that converts them" (join ", " $old) -}}
{{- $first := "Before you repeat `helm upgrade`, have it run" -}}
{{- $found := include "capi-operator.converters" $service | fromJson -}}
{{- if $found.down -}}
{{- $command := "kubectl set image deployment/%s manager=IMAGE -n %s" -}}
{{- $how := "for instance with an image that can be pulled" -}}
{{- printf (print "%s isn't ready. %s, %s:\n" $command) $words $first $how $found.down $service.namespace | fail -}}
{{- else if $found.none -}}
{{- $command := "kubectl scale deployment/%s --replicas=%d -n %s" -}}
{{- printf (print "%s has no replicas. %s:\n" $command) $words $first $found.none (max 1 .Values.replicaCount) $service.namespace | fail -}}
{{- else if not $found.ready -}}
{{- $values := printf "helm get values %s -n %s -o yaml" .Release.Name .Release.Namespace -}}
{{- $objects := printf "helm template %s CHART -n %s --values - --set installProviders=false" .Release.Name .Release.Namespace -}}
{{- $apply := "kubectl apply --server-side --force-conflicts -f -" -}}
{{- $then := "CHART is the chart of the release that is there. Once it is ready, repeat the upgrade; with Helm 4 add --force-conflicts, since kubectl wrote objects of the release" -}}
{{- printf "%s isn't there. %s:\n%s | %s | %s\n%s" $words $first $values $objects $apply $then | fail -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Deployments whose pods a Service finds, one for each state: `ready`, `down`, and `none` of whose pods are asked for. */}}
{{- define "capi-operator.converters" -}}
{{- $found := dict -}}
{{- with lookup "v1" "Service" .namespace .name -}}
{{- $selector := .spec.selector | default dict -}}
{{- range $deployment := (lookup "apps/v1" "Deployment" .metadata.namespace "").items | default list -}}
{{- $labels := $deployment.spec.template.metadata.labels | default dict -}}
{{- $state := ternary "none" "down" (eq (int $deployment.spec.replicas) 0) -}}
{{- if ($deployment.status | default dict).readyReplicas -}}
{{- $state = "ready" -}}
{{- end -}}
{{- range $key, $value := $selector -}}
{{- if ne (index $labels $key | default "") $value -}}
{{- $state = "" -}}
{{- end -}}
{{- end -}}
{{- if $state -}}
{{- $_ := set $found $state $deployment.metadata.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{ ternary (pick $found "ready") $found (hasKey $found "ready") | toJson }}
{{- end -}}

{{/* Whether an object belongs to the release (`ours`), and whether Helm leaves it when the release no longer has it (`kept`). */}}
{{- define "capi-operator.ownership" -}}
{{- $marks := .object.metadata.annotations | default dict -}}
{{- $owner := printf "%s/%s" (index $marks "meta.helm.sh/release-namespace") (index $marks "meta.helm.sh/release-name") -}}
{{- $ours := eq $owner (printf "%s/%s" .release.Namespace .release.Name) -}}
{{- $kept := eq (index $marks "helm.sh/resource-policy" | default "") "keep" -}}
{{ dict "ours" $ours "kept" $kept | toJson }}
{{- end -}}

{{/*
An upgrade that isn't a server-side apply writes nothing into an object of a custom kind that it takes over (`--take-ownership`):
such a provider wouldn't get the annotation that keeps it, and Helm would delete it when its value is removed. Helm 3 always
upgrades so, and Helm 4 where the last revision was written so. A template can't see which it is, so the annotation has to be
there in any case.
*/}}
{{- define "capi-operator.checkTaken" -}}
{{- $version := "operator.cluster.x-k8s.io/v1alpha2" -}}
{{- $release := .root.Release -}}
{{- $commands := list -}}
{{- range $provider := .providers -}}
{{- if $.root.Capabilities.APIVersions.Has (printf "%s/%s" $version $provider.kind) -}}
{{- with lookup $version $provider.kind $provider.namespace $provider.name -}}
{{- $state := include "capi-operator.ownership" (dict "object" . "release" $release) | fromJson -}}
{{- if not (or $state.ours $state.kept) -}}
{{- $words := "kubectl annotate %s %s -n %s helm.sh/resource-policy=keep" -}}
{{- $commands = append $commands (printf $words (lower $provider.kind) $provider.name $provider.namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $commands -}}
{{- printf "Helm may take over these providers without what keeps them, and delete them later. To keep them, run this first:\n%s" (join "\n" $commands) | fail -}}
{{- end -}}
{{- end -}}

{{/*
A release that had providers as ordinary objects (the peer's chart with `enableHelmHook: false`) owns them without the
annotation that keeps them. Helm would delete each that isn't in these values, with all that it installed.
*/}}
{{- define "capi-operator.checkKept" -}}
{{- $root := .root -}}
{{- $here := dict -}}
{{- range $provider := .providers -}}
{{- $_ := set $here (printf "%s/%s/%s" $provider.kind $provider.namespace $provider.name) true -}}
{{- end -}}
{{- range $name := include "capi-operator.namespaces" . | fromJsonArray -}}
{{- $_ := set $here (printf "Namespace//%s" $name) true -}}
{{- end -}}
{{- range $name, $_ := include "capi-operator.manifests" .providers | fromJson -}}
{{- $_ := set $here (printf "ConfigMap/%s" $name) true -}}
{{- end -}}
{{- $lost := list -}}
{{- $found := (lookup "v1" "Namespace" "" "").items | default list -}}
{{- range $row := include "capi-operator.kinds" $root | fromYamlArray -}}
{{- $version := "operator.cluster.x-k8s.io/v1alpha2" -}}
{{- if $root.Capabilities.APIVersions.Has (printf "%s/%s" $version $row.kind) -}}
{{- range $provider := (lookup $version $row.kind "" "").items | default list -}}
{{- $found = append $found $provider -}}
{{- with ($provider.spec | default dict).additionalManifests -}}
{{- with lookup "v1" "ConfigMap" (.namespace | default $provider.metadata.namespace) .name -}}
{{- $found = append $found . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $object := $found -}}
{{- $state := include "capi-operator.ownership" (dict "object" $object "release" $root.Release) | fromJson -}}
{{- $namespace := $object.metadata.namespace | default "" -}}
{{- $name := printf "%s/%s/%s" $object.kind $namespace $object.metadata.name -}}
{{- if and $state.ours (not $state.kept) (not (hasKey $here $name)) -}}
{{- $where := ternary (printf " -n %s" $namespace) "" (ne $namespace "") -}}
{{- $lost = append $lost (printf "kubectl annotate %s %s%s helm.sh/resource-policy=keep" (lower $object.kind) $object.metadata.name $where) -}}
{{- end -}}
{{- end -}}
{{- if $lost -}}
{{- printf "these values leave out what the release has, and Helm would delete it. To keep it, run this first:\n%s" (join "\n" $lost) | fail -}}
{{- end -}}
{{- end -}}
