#include "fetch/gitlab_lists.h"

#include <utility>
#include <vector>

#include "fetch/json_list.h"

namespace capi::fetch {
namespace {

Status ReadEntries(std::string_view list, std::vector<std::string_view> names,
                   const std::function<void(const Json&)>& visit) {
  const ListShape shape{.member = "", .names = std::move(names)};
  if (TRY(ReadList(list, shape, visit)) == Listed::kList) return Ok();
  return Error{Code::kInvalidArgument, "the answer is no list", {}};
}

}  // namespace

Status ReadPackages(std::string_view list, const std::function<void(ListedPackage)>& visit) {
  return ReadEntries(list, {"id", "name", "version", "status"}, [&](const Json& entry) {
    visit({GetInt(entry, {"id"}), GetString(entry, {"name"}), GetString(entry, {"version"}),
           GetString(entry, {"status"})});
  });
}

Status ReadFiles(std::string_view list, const std::function<void(ListedFile)>& visit) {
  return ReadEntries(list, {"id", "file_name", "file_sha256"}, [&](const Json& entry) {
    visit({GetInt(entry, {"id"}), GetString(entry, {"file_name"}), GetString(entry, {"file_sha256"})});
  });
}

}  // namespace capi::fetch
