#include "cli/frame/provider_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr size_t kMostCharacters = 63;
constexpr std::string_view kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

Error Invalid(std::string_view text, std::string_view why) {
  return Error{Code::kInvalidArgument,
               fmt::format("invalid provider name {}. Provider name should be in the form name[:version]{}",
                           api::GoQuote(text), why),
               {}};
}

// Why a name is no DNS label; "" where it is one.
std::string WhyNoLabel(const std::string& name) {
  if (IsDns1123Label(name)) return "";
  if (name.size() > kMostCharacters) return fmt::format("must be no more than {} characters", kMostCharacters);
  return std::string(IsDns1123Subdomain(name) ? "must not contain dots" : kLabel);
}

}  // namespace

Result<ProviderName> ProviderName::Parse(std::string_view text) {
  if (std::count(text.begin(), text.end(), ':') > 1) return Invalid(text, "");
  size_t colon = text.find(':');
  ProviderName out{ToLower(text.substr(0, colon)), ""};
  if (out.name.empty()) return Invalid(text, " and name cannot be empty");
  std::string why = WhyNoLabel(out.name);
  if (!why.empty()) return Invalid(text, fmt::format(" and the name should be valid: {}", why));
  if (colon == text.npos) return out;
  out.version = text.substr(colon + 1);
  if (out.version.empty()) return Invalid(text, " and version cannot be empty");
  return out;
}

}  // namespace capi::cli
