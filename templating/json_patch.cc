#include "templating/json_patch.h"

namespace capi::templating {

Status JsonPatch(Json& target, const Json& operations) {
  try {
    target = target.patch(operations);
    return Ok();
  } catch (const Json::exception& e) {
    std::string_view what = e.what();
    if (auto end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    return Error{Code::kInvalidArgument, std::string(what), {}};
  }
}

}  // namespace capi::templating
