#include "api/conversion/arguments.h"

#include <fmt/format.h>

namespace capi::api {
namespace {

Error Invalid(const std::string& path, const std::string& name, std::string_view problem) {
  return Error{Code::kInvalidArgument, fmt::format("{}[{}]: {}", path, name, problem), {}};
}

}  // namespace

Status ArgumentsToNew(Json& args, const std::string& path) {
  if (!args.is_object()) return Ok();
  Json out = Json::object();
  for (auto& [name, value] : args.items()) {
    std::string flag = name.starts_with('-') ? name : "--" + name;
    if (value.is_number_integer() || value.is_boolean()) value = value.dump();
    if (!value.is_string()) return Invalid(path, name, "must be a text, a whole number, true or false");
    if (!out.emplace(flag, std::move(value)).second) return Invalid(path, name, "is given with and without dashes");
  }
  args = std::move(out);
  return Ok();
}

}  // namespace capi::api
