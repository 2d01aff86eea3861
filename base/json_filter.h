// JSON of which little is needed, read without the memory that all of it would take.
#pragma once

#include "base/json.h"

namespace capi {

// ParseJson that keeps only what `keep` says: the parser asks it for each value as it comes to it (nlohmann's
// parser_callback_t).
Result<Json> ParseJson(std::string_view text, const Json::parser_callback_t& keep);

}  // namespace capi
