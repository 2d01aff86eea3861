// Ages and messages as the cells of a tree have them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cli/frame/printable.h"

namespace capi::cli::describe {

// How long ago, in one or two units, as kubectl writes it: "45s", "3m20s", "5d3h"; "<unknown>" for no time, "<invalid>"
// for one that is to come.
std::string Age(const std::optional<WallTime>& since, WallTime now);

// The lines of a message, none longer than `width` bytes unless a word is. Line breaks and indents are kept, and what
// belongs to a bullet ("* ...") is indented like it. At least one line.
std::vector<std::string> WrapMessage(std::string_view text, size_t width);

}  // namespace capi::cli::describe
