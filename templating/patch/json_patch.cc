#include "templating/patch/json_patch.h"

#include <fmt/format.h>

#include <algorithm>

namespace capi::templating {
namespace {

// Copies can double an object with each operation, and nest it as fast.
constexpr size_t kMaxCopied = 16u << 20;  // bytes in memory, about, all operations together
constexpr size_t kValueSize = 100;        // of a value beside its text
constexpr size_t kMaxDepth = 1'000;

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

// What `value` takes in memory, about, and how deep it nests.
struct Extent {
  size_t bytes = kValueSize, depth = 0;
};

Extent Measure(const Json& value) {
  Extent out;
  if (value.is_string()) out.bytes += value.get_ref<const std::string&>().size();
  if (!value.is_structured()) return out;
  for (const Json& item : value) {
    Extent inner = Measure(item);
    out.bytes += inner.bytes;
    out.depth = std::max(out.depth, inner.depth + 1);
  }
  return out;
}

// `copied` is the sum over the operations so far.
Status CheckExtent(const Json& target, const Json& operation, size_t& copied) {
  std::string op = GetString(operation, {"op"}), path = GetString(operation, {"path"});
  Extent value;
  if (op == "copy") {
    value = Measure(target.at(Json::json_pointer(GetString(operation, {"from"}))));
    copied += value.bytes;
    if (copied > kMaxCopied) return Invalid(fmt::format("more than {} bytes are copied", kMaxCopied));
  } else if (const Json* given = Find(operation, {"value"})) {
    value = Measure(*given);
  }
  auto above = static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
  if (above + value.depth <= kMaxDepth) return Ok();
  return Invalid(fmt::format("{} {}: nested deeper than {}", op, path, kMaxDepth));
}

Status Apply(Json& target, const Json& operation, size_t& copied) {
  TRY(CheckParent(target, operation));
  TRY(CheckExtent(target, operation, copied));
  target.patch_inplace(Json::array({operation}));
  return Ok();
}

// In two steps, since what is taken out may change what the path goes into.
Status Move(Json& target, const Json& operation, size_t& copied) {
  std::string from = GetString(operation, {"from"}), path = GetString(operation, {"path"});
  if (path.starts_with(from + "/")) return Invalid(fmt::format("move {} into itself", from));
  Json value = target.at(Json::json_pointer(from));
  TRY(Apply(target, {{"op", "remove"}, {"path", from}}, copied));
  return Apply(target, {{"op", "add"}, {"path", path}, {"value", std::move(value)}}, copied);
}

}  // namespace

Status JsonPatch(Json& target, const Json& operations) {
  size_t copied = 0;
  return JsonPatch(target, operations, copied);
}

Status JsonPatch(Json& target, const Json& operations, size_t& copied) {
  try {
    Json result = target;
    for (const Json& operation : operations) {
      bool moves = GetString(operation, {"op"}) == "move";
      TRY(moves ? Move(result, operation, copied) : Apply(result, operation, copied));
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
