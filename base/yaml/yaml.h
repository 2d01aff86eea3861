// YAML as the Go tools of Kubernetes read it: libyaml parses, scalars resolve as sigs.k8s.io/yaml resolves them, and
// the result is JSON. libyaml emits too: in the form of sigs.k8s.io/yaml to the byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace capi {

// Bounds against input that explodes. The defaults fit every real release; who needs more says so.
struct YamlLimits {
  size_t max_depth = 500;          // nesting
  size_t max_nodes = 5'000'000;    // nodes of one document after aliases are expanded
  size_t max_documents = 100'000;  // documents of one stream
  size_t max_memory = 32u << 20;   // bytes that a stream's values take, about, with copies that aliases make
};

// One document of a stream.
struct YamlDocument {
  Json value;         // null for an empty document
  int line = 1;       // where it starts, 1-based, in the whole stream
  size_t offset = 0;  // of that line
};

// All documents of a stream, empty ones (nothing, or comments only) left out. Errors are kInvalidArgument and name line
// and column of the whole stream: "line 4711, column 3: ...". They repeat nothing of the text, which may be secret, but
// what stands behind a separator.
Result<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, const YamlLimits& limits = {});

// Exactly one document; null for empty text.
Result<Json> ParseYaml(std::string_view text, const YamlLimits& limits = {});

// Block style, keys sorted, as sigs.k8s.io/yaml renders: parses back to the same value. Ends with a newline.
std::string ToYaml(const Json& value);

}  // namespace capi
