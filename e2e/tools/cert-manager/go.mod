module capi-operator/e2e/tools/cert-manager

go 1.25.0

require github.com/cert-manager/cert-manager v1.20.2 // indirect
