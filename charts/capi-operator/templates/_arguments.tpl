{{/* What the operator is started with, one argument an entry. A value that isn't set leaves the operator its own default. */}}
{{- define "capi-operator.arguments" -}}
{{- $values := .Values -}}
- --leader-elect
- --diagnostics-address={{ $values.diagnosticsAddress }}
- --health-addr={{ $values.healthAddr }}
- --webhook-port={{ ternary (int $values.webhooks.port) 0 $values.webhooks.enabled }}
{{- if include "capi-operator.certManager" . }}
- --webhook-cert-dir=/certs
{{- end }}
{{- with $values.watchNamespace }}
- --namespace={{ . }}
{{- end }}
{{- with $values.logLevel }}
- --v={{ int . }}
{{- end }}
{{- with $values.logFormat }}
- --log-format={{ . }}
{{- end }}
{{- with $values.uiAddress }}
- --ui-address={{ . }}
{{- end }}
{{- if $values.insecureDiagnostics }}
- --insecure-diagnostics
{{- end }}
{{- with $values.leaderElection.leaseDuration }}
- --leader-elect-lease-duration={{ . }}
{{- end }}
{{- with $values.leaderElection.renewDeadline }}
- --leader-elect-renew-deadline={{ . }}
{{- end }}
{{- with $values.leaderElection.retryPeriod }}
- --leader-elect-retry-period={{ . }}
{{- end }}
{{- with $values.concurrency }}
- --concurrency={{ int . }}
{{- end }}
{{- with $values.syncPeriod }}
- --sync-period={{ . }}
{{- end }}
{{- with $values.checkUpdates }}
- --check-updates={{ . }}
{{- end }}
{{- with $values.environmentVariables }}
- --environment-variables={{ join "," . }}
{{- end }}
{{- with $values.allowedSources }}
- {{ printf "--allowed-sources=%s" (join "," .) | quote }}
{{- end }}
{{- with $values.releasesDir }}
- {{ printf "--releases-dir=%s" . | quote }}
{{- end }}
{{- if $values.adoptInventory }}
- --adopt-inventory
{{- end }}
{{- if $values.allowCrossNamespaceReferences }}
- --allow-cross-namespace-references
{{- end }}
{{- if $values.requireServiceAccount }}
- --require-service-account
{{- end }}
{{- if $values.requireVerified }}
- --require-verified
{{- end }}
{{- with $values.certificates }}
- --certificates={{ . }}
{{- end }}
{{- with $values.githubApiUrl }}
- {{ printf "--github-api-url=%s" . | quote }}
{{- end }}
{{- with $values.githubUrl }}
- {{ printf "--github-url=%s" . | quote }}
{{- end }}
{{- end -}}
