#include "fetch/json_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/json_filter.h"

namespace capi::fetch {
namespace {

using Event = Json::parse_event_t;

// Asked by the parser for each value. Thread-compatible.
class Reader {
 public:
  Reader(const ListShape& shape, const std::function<void(const Json&)>& visit)
      : shape_(shape), visit_(visit), list_(shape.member.empty() ? 0 : 1), at_list_(list_ == 0) {}

  // What is in a member that isn't kept the parser doesn't keep either.
  bool Keep(int depth, Event event, const Json& value) {
    switch (event) {
      case Event::array_start: return depth == list_ && at_list_;
      case Event::object_start: return depth == 0 || IsOfEntry(depth);
      case Event::key: return KeepMember(depth - 1, value.get_ref<const std::string&>());
      case Event::value: return depth == list_ || KeepValue(depth, value);
      case Event::object_end:
        if (depth == entry()) visit_(value);
        return depth != entry();
      case Event::array_end: break;
    }
    return true;
  }

  int lists() const { return lists_; }

 private:
  int entry() const { return list_ + 1; }
  bool IsOfEntry(int depth) const {
    return !shape_.names.empty() && (depth == entry() || (shape_.within && depth == entry() + 1));
  }

  bool KeepMember(int of, std::string_view name) {
    if (of < list_) {
      at_list_ = name == shape_.member;
      lists_ += at_list_ ? 1 : 0;
      return at_list_;
    }
    return IsOfEntry(of) && std::find(shape_.names.begin(), shape_.names.end(), name) != shape_.names.end();
  }

  bool KeepValue(int depth, const Json& value) {
    if (depth == entry() && shape_.names.empty()) visit_(value);
    return IsOfEntry(depth - 1);
  }

  const ListShape& shape_;
  const std::function<void(const Json&)>& visit_;
  const int list_;  // how deep the list is; its entries are one deeper
  bool at_list_;    // of the answer's members, this is it
  int lists_ = 0;   // members of its name
};

}  // namespace

Result<Listed> ReadList(std::string_view text, const ListShape& shape, const std::function<void(const Json&)>& visit) {
  Reader reader(shape, visit);
  const Json left =
      TRY(ParseJson(text, [&](int depth, Event event, Json& value) { return reader.Keep(depth, event, value); }));
  if (reader.lists() > 1)
    return Error{Code::kInvalidArgument, fmt::format("the answer has \"{}\" twice", shape.member), {}};
  const Json* list = shape.member.empty() ? &left : Find(left, {shape.member});
  if (list == nullptr) return reader.lists() == 0 ? Listed::kNothing : Listed::kOther;
  if (list->is_array()) return Listed::kList;
  return list->is_null() ? Listed::kNull : Listed::kOther;
}

}  // namespace capi::fetch
