#include "templating/json_patch.h"

#include <fmt/format.h>

namespace capi::templating {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// The library takes it for granted that what a path goes into is a map or a list (and ends the process where it is
// not). Throws as the library does where there is nothing at all.
Status CheckParent(const Json& target, const Json& operation) {
  std::string op = GetString(operation, {"op"});
  if (op != "add" && op != "remove" && op != "copy") return Ok();
  Json::json_pointer path(GetString(operation, {"path"}));
  if (path.empty()) return Invalid(fmt::format("{} of a whole object", op));
  const Json& parent = target.at(path.parent_pointer());
  if (parent.is_structured() || (parent.is_null() && op != "remove")) return Ok();
  return Invalid(fmt::format("{} {}: its parent is neither a map nor a list", op, path.to_string()));
}

Status Apply(Json& target, const Json& operation) {
  TRY(CheckParent(target, operation));
  target.patch_inplace(Json::array({operation}));
  return Ok();
}

// In two steps, since what is taken out may change what the path goes into.
Status Move(Json& target, const Json& operation) {
  std::string from = GetString(operation, {"from"}), path = GetString(operation, {"path"});
  if (path.starts_with(from + "/")) return Invalid(fmt::format("move {} into itself", from));
  Json value = target.at(Json::json_pointer(from));
  TRY(Apply(target, {{"op", "remove"}, {"path", from}}));
  return Apply(target, {{"op", "add"}, {"path", path}, {"value", std::move(value)}});
}

}  // namespace

Status JsonPatch(Json& target, const Json& operations) {
  try {
    Json result = target;
    for (const Json& operation : operations) {
      bool moves = GetString(operation, {"op"}) == "move";
      TRY(moves ? Move(result, operation) : Apply(result, operation));
    }
    target = std::move(result);
    return Ok();
  } catch (const Json::exception& e) {
    std::string_view what = e.what();
    if (auto end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    return Invalid(std::string(what));
  }
}

}  // namespace capi::templating
