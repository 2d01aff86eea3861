// What a YAML scalar means: the rules of sigs.k8s.io/yaml (YAML 1.1 as go-yaml v2 reads it). Used by yaml*.cc
// only.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/json.h"
#include "base/result.h"

namespace capi::yaml {

// A value. nullptr_t is null; a double may be infinite or NaN, which JSON can't hold.
using Scalar = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string>;

// `tag` is the full tag ("tag:yaml.org,2002:int") or "". `plain` says that the text may mean something else than a
// string: it is neither quoted nor a block, or has a tag. Errors don't repeat the text: it may be a secret's.
Result<Scalar> Resolve(std::string_view tag, bool plain, std::string_view text);

// True when the plain text would be read as a string.
bool ReadsAsString(std::string_view text);

// A double with an integral value becomes an integer, as Go's encoder writes it. Error for infinity and NaN.
Result<Json> ToJson(Scalar scalar);

// As a key of a JSON object. Error for null and for integers beyond int64, which the Go tools refuse.
Result<std::string> ToKey(const Scalar& scalar);

// The shortest text that reads back as `value`, in the form of Go's strconv.FormatFloat(value, 'g', -1, bits).
std::string FormatGoFloat(double value, int bits);

}  // namespace capi::yaml
