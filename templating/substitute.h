// First step: the values of variables go into the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templating/envsubst/template.h"
#include "templating/render.h"
#include "templating/source.h"

namespace capi::templating {

struct Substituted {
  std::string_view text;  // the source's own text where nothing had to be replaced, else `output`
  std::string output;
  std::vector<OutputSegment> segments;  // empty where `text` is the source's
  std::vector<std::string> variables;   // all names in the template, sorted

  Substituted() = default;
  Substituted(const Substituted&) = delete;  // `text` may be a view of `output`
  Substituted& operator=(const Substituted&) = delete;
};

// Fills `out`. Without `substitute` the template is only parsed and its variables are listed, as clusterctl does.
// All missing variables are named at once. `source` must outlive `out`. `max_output`: bytes of the text, at most.
std::optional<RenderError> Substitute(const Source& source, const Variables& variables, bool substitute,
                                      Substituted& out, size_t max_output = RenderLimits().text);

}  // namespace capi::templating
