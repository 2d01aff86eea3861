// Lines of a YAML stream. They end where libyaml, whose lines all of YAML's errors and places are, says so: at CR LF,
// LF, CR, NEL, U+2028 and U+2029; and at CR CR LF, as Go's line reader takes away the CR in front of an LF first.
#pragma once

#include <cstddef>
#include <string_view>

namespace capi {

size_t CountYamlBreaks(std::string_view text);

// Where the 1-based line begins; the last one where there are fewer.
size_t OffsetOfYamlLine(std::string_view text, size_t line);

}  // namespace capi
