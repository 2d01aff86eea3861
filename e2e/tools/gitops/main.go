// Says how GitOps tools judge recorded objects: the oracle of tools/gitops_e2e_test.py.
//
// The standard input is one JSON object:
//
//	argo     the ConfigMap argocd-cm as YAML, with a health script in resource.customizations
//	flux     the Kustomization as YAML, with healthCheckExprs
//	objects  what is judged
//
// The answer has one element for each object, in order: what Argo CD, Flux with these expressions, and kstatus (which is Flux
// without them) take it for.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Argo    string                      `json:"argo"`
	Flux    string                      `json:"flux"`
	Objects []unstructured.Unstructured `json:"objects"`
}

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type answer struct {
	Argo    verdict `json:"argo"`
	Flux    verdict `json:"flux"`
	Kstatus verdict `json:"kstatus"`
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	argo, err := newArgo(asked.Argo)
	if err != nil {
		return fmt.Errorf("argocd-cm: %w", err)
	}
	flux, err := newFlux(asked.Flux)
	if err != nil {
		return fmt.Errorf("Kustomization: %w", err)
	}
	answers := []answer{}
	for i := range asked.Objects {
		object := &asked.Objects[i]
		computed, err := status.Compute(object)
		if err != nil {
			return err
		}
		answers = append(answers, answer{
			Argo:    argo.judge(object),
			Flux:    flux.judge(object),
			Kstatus: verdict{computed.Status.String(), computed.Message},
		})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
