// Glob patterns: of the trim forms ${N#g} and ${N%g}, and of names.
//
// '*' is any run of bytes ('/' too), '?' one character, [a-z] [^x] classes, '\' quotes. A malformed pattern matches
// nothing.
#pragma once

#include <string>
#include <string_view>

namespace capi::templating {

// The whole text. O(text * pattern).
bool GlobMatches(std::string_view text, std::string_view pattern);

enum class TrimLength { kShortest, kLongest };

// `text` without its shortest or longest non-empty prefix that `pattern` matches. O(text * pattern).
std::string TrimPrefix(std::string_view text, std::string_view pattern, TrimLength length);

// The same from the end, as the dialect does it: both are reversed character by character, so that classes and escapes
// in the pattern come out backwards too.
std::string TrimSuffix(std::string_view text, std::string_view pattern, TrimLength length);

}  // namespace capi::templating
