// Small text helpers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace capi {

std::vector<std::string> Split(std::string_view text, char separator);  // "a,,b" gives 3; "" gives none
std::string Join(std::span<const std::string> parts, std::string_view separator);
// The first `most` names and how many more: "a, b, c and 4 more". "" for none.
std::string JoinNames(std::span<const std::string> names, size_t most);
// `text`, or as many whole characters of it as fit into `most` bytes, and "...".
std::string Shorten(std::string_view text, size_t most);
std::string_view Trim(std::string_view text);  // ASCII white space at both ends
std::string ToLower(std::string_view text);    // ASCII
std::string ToUpper(std::string_view text);    // ASCII
std::string ReplaceAll(std::string text, std::string_view from, std::string_view to);
bool IsDns1123Label(std::string_view text);      // "my-name", up to 63 characters
bool IsDns1123Subdomain(std::string_view text);  // "my.name", up to 253 characters
bool IsValidUtf8(std::string_view text);

}  // namespace capi
