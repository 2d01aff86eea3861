module capi-operator/e2e/tools/yaml

go 1.24.0

require (
	go.yaml.in/yaml/v2 v2.4.2
	k8s.io/apimachinery v0.34.2
	sigs.k8s.io/yaml v1.6.0
)

require sigs.k8s.io/json v0.0.0-20241014173422-cfa47c3a1cc8 // indirect
