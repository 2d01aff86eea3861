#include "cli/upgrade/upgrade_reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/strings.h"
#include "cli/frame/provider_name.h"
#include "cli/upgrade/upgrade_info.h"

namespace capi::cli {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message), {}}; }

std::string BadForm(std::string_view text) {
  return fmt::format(
      "invalid provider name {}. Provider name should be in the form namespace/provider:version or provider:version",
      api::GoQuote(text));
}

}  // namespace

Result<UpgradeReference> UpgradeReference::Parse(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == text.npos) {
    if (text.find(':') == text.npos) return Invalid(BadForm(text));
    ProviderName name = TRY_WITH(ProviderName::Parse(text), BadForm(text));
    return UpgradeReference{"", std::move(name.name), std::move(name.version)};
  }
  std::string lower = ToLower(text);
  std::string ns = lower.substr(0, slash), rest = lower.substr(slash + 1);
  if (ns.empty() || rest.find('/') != rest.npos) return Invalid(BadForm(text));
  ProviderName name = TRY_WITH(ProviderName::Parse(rest), BadForm(text));
  return UpgradeReference{std::move(ns), std::move(name.name), std::move(name.version)};
}

Result<size_t> FindInstalled(std::span<const InstalledProvider> installed, api::ProviderType type,
                             const UpgradeReference& reference, std::string_view text) {
  if (reference.version.empty()) {
    return Invalid(
        fmt::format("invalid provider name {}. Provider name should be in the form namespace/name:version and version "
                    "cannot be empty",
                    api::GoQuote(text)));
  }
  std::vector<size_t> found;
  for (size_t i = 0; i < installed.size(); ++i) {
    const InstalledProvider& one = installed[i];
    bool there = reference.ns.empty() || one.ns == reference.ns;
    if (one.type == type && one.name == reference.name && there) found.push_back(i);
  }
  if (found.size() == 1) return found[0];
  if (reference.ns.empty()) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("unable to find default namespace for provider {} (it is installed {} times)",
                             api::GoQuote(text), found.size()),
                 {}};
  }
  InstalledProvider wanted{type, reference.name, reference.ns, reference.version};
  return Error{Code::kFailedPrecondition,
               fmt::format("unable to perform upgrade: the provider {} in not part of the management cluster",
                           InstanceName(wanted)),
               {}};
}

}  // namespace capi::cli
