package main

import (
	"context"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling/engine"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// flux is what kustomize-controller has each object's status read by.
type flux struct {
	reader engine.StatusReader
}

func newFlux(text string) (*flux, error) {
	var kustomization kustomizev1.Kustomization
	if err := yaml.UnmarshalStrict([]byte(text), &kustomization); err != nil {
		return nil, err
	}
	if len(kustomization.Spec.HealthCheckExprs) == 0 {
		return nil, fmt.Errorf("no healthCheckExprs")
	}
	reader, err := cel.NewStatusReader(kustomization.Spec.HealthCheckExprs)
	if err != nil {
		return nil, err
	}
	return &flux{reader(nil)}, nil
}

// judge gives "Unknown" where an expression can't be evaluated: Flux goes on waiting then.
func (f *flux) judge(object *unstructured.Unstructured) verdict {
	found, err := f.reader.ReadStatusForObject(context.Background(), nil, object)
	if err != nil {
		return verdict{"Unsupported", err.Error()}
	}
	message := found.Message
	if found.Error != nil {
		message = found.Error.Error()
	}
	return verdict{found.Status.String(), message}
}
