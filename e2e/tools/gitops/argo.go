package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gobwas/glob"
	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
	"sigs.k8s.io/yaml"
)

// argo does what Argo CD v3.5 does (util/lua/lua.go, gitops-engine's pkg/health/health.go), with the modules that it uses and the
// versions that it pins: its own packages bring half of Kubernetes. Argo CD's scripts also have os.time and os.date, and a global
// actionParams; a script that reads these is an error here, and so "Unknown".
type argo struct {
	scripts []script
}

type script struct {
	kinds glob.Glob
	text  string
}

func newArgo(text string) (*argo, error) {
	var config corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(text), &config); err != nil {
		return nil, err
	}
	var customizations map[string]struct {
		Health string `json:"health.lua"`
	}
	if err := yaml.UnmarshalStrict([]byte(config.Data["resource.customizations"]), &customizations); err != nil {
		return nil, err
	}
	found := &argo{}
	for pattern, one := range customizations {
		kinds, err := glob.Compile(pattern)
		if err != nil {
			return nil, err
		}
		found.scripts = append(found.scripts, script{kinds, one.Health})
	}
	if len(found.scripts) == 0 {
		return nil, errors.New("no script")
	}
	return found, nil
}

func (a *argo) judge(object *unstructured.Unstructured) verdict {
	if object.GetDeletionTimestamp() != nil {
		return verdict{"Progressing", "Pending deletion"} // no script is asked
	}
	gvk := object.GroupVersionKind()
	for _, one := range a.scripts {
		if one.kinds.Match(gvk.Group + "/" + gvk.Kind) {
			health, err := one.run(object)
			if err != nil {
				return verdict{"Unknown", err.Error()}
			}
			return health
		}
	}
	return verdict{"Unsupported", "no script is for " + gvk.Group + "/" + gvk.Kind}
}

func (s script) run(object *unstructured.Unstructured) (verdict, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
	} {
		call := lua.P{Fn: state.NewFunction(library.open), Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return verdict{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	text, err := object.MarshalJSON()
	if err != nil {
		return verdict{}, err
	}
	value, err := luajson.Decode(state, text)
	if err != nil {
		return verdict{}, err
	}
	state.SetGlobal("obj", value)
	if err := state.DoString(s.text); err != nil {
		var failed *lua.ApiError
		if errors.As(err, &failed) && failed.Type == lua.ApiErrorRun {
			failed.StackTrace = ""
		}
		return verdict{}, err
	}
	return readHealth(state.Get(-1))
}

// readHealth takes nothing, and an empty table, for an empty health.
func readHealth(value lua.LValue) (verdict, error) {
	if value.Type() == lua.LTNil {
		return verdict{}, nil
	}
	if value.Type() != lua.LTTable {
		return verdict{}, fmt.Errorf("expect table output from Lua script, not %s", value.Type())
	}
	text, err := luajson.Encode(value)
	if err != nil {
		return verdict{}, err
	}
	var health verdict
	if err := json.Unmarshal(text, &health); err != nil {
		var mistyped *json.UnmarshalTypeError // an empty table is a list
		if errors.As(err, &mistyped) {
			return verdict{}, nil
		}
		return verdict{}, err
	}
	if !slices.Contains([]string{"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"}, health.Status) {
		return verdict{"Unknown", "Lua returned an invalid health status"}, nil
	}
	return health, nil
}
