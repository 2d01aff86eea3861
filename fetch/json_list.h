// Lists in a server's answer: each entry is read and dropped, however many there are (F2).
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace capi::fetch {

// Which list, and what is kept of an entry while it is read. A value.
struct ListShape {
  std::string_view member;              // of the answer that is the list; "" where the answer itself is
  std::vector<std::string_view> names;  // members of an entry; none where texts or numbers are the entries
  bool within = false;                  // also those of its members that are objects
};

// What is in the list's place.
enum class Listed { kNothing, kNull, kList, kOther };

// Gives each entry to `visit`, with those texts, numbers and objects of it that `shape` names. kInvalidArgument for
// what is no JSON, or has the list twice; some may have been visited by then.
Result<Listed> ReadList(std::string_view text, const ListShape& shape, const std::function<void(const Json&)>& visit);

}  // namespace capi::fetch
