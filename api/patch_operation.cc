#include "api/patch_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/strings.h"

namespace capi::api {
namespace {

constexpr size_t kMaxPath = 16u << 10;
constexpr size_t kShown = 20;  // bytes of an op that is none

Error Bad(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

Result<const Json*> MemberOf(const Json& operation, std::string_view name) {
  const Json* member = Find(operation, {name});
  if (member == nullptr) return Bad(fmt::format("{} is missing", name));
  return member;
}

// RFC 6901.
bool IsPointer(std::string_view path) {
  if (!path.empty() && path.front() != '/') return false;
  for (size_t at = path.find('~'); at != path.npos; at = path.find('~', at + 1)) {
    if (at + 1 == path.size() || (path[at + 1] != '0' && path[at + 1] != '1')) return false;
  }
  return true;
}

Result<std::string_view> TextIn(const Json& operation, std::string_view name) {
  const Json* text = TRY(MemberOf(operation, name));
  if (!text->is_string()) return Bad(fmt::format("{} must be text", name));
  return std::string_view(text->get_ref<const std::string&>());
}

Result<std::string_view> PathIn(const Json& operation, std::string_view name) {
  const std::string_view path = TRY(TextIn(operation, name));
  if (path.size() > kMaxPath) return Bad(fmt::format("{}: it has more than {} bytes", name, kMaxPath));
  if (!IsPointer(path)) {
    return Bad(fmt::format("{} must be a JSON pointer: begin with /, and have ~0 for ~ and ~1 for / in a name", name));
  }
  if (static_cast<size_t>(std::count(path.begin(), path.end(), '/')) > kMaxPatchDepth) {
    return Bad(fmt::format("{}: it has more than {} steps", name, kMaxPatchDepth));
  }
  return path;
}

// What no object can carry out, whatever is in it: what is left has to be an object, and a value can't go into itself.
Status CheckPlaces(const PatchOperation& operation) {
  const bool takes_whole = operation.op == "replace" || operation.op == "test";
  if (operation.path.empty() && !takes_whole) {
    return Bad(fmt::format("path must not be empty: {} can't be of a whole object", operation.op));
  }
  if (operation.op != "move") return Ok();
  if (operation.from.empty()) return Bad("from must not be empty: a whole object can't move");
  if (operation.path.starts_with(std::string(operation.from) + "/")) {
    return Bad("path must not lead into from: a value can't move into itself");
  }
  return Ok();
}

}  // namespace

Result<PatchOperation> ReadPatchOperation(const Json& operation) {
  if (!operation.is_object()) return Bad("must be an object with op and path");
  PatchOperation out;
  out.op = TRY(TextIn(operation, "op"));
  const bool takes_from = out.op == "move" || out.op == "copy";
  const bool takes_value = out.op == "add" || out.op == "replace" || out.op == "test";
  if (!takes_from && !takes_value && out.op != "remove") {
    return Bad(
        fmt::format("op \"{}\" is not add, remove, replace, move, copy or test", Shorten(std::string(out.op), kShown)));
  }
  out.path = TRY(PathIn(operation, "path"));
  if (takes_from) out.from = TRY(PathIn(operation, "from"));
  if (takes_value) out.value = TRY(MemberOf(operation, "value"));
  TRY(CheckPlaces(out));
  return out;
}

}  // namespace capi::api
