#include "fetch/oci/answers.h"

#include <algorithm>
#include <optional>

#include "base/json_filter.h"
#include "fetch/json_list.h"

namespace capi::fetch {
namespace {

constexpr size_t kLongestCode = 40;

bool IsCode(std::string_view text) {
  return text.size() <= kLongestCode &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

}  // namespace

Status ReadTags(std::string_view page, const std::function<void(const std::string& tag)>& visit) {
  const ListShape shape{.member = "tags", .names = {}};
  const Listed found = TRY(ReadList(page, shape, [&](const Json& tag) {
    if (tag.is_string()) visit(tag.get_ref<const std::string&>());
  }));
  // One without tags is null.
  if (found == Listed::kList || found == Listed::kNull) return Ok();
  return Error{Code::kInvalidArgument, "the answer is no list of tags", {}};
}

std::string ErrorCodeIn(std::string_view body) {
  std::optional<std::string> code;
  const ListShape shape{.member = "errors", .names = {"code"}};
  auto found = ReadList(body, shape, [&](const Json& error) {
    if (!code) code = GetString(error, {"code"});
  });
  return found.ok() && code && IsCode(*code) ? *code : "";
}

std::string TokenIn(std::string_view body) {
  using Event = Json::parse_event_t;
  auto answer = ParseJson(body, [](int depth, Event event, Json& value) {
    if (event == Event::key) return depth == 1 && (value == "token" || value == "access_token");
    if (event == Event::array_start) return false;
    return event == Event::value ? depth <= 1 : depth == 0;
  });
  if (!answer.ok()) return "";
  std::string token = GetString(*answer, {"token"});
  return token.empty() ? GetString(*answer, {"access_token"}) : token;
}

}  // namespace capi::fetch
