#include "base/json.h"

#include <fmt/core.h>

#include "base/json_filter.h"

namespace capi {
namespace {

constexpr int kMaxDepth = 1000;

// Counts nesting outside of strings, before the recursive parser sees the text.
bool TooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

template <typename J>
J* FindIn(J& value, JsonPath path) {
  J* at = &value;
  for (std::string_view key : path) {
    if (!at->is_object()) return nullptr;
    auto it = at->find(std::string(key));
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

}  // namespace

Result<Json> ParseJson(std::string_view text) { return ParseJson(text, nullptr); }

Result<Json> ParseJson(std::string_view text, const Json::parser_callback_t& keep) {
  if (TooDeep(text)) return Error{Code::kInvalidArgument, fmt::format("nested deeper than {}", kMaxDepth), {}};
  try {
    return Json::parse(text.begin(), text.end(), keep);
  } catch (const Json::parse_error& e) {
    std::string_view what = e.what();
    if (auto colon = what.find("] "); colon != what.npos) what.remove_prefix(colon + 2);
    what = what.substr(0, what.find("; last read"));  // that would quote the input, which may be secret
    return Error{Code::kInvalidArgument, fmt::format("not JSON: {}", what), {}};
  } catch (const std::exception& e) {
    return Error{Code::kInvalidArgument, fmt::format("not JSON: {}", e.what()), {}};
  }
}

std::string ToJsonText(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

const Json* Find(const Json& value, JsonPath path) { return FindIn(value, path); }
Json* Find(Json& value, JsonPath path) { return FindIn(value, path); }

std::string GetString(const Json& value, JsonPath path, std::string_view fallback) {
  const Json* found = Find(value, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string(fallback);
}

bool GetBool(const Json& value, JsonPath path, bool fallback) {
  const Json* found = Find(value, path);
  return found != nullptr && found->is_boolean() ? found->get<bool>() : fallback;
}

std::int64_t GetInt(const Json& value, JsonPath path, std::int64_t fallback) {
  const Json* found = Find(value, path);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

Json& Ensure(Json& value, JsonPath path) {
  Json* at = &value;
  for (std::string_view key : path) {
    if (!at->is_object()) *at = Json::object();
    at = &(*at)[std::string(key)];
  }
  return *at;
}

}  // namespace capi
