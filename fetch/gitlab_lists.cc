#include "fetch/gitlab_lists.h"

#include <algorithm>
#include <initializer_list>

#include "base/json_filter.h"

namespace capi::fetch {
namespace {

using Event = Json::parse_event_t;

// How deep an entry of the list is. Its members are one deeper.
constexpr int kEntry = 1;

// Gives each entry to `visit`, with the texts and numbers of it that `names` has, and drops it from the tree.
Status ReadList(std::string_view list, std::initializer_list<std::string_view> names,
                const std::function<void(const Json&)>& visit) {
  auto keep = [&](int depth, Event event, Json& value) {
    switch (event) {
      case Event::array_start: return depth == kEntry - 1;
      case Event::object_start: return depth == kEntry;
      case Event::key:
        return depth - 1 == kEntry &&
               std::find(names.begin(), names.end(), value.get_ref<const std::string&>()) != names.end();
      case Event::value: return depth - 1 == kEntry;
      case Event::object_end: return visit(value), false;
      case Event::array_end: break;
    }
    return true;
  };
  Json left = TRY(ParseJson(list, keep));
  if (left.is_array()) return Ok();
  return Error{Code::kInvalidArgument, "the answer is no list", {}};
}

}  // namespace

Status ReadPackages(std::string_view list, const std::function<void(ListedPackage)>& visit) {
  return ReadList(list, {"id", "name", "version", "status"}, [&](const Json& entry) {
    visit({GetInt(entry, {"id"}), GetString(entry, {"name"}), GetString(entry, {"version"}),
           GetString(entry, {"status"})});
  });
}

Status ReadFiles(std::string_view list, const std::function<void(ListedFile)>& visit) {
  return ReadList(list, {"id", "file_name", "file_sha256"}, [&](const Json& entry) {
    visit({GetInt(entry, {"id"}), GetString(entry, {"file_name"}), GetString(entry, {"file_sha256"})});
  });
}

}  // namespace capi::fetch
