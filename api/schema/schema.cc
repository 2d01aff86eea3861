#include "api/schema/schema.h"

namespace capi::api {
namespace schema {
namespace {

Json Typed(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

}  // namespace

Json Text(std::string_view description) { return Typed("string", description); }
Json Flag(std::string_view description) { return Typed("boolean", description); }
Json Integer(std::string_view description) { return Typed("integer", description); }
Json Long(std::string_view description) { return With(Typed("integer", description), {{"format", "int64"}}); }
Json Duration(std::string_view description) { return Typed("string", description); }

Json IntOrString(std::string_view description) {
  return {{"anyOf", Json::array({{{"type", "integer"}}, {{"type", "string"}}})},
          {"x-kubernetes-int-or-string", true},
          {"description", description}};
}

Json Duration(std::string_view description, ApiVersion version) {
  if (version == ApiVersion::kV1Alpha2) return Duration(description);
  return IntOrString(std::string(description) + " A number means seconds.");
}

Json Arguments(std::string_view description, ApiVersion version) {
  if (version == ApiVersion::kV1Alpha2) return MapOf(description, Text("Value of the argument."));
  return MapOf(std::string(description) + " Dashes that a key lacks are added.",
               Any("Value of the argument: a text, a whole number, true or false."));
}

Json Quantity(std::string_view description) { return With(IntOrString(description), {{"pattern", kQuantityPattern}}); }

Json Free(std::string_view description) {
  return With(Typed("object", description), {{"x-kubernetes-preserve-unknown-fields", true}});
}

Json Any(std::string_view description) {
  return {{"description", description}, {"x-kubernetes-preserve-unknown-fields", true}};
}

Json Object(std::string_view description, const Fields& fields, const std::vector<std::string>& required) {
  Json out = Typed("object", description);
  for (const auto& [name, field] : fields) out["properties"][name] = field;
  if (!required.empty()) out["required"] = required;
  return out;
}

Json MapOf(std::string_view description, Json values) {
  return With(Typed("object", description), {{"additionalProperties", std::move(values)}});
}

Json ListOf(std::string_view description, Json items) {
  return With(Typed("array", description), {{"items", std::move(items)}});
}

Json ListByKey(std::string_view description, Json items, const std::vector<std::string>& keys) {
  return With(ListOf(description, std::move(items)),
              {{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", keys}});
}

Json With(Json schema, const Json& members) {
  schema.update(members);
  return schema;
}

Json Atomic(Json object) { return With(std::move(object), {{"x-kubernetes-map-type", "atomic"}}); }

Json Rule(Json schema, std::string_view cel, std::string_view message) {
  schema["x-kubernetes-validations"].push_back({{"rule", cel}, {"message", message}});
  return schema;
}

Json OneOf(std::string_view description, const std::vector<std::string>& words) {
  return With(Text(description), {{"enum", words}});
}

Json LabelSelector(std::string_view description, bool strict) {
  constexpr std::string_view kOperator = "How label and values are compared: In, NotIn, Exists or DoesNotExist.";
  Json values =
      With(ListOf("Values that the label has (In) or doesn't have (NotIn). Not set for Exists and DoesNotExist.",
                  Text("A value of the label.")),
           {{"x-kubernetes-list-type", "atomic"}});
  Json requirement =
      Object("One requirement on a label.",
             {{"key", Text("Name of the label that the requirement is about.")},
              {"operator", strict ? OneOf(kOperator, {"In", "NotIn", "Exists", "DoesNotExist"}) : Text(kOperator)},
              {"values", std::move(values)}},
             {"key", "operator"});
  return Atomic(Object(
      description,
      {{"matchLabels", MapOf("Labels that an object has, each with just this value.", Text("Value of the label."))},
       {"matchExpressions", With(ListOf("Requirements on labels, all of which hold.", std::move(requirement)),
                                 {{"x-kubernetes-list-type", "atomic"}})}}));
}

Json Reference(std::string_view description, std::string_view name, std::string_view ns) {
  return Object(description, {{"name", Text(name)}, {"namespace", Text(ns)}}, {"name"});
}

}  // namespace schema

Json ProviderSchema(std::string_view description, ApiVersion version) {
  return schema::Object(description,
                        {{"apiVersion", schema::Text("Version of the API that this object is written for.")},
                         {"kind", schema::Text("Kind of this object: which type of provider it is.")},
                         {"metadata", {{"type", "object"}}},  // the API server allows no description here
                         {"spec", schema::Spec(version)},
                         {"status", schema::Status(version)}});
}

}  // namespace capi::api
