module capi-operator/e2e/tools/releases

go 1.24.0

require (
	sigs.k8s.io/cluster-api v1.12.0
	sigs.k8s.io/cluster-api/test v1.12.0
)
