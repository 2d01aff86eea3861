#include "cli/describe/condition_filter.h"

#include <fmt/format.h>

#include "api/text.h"
#include "base/strings.h"

namespace capi::cli::describe {

Result<ConditionFilter> ConditionFilter::Parse(std::string_view text) {
  auto refuse = [&](std::string_view why) {
    return Error{
        Code::kInvalidArgument, fmt::format("invalid --show-conditions value {}: {}", api::GoQuote(text), why), {}};
  };
  if (text.find_first_of(" \t\n\v\f\r") != text.npos) return refuse("whitespace is not allowed");
  ConditionFilter out;
  for (const std::string& word : Split(text, ',')) {
    if (word.empty()) continue;
    Part part;
    std::string lower = ToLower(word);
    if (lower.ends_with('+')) {
      lower.pop_back();
      part.shown = ShowConditions::kNotable;
    }
    size_t slash = lower.find('/');
    part.kind = lower.substr(0, slash);
    part.named = slash != lower.npos;
    if (part.named) part.name = lower.substr(slash + 1);
    if (part.kind.empty() || (part.named && part.name.empty()) || part.name.find('/') != part.name.npos)
      return refuse(fmt::format("{} is not all, KIND or KIND/NAME", api::GoQuote(word)));
    if (part.kind == "all" && !part.named) part.kind.clear();
    out.parts_.push_back(std::move(part));
  }
  return out;
}

ShowConditions ConditionFilter::For(std::string_view kind, std::string_view name) const {
  std::string lower_kind = ToLower(kind), lower_name = ToLower(name);
  for (const Part& part : parts_) {
    if ((part.kind.empty() || part.kind == lower_kind) && (!part.named || part.name == lower_name)) return part.shown;
  }
  return ShowConditions::kNone;
}

}  // namespace capi::cli::describe
