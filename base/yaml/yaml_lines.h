// Lines of YAML, which all of its errors and places are told by. They end where libyaml says so: at CR LF, LF, CR, NEL,
// U+2028 and U+2029. A stream's end at CR CR LF, too: as Go's line reader does, ParseYamlStream takes away the CR in
// front of each LF before libyaml sees it.
#pragma once

#include <cstddef>
#include <string_view>

namespace capi {

// Of a text that libyaml reads as it is.
size_t CountYamlBreaks(std::string_view text);

// Of a stream.
size_t CountYamlStreamBreaks(std::string_view stream);

// Where the 1-based line of a stream begins; the last one where there are fewer.
size_t OffsetOfYamlStreamLine(std::string_view stream, size_t line);

}  // namespace capi
