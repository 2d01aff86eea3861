#include "templating/patch/json_patch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_memory.h"

namespace capi::templating {
namespace {

constexpr size_t kMaxDepth = 1'000;
constexpr size_t kOperation = 1'000;  // what one costs beside its values, in bytes of work

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

size_t DepthOf(const Json& value) {
  size_t depth = 0;
  if (!value.is_structured()) return depth;
  for (const Json& item : value) depth = std::max(depth, DepthOf(item) + 1);
  return depth;
}

Status CheckDepth(std::string_view op, std::string_view path, const Json& value) {
  auto above = static_cast<size_t>(std::count(path.begin(), path.end(), '/'));
  if (above + DepthOf(value) <= kMaxDepth) return Ok();
  return Invalid(fmt::format("{} {}: nested deeper than {}", op, path, kMaxDepth));
}

// Items of the list that a path goes into: adding to it and removing from it moves them. (What else is done to an item
// of so long a list may cost as much: there is no need for it.)
size_t ItemsMoved(const Json& target, const Json& operation) {
  Json::json_pointer path(GetString(operation, {"path"}));
  if (path.empty()) return 0;
  const Json& parent = target.at(path.parent_pointer());
  return parent.is_array() ? parent.size() : 0;
}

// Copies can double an object with each operation, and nest it as fast.
Status Charge(const Json& target, const Json& operation, PatchBudget& budget) {
  std::string op = GetString(operation, {"op"}), path = GetString(operation, {"path"});
  const bool copies = op == "copy";
  const Json* value =
      copies ? &target.at(Json::json_pointer(GetString(operation, {"from"}))) : Find(operation, {"value"});
  size_t bytes = value == nullptr ? 0 : MemoryOf(*value);
  TRY(budget.Work(kOperation + path.size() + 2 * bytes + sizeof(Json) * ItemsMoved(target, operation)));
  if (copies || op == "add" || op == "replace") TRY(budget.Add(bytes));
  return value == nullptr ? Ok() : CheckDepth(op, path, *value);
}

void Run(Json& target, Json operation) {
  Json list = Json::array();
  list.push_back(std::move(operation));
  target.patch_inplace(list);
}

Status Apply(Json& target, const Json& operation, PatchBudget& budget) {
  TRY(CheckParent(target, operation));
  TRY(Charge(target, operation, budget));
  Run(target, operation);
  return Ok();
}

// In two steps, since what is taken out may change what the path goes into.
Status Move(Json& target, const Json& operation, PatchBudget& budget) {
  std::string from = GetString(operation, {"from"}), path = GetString(operation, {"path"});
  if (path.starts_with(from + "/")) return Invalid(fmt::format("move {} into itself", from));
  Json value = std::move(target.at(Json::json_pointer(from)));
  TRY(Apply(target, {{"op", "remove"}, {"path", from}}, budget));
  Json add = {{"op", "add"}, {"path", path}};
  add["value"] = std::move(value);
  TRY(CheckParent(target, add));
  // What moves is in the object already.
  TRY(budget.Work(kOperation + 4 * MemoryOf(add) + sizeof(Json) * ItemsMoved(target, add)));
  TRY(CheckDepth("move", path, add["value"]));
  Run(target, std::move(add));
  return Ok();
}

}  // namespace

Status JsonPatch(Json& target, const Json& operations, PatchBudget& budget) {
  try {
    for (const Json& operation : operations) {
      bool moves = GetString(operation, {"op"}) == "move";
      TRY(moves ? Move(target, operation, budget) : Apply(target, operation, budget));
    }
    return Ok();
  } catch (const Json::exception& e) {
    std::string_view what = e.what();
    if (auto end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    return Invalid(std::string(what));
  }
}

}  // namespace capi::templating
