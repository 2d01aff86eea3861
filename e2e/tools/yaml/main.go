// Says what the Go tools of Kubernetes make of YAML texts: the oracle of e2e/oracles/yaml_test.cc.
//
// Each line of the standard input is a text in base64. The answer to it is one line of JSON:
//
//	one            the first document of the text, or absent
//	oneError       why there is none
//	rendered       what `one` looks like when it is written again
//	stream         the text as clusterctl reads a components file: its documents, but for the empty ones
//	streamError    why there are none
//	ambiguous      true where a map has keys of two types that JSON spells alike ("1" and 1): which one wins is chance
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	goyaml "go.yaml.in/yaml/v2"
	apiyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

type answer struct {
	One         json.RawMessage   `json:"one,omitempty"`
	OneError    string            `json:"oneError,omitempty"`
	Rendered    string            `json:"rendered,omitempty"`
	Stream      []json.RawMessage `json:"stream"`
	StreamError string            `json:"streamError,omitempty"`
	Ambiguous   bool              `json:"ambiguous,omitempty"`
}

func spelled(key any) string {
	switch typed := key.(type) {
	case string:
		return typed
	case float64:
		return strconv.FormatFloat(typed, 'g', -1, 32)
	default:
		return fmt.Sprint(typed)
	}
}

func ambiguous(value any) bool {
	switch typed := value.(type) {
	case []any:
		return slices.ContainsFunc(typed, ambiguous)
	case map[any]any:
		keys := map[string]bool{}
		for key, member := range typed {
			if keys[spelled(key)] || ambiguous(member) {
				return true
			}
			keys[spelled(key)] = true
		}
	}
	return false
}

// toJSON adds to `doubtful` whether the text is ambiguous.
func toJSON(text []byte, doubtful *bool) ([]byte, error) {
	var value any
	if err := goyaml.Unmarshal(text, &value); err == nil && ambiguous(value) {
		*doubtful = true
	}
	return yaml.YAMLToJSON(text)
}

func documents(text []byte, doubtful *bool) ([]json.RawMessage, error) {
	found := []json.RawMessage{}
	reader := apiyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		piece, err := reader.Read()
		if errors.Is(err, io.EOF) || (err == nil && len(piece) == 0) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		value, err := toJSON(piece, doubtful)
		if err != nil {
			return nil, err
		}
		if string(value) != "null" {
			found = append(found, value)
		}
	}
}

func ask(text []byte) (out answer) {
	defer func() {
		if problem := recover(); problem != nil {
			out = answer{OneError: "panic", StreamError: "panic"}
		}
	}()
	if value, err := toJSON(text, &out.Ambiguous); err != nil {
		out.OneError = err.Error()
	} else {
		out.One = value
		if rendered, err := yaml.JSONToYAML(value); err == nil {
			out.Rendered = string(rendered)
		}
	}
	stream, err := documents(text, &out.Ambiguous)
	if err != nil {
		out.StreamError = err.Error()
	} else {
		out.Stream = stream
	}
	return out
}

func run() error {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		text, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(line)))
		if err != nil {
			return err
		}
		if err := encoder.Encode(ask(text)); err != nil {
			return err
		}
	}
}

func main() {
	if err := run(); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
