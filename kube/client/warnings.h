// Warnings that an API server sends beside an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/http/client.h"

namespace capi::kube {

// The texts of the answer's Warning headers (`299 - "text"`), each once, in their order. What isn't valid is left out.
// Of one over 1 KiB its size is told: half of it could hold half of a secret's value, which nobody would find in it
// (I7).
std::vector<std::string> WarningsOf(const http::Headers& headers);

// A warning of a field that the server doesn't know and has dropped, or that was there twice: `unknown field "spec.a"`,
// and nothing else beside it.
bool IsFieldWarning(std::string_view warning);

}  // namespace capi::kube
