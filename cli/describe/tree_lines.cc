#include "cli/describe/tree_lines.h"

#include <string_view>

#include "base/strings.h"

namespace capi::cli::describe {
namespace {

constexpr std::string_view kBranch = "├─", kLastBranch = "└─", kPipe = "│ ", kNothing = "  ";
constexpr size_t kConditionIndent = 10;

// The same lines, one row further down.
std::string GoOn(const std::string& prefix) {
  return ReplaceAll(ReplaceAll(prefix, kBranch, kPipe), kLastBranch, kNothing);
}

}  // namespace

std::string ChildPrefix(const std::string& prefix, bool last) {
  return GoOn(prefix) + std::string(last ? kLastBranch : kBranch);
}

std::string FurtherPrefix(const std::string& prefix, bool has_children) {
  std::string out = GoOn(prefix) + std::string(has_children ? kPipe : std::string_view());
  return Trim(out).empty() ? "" : out;
}

std::string ConditionPrefix(const std::string& prefix, bool has_children, bool last) {
  std::string below = prefix + std::string(has_children ? kPipe : kNothing) + std::string(kConditionIndent, ' ');
  return ChildPrefix(below, last);
}

std::string FurtherConditionPrefix(const std::string& prefix) {
  std::string out = prefix;
  bool last = out.ends_with(kLastBranch);
  out.resize(out.size() - kBranch.size());
  return last ? out : out + std::string(kPipe);
}

}  // namespace capi::cli::describe
