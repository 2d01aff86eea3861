#include "templating/patch/json_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/patch_operation.h"
#include "base/json_memory.h"
#include "base/strings.h"

// The library's own patch copies a value two or three times on its way, which would be more memory than there may be,
// and ends the process where a path goes into a text or a number. Its way back from a path to a text takes a time that
// grows with the square of it: here paths are compared and counted as they were written.
namespace capi::templating {
namespace {

using Pointer = Json::json_pointer;

constexpr size_t kOperation = 1'000;               // what one costs beside its values, in bytes of work
constexpr size_t kStep = 400;                      // what a step of its paths costs
constexpr size_t kShownOp = 20, kShownPath = 200;  // bytes of them in an error

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// As it was read, with its paths in steps. A value; it points into the patch.
struct Operation : api::PatchOperation {
  Pointer path_steps, from_steps;
};

// Charges for all that a path is read for: each step is copied several times, and for each escape the library moves all
// that comes after it.
Result<Pointer> StepsOf(std::string_view path, PatchBudget& budget) {
  auto count = [&](char c) { return static_cast<size_t>(std::count(path.begin(), path.end(), c)); };
  TRY(budget.Work(kStep * count('/') + path.size() * count('~')));
  return Pointer(std::string(path));
}

Result<Operation> Read(const Json& json, PatchBudget& budget) {
  Operation out{TRY(api::ReadPatchOperation(json)), Pointer(), Pointer()};
  out.path_steps = TRY(StepsOf(out.path, budget));
  out.from_steps = TRY(StepsOf(out.from, budget));
  return out;
}

size_t DepthOf(const Json& value) {
  size_t depth = 0;
  if (!value.is_structured()) return depth;
  for (const Json& item : value) depth = std::max(depth, DepthOf(item) + 1);
  return depth;
}

// An item of the list, or the place behind the last, which is "-" too.
Result<size_t> IndexIn(const Json& list, std::string_view step) {
  if (step == "-") return list.size();
  size_t index = 0;
  auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  bool number = error == std::errc() && end == step.data() + step.size() && (step[0] != '0' || step.size() == 1);
  if (number && index <= list.size()) return index;
  return Invalid(fmt::format("a list of {} has no place \"{}\"", list.size(), step));
}

// Carries out one operation. Copies can double an object with each, and nest it as fast: what they cost is charged
// before they are made.
class Patcher {
 public:
  // All of them must outlive it.
  Patcher(Json& target, const Operation& operation, PatchBudget& budget)
      : target_(target), o_(operation), budget_(budget) {}

  // Throws where a path leads to nothing.
  Status Run() {
    if (o_.op == "test") return Test();
    if (o_.op == "replace") return Replace();
    if (o_.op == "remove") return Remove();
    if (o_.op == "move") return Move();
    const Json& value = o_.op == "copy" ? target_.at(o_.from_steps) : *o_.value;
    TRY(budget_.Add(MemoryOf(value)));
    return Put(value);
  }

 private:
  Status Test() {
    if (target_.at(o_.path_steps) == *o_.value) return Ok();
    return Invalid("it has another value");
  }

  Status Replace() {
    TRY(budget_.Add(MemoryOf(*o_.value)));
    TRY(CheckDepth(*o_.value));
    target_.at(o_.path_steps) = *o_.value;
    return Ok();
  }

  Status Remove() {
    TRY(Take(o_.path_steps));
    return Ok();
  }

  // What moves is in the object already.
  Status Move() { return Put(TRY(Take(o_.from_steps))); }

  Result<Json> Take(const Pointer& path) {
    Json& parent = *TRY(ParentOf(path));
    Json& place = parent.at(Pointer() / path.back());
    if (parent.is_object()) {
      Json out = std::move(place);
      parent.erase(path.back());
      return out;
    }
    auto& items = parent.get_ref<Json::array_t&>();
    const auto at = items.begin() + (&place - items.data());
    Json out = std::move(*at);
    items.erase(at);
    return out;
  }

  Status Put(Json value) {
    TRY(budget_.Work(2 * MemoryOf(value)));
    TRY(CheckDepth(value));
    Json& parent = *TRY(ParentOf(o_.path_steps));
    if (!parent.is_array()) {
      TRY(budget_.Add(kJsonValueSize + o_.path_steps.back().size()));  // the name that it may get
      parent[o_.path_steps.back()] = std::move(value);
      return Ok();
    }
    auto index = static_cast<std::ptrdiff_t>(TRY(IndexIn(parent, o_.path_steps.back())));
    auto& items = parent.get_ref<Json::array_t&>();  // the library's insert() copies
    items.insert(items.begin() + index, std::move(value));
    return Ok();
  }

  // The map or list that a path goes into, or null, which becomes a map; reading has refused the whole object here.
  // Charges for the items of a list: adding one moves all behind it, and so does taking one out.
  Result<Json*> ParentOf(const Pointer& path) {
    Json& parent = target_.at(path.parent_pointer());
    if (!parent.is_structured() && !parent.is_null()) {
      const std::string_view text = &path == &o_.from_steps ? o_.from : o_.path;
      return Invalid(
          fmt::format("the parent of {} is neither a map nor a list", Shorten(std::string(text), kShownPath)));
    }
    if (parent.is_array()) TRY(budget_.Work(sizeof(Json) * parent.size()));
    return &parent;
  }

  Status CheckDepth(const Json& value) {
    auto above = static_cast<size_t>(std::count(o_.path.begin(), o_.path.end(), '/'));
    if (above + DepthOf(value) <= api::kMaxPatchDepth) return Ok();
    return Invalid(fmt::format("nested deeper than {}", api::kMaxPatchDepth));
  }

  Json& target_;
  const Operation& o_;
  PatchBudget& budget_;
};

Status CarryOut(Json& target, const Json& json, PatchBudget& budget) {
  try {
    TRY(budget.Work(kOperation + 2 * MemoryOf(json)));
    const Operation operation = TRY(Read(json, budget));
    return Patcher(target, operation, budget).Run();
  } catch (const Json::exception& e) {
    std::string_view what = e.what();
    if (auto end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    return Invalid(Shorten(std::string(what), kShownPath));
  }
}

// "operation 3 (remove /metadata/labels/x)"
std::string Describe(size_t index, const Json& json) {
  std::string op = Shorten(GetString(json, {"op"}), kShownOp), path = Shorten(GetString(json, {"path"}), kShownPath);
  return fmt::format("operation {} ({})", index, Trim(op + " " + path));
}

}  // namespace

Status JsonPatch(Json& target, const Json& operations, PatchBudget& budget) {
  for (size_t i = 0; i < operations.size(); ++i) {
    TRY_WITH(CarryOut(target, operations[i], budget), Describe(i, operations[i]));
  }
  return Ok();
}

}  // namespace capi::templating
