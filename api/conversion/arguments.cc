#include "api/conversion/arguments.h"

#include <fmt/format.h>

#include "api/conversion/members.h"

namespace capi::api {
namespace {

Error Invalid(const std::string& path, const std::string& name, std::string_view problem) {
  return Error{Code::kInvalidArgument, fmt::format("{}[{}]: {}", path, name, problem), {}};
}

std::string FlagName(const std::string& name) { return name.starts_with('-') ? name : "--" + name; }

Json TextOf(const Json& value) { return value.is_number_integer() || value.is_boolean() ? Json(value.dump()) : value; }

}  // namespace

Status ArgumentsToNew(Json& args, const Json& kept, const std::string& path) {
  if (!args.is_object()) return Ok();
  Json out = Json::object();
  for (const auto& [name, value] : args.items()) {
    Json text = TextOf(value);
    if (!text.is_string()) return Invalid(path, name, "must be a text, a whole number, true or false");
    const auto [flag, added] = out.emplace(Part(kept, name).is_string() ? name : FlagName(name), text);
    if (!added && *flag != text) return Invalid(path, name, "is given with and without dashes");
  }
  args = std::move(out);
  return Ok();
}

void ArgumentsToOld(Json& args, const Json& kept) {
  if (!args.is_object() || !kept.is_object()) return;
  for (const auto& [name, value] : kept.items()) {
    auto now = args.find(name);  // so it is called in v1alpha2, too, where it was written there first
    if (now == args.end()) now = args.find(FlagName(name));
    if (value.is_null() || now == args.end()) continue;
    Json written = TextOf(value) == *now ? value : *now;
    args.erase(now);
    args[name] = std::move(written);
  }
}

}  // namespace capi::api
