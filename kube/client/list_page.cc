#include "kube/client/list_page.h"

#include <optional>

#include "base/json_filter.h"

namespace capi::kube {
namespace {

using Event = Json::parse_event_t;

// How deep things are: the list is 0, its members 1, an item 2, the item's members 3.
constexpr int kMember = 1, kItem = 2, kItemMember = 3, kInMetadata = 4;

// Asked by the parser for each value. Thread-compatible.
class Reader {
 public:
  Reader(bool managed_fields, const std::function<Result<bool>(Json)>& on_item)
      : managed_fields_(managed_fields), on_item_(on_item) {}

  // What is in a member that isn't kept the parser doesn't keep either.
  bool Keep(int depth, Event event, Json& value) {
    if (event == Event::key) return KeepMember(depth, value.get_ref<const std::string&>());
    if (event == Event::array_start && depth == kMember && at_items_) Begin();
    if (in_items_ && depth == kItem) return KeepItem(event, value);
    if (in_items_ && depth > kItem && event != Event::object_end && event != Event::array_end) return !Passes();
    return true;
  }

  const std::optional<Error>& error() const { return error_; }
  bool stopped() const { return stopped_; }

 private:
  bool Passes() const { return passes_ || stopped_ || error_; }

  void Begin() {
    if (begun_ && !error_) error_ = Error{Code::kInternal, "a list that has its items twice", {}};
    begun_ = in_items_ = true;
  }

  bool KeepMember(int depth, std::string_view name) {
    if (depth == kMember) {
      at_items_ = name == "items";
      in_items_ = false;
      return at_items_ || name == "metadata";
    }
    if (!in_items_) return true;
    if (depth == kItemMember) in_metadata_ = name == "metadata";
    if (depth <= kInMetadata) {
      passes_ = !managed_fields_ && depth == kInMetadata && in_metadata_ && name == "managedFields";
    }
    return !Passes();
  }

  bool KeepItem(Event event, Json& value) {
    if (stopped_ || error_) return false;
    switch (event) {
      case Event::object_start: passes_ = false; return true;
      case Event::object_end: Tell(std::move(value)); return false;
      case Event::array_start:
      case Event::value: error_ = Error{Code::kInternal, "a list holds what is no object", {}}; return false;
      default: return true;
    }
  }

  void Tell(Json item) {
    Result<bool> more = on_item_(std::move(item));
    if (!more.ok()) {
      error_ = more.error();
    } else {
      stopped_ = !*more;
    }
  }

  const bool managed_fields_;
  const std::function<Result<bool>(Json)>& on_item_;
  bool at_items_ = false, in_items_ = false, begun_ = false;
  bool in_metadata_ = false;  // of an item
  bool passes_ = false;       // what comes is in a member that isn't kept
  bool stopped_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<PageEnd> ReadPage(std::string_view text, bool managed_fields, const std::function<Result<bool>(Json)>& on_item) {
  Reader reader(managed_fields, on_item);
  const auto left =
      ParseJson(text, [&](int depth, Event event, Json& value) { return reader.Keep(depth, event, value); });
  if (reader.error()) return *reader.error();
  if (!left.ok()) return left.error();
  const Json* items = Find(*left, {"items"});
  if (items == nullptr || !(items->is_array() || items->is_null())) {
    return Error{Code::kInternal, "a list without items", {}};
  }
  return PageEnd{GetString(*left, {"metadata", "resourceVersion"}), GetString(*left, {"metadata", "continue"}),
                 reader.stopped()};
}

}  // namespace capi::kube
