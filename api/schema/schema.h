// The schema of the seven kinds: one tree of fields with types, descriptions, defaults and rules, from which the
// CustomResourceDefinitions and docs/api.md are printed. JSON in the form of OpenAPI v3 as CRDs take it ("structural").
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace capi::api {

// v1alpha1 says the same as v1alpha2, in the words of the operator's first proposal (api/conversion/convert.h).
enum class ApiVersion { kV1Alpha1, kV1Alpha2 };

// Any of the kinds; they differ only in `kind` and its description.
Json ProviderSchema(std::string_view description, ApiVersion version = ApiVersion::kV1Alpha2);

namespace schema {

using Fields = std::vector<std::pair<std::string, Json>>;

// One field each.
Json Text(std::string_view description);
Json Flag(std::string_view description);
Json Integer(std::string_view description);   // int32 or wider, as the peer's API takes it
Json Long(std::string_view description);      // int64
Json Duration(std::string_view description);  // "1h0m5s"
Json IntOrString(std::string_view description);
Json Quantity(std::string_view description);  // "100m", "128Mi", 1
Json Free(std::string_view description);      // an object of core/v1, too large to repeat; nothing is pruned
Json Any(std::string_view description);       // a value of any type: a schema can't name several
Json Object(std::string_view description, const Fields& fields, const std::vector<std::string>& required = {});
Json MapOf(std::string_view description, Json values);
Json ListOf(std::string_view description, Json items);

// Merged by these keys under server-side apply.
Json ListByKey(std::string_view description, Json items, const std::vector<std::string>& keys);

// The same schema with more members: With(Integer("..."), {{"minimum", 0}}).
Json With(Json schema, const Json& members);
Json Atomic(Json object);  // replaced as a whole under server-side apply
Json Rule(Json schema, std::string_view cel, std::string_view message);

// The peer's API takes any operator; with `strict` only those that there are are taken.
Json LabelSelector(std::string_view description, bool strict = false);
// One of these words.
Json OneOf(std::string_view description, const std::vector<std::string>& words);
Json Reference(std::string_view description, std::string_view name, std::string_view ns);

// A duration, where v1alpha1 takes a number of seconds too.
Json Duration(std::string_view description, ApiVersion version);
// Arguments by their names; v1alpha1 takes numbers and switches for values, and names without dashes.
Json Arguments(std::string_view description, ApiVersion version);

// Parts of ProviderSchema, one file each.
Json Manager(ApiVersion version);
Json Deployment(ApiVersion version);
Json Spec(ApiVersion version = ApiVersion::kV1Alpha2);
Json Status(ApiVersion version = ApiVersion::kV1Alpha2);

}  // namespace schema
}  // namespace capi::api
