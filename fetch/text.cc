#include "fetch/text.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace capi::fetch {
namespace {

bool SaysNothing(std::string_view text) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = Trim(text.substr(0, end));
    if (!line.empty() && line.front() != '#' && line != "---" && line != "...") return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

bool LooksLikeHtml(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string head = ToLower(Trim(text.substr(0, 512)));
  return head.starts_with("<!doctype html") || head.starts_with("<html") || head.starts_with("<head");
}

Status CheckText(std::string_view text, std::string_view what) {
  std::string problem;
  if (LooksLikeHtml(text)) {
    problem = "the server answered with HTML (a login or error page?)";
  } else if (!IsValidUtf8(text)) {
    problem = "it is not valid UTF-8";
  } else if (SaysNothing(text)) {
    problem = "it is empty";
  } else {
    return Ok();
  }
  return Error{Code::kInvalidArgument, fmt::format("{} can't be used: {}", what, problem), {}};
}

}  // namespace capi::fetch
