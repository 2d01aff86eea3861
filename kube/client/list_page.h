// One page of a list, object by object: its text and one object are in memory, however many it has.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace capi::kube {

struct PageEnd {
  std::string resource_version;
  std::string next;      // the token of the next page; "" for none
  bool stopped = false;  // by `on_item`
};

// Tells `on_item` each of the items in their order, as it comes to it: false, or an error, ends that; an error is then
// the answer. `managed_fields`: whether the items have theirs, which are often most of an object. kInternal for what is
// no list; what came before the fault has been told.
Result<PageEnd> ReadPage(std::string_view text, bool managed_fields, const std::function<Result<bool>(Json)>& on_item);

}  // namespace capi::kube
