#include "cli/describe/contract_version.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/strings.h"

namespace capi::cli::describe {
namespace {

constexpr const char* kContracts[] = {"v1beta2", "v1beta1"};

// Takes a number from the front; -1 for none.
int TakeNumber(std::string_view& text) {
  int out = -1;
  auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return read.ec == std::errc() ? out : -1;
}

// The order of Kubernetes: v2 is after v1, which is after v1beta2, which is after v1alpha3; what isn't named so is
// first.
std::tuple<int, int, int> Rank(std::string_view version) {
  constexpr std::tuple kOther{0, 0, 0};
  if (!version.starts_with('v')) return kOther;
  version.remove_prefix(1);
  int major = TakeNumber(version);
  if (major < 0) return kOther;
  if (version.empty()) return {3, major, 0};
  bool beta = version.starts_with("beta");
  if (!beta && !version.starts_with("alpha")) return kOther;
  version.remove_prefix(beta ? 4 : 5);
  int minor = TakeNumber(version);
  if (minor < 0 || !version.empty()) return kOther;
  return {beta ? 2 : 1, major, minor};
}

}  // namespace

std::optional<ContractVersion> ContractVersionOf(const kube::Object& crd) {
  for (const char* contract : kContracts) {
    std::vector<std::string> versions = Split(crd.label(std::string("cluster.x-k8s.io/") + contract), '_');
    if (versions.empty()) continue;
    auto latest = std::max_element(versions.begin(), versions.end(),
                                   [](const auto& a, const auto& b) { return Rank(a) < Rank(b); });
    return ContractVersion{contract, *latest};
  }
  return std::nullopt;
}

}  // namespace capi::cli::describe
