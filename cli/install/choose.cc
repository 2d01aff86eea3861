#include "cli/install/choose.h"

namespace capi::cli {
namespace {

constexpr std::string_view kNone = "-";

// "" for a type without a default.
std::string DefaultOf(api::ProviderType type) {
  if (type == api::ProviderType::kCore) return "cluster-api";
  bool kubeadm = type == api::ProviderType::kBootstrap || type == api::ProviderType::kControlPlane;
  return kubeadm ? "kubeadm" : "";
}

}  // namespace

Result<std::vector<ProviderChoice>> ChooseProviders(const ProviderFlags& flags, bool first_time,
                                                    const BegunVersions& begun) {
  std::vector<ProviderChoice> out;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    auto found = flags.find(kind.type);
    std::vector<std::string> names = found == flags.end() ? std::vector<std::string>() : found->second;
    std::erase(names, "");
    std::string standard = DefaultOf(kind.type);
    if (names.empty() && first_time && !standard.empty()) names.push_back(standard);
    for (const std::string& text : names) {
      if (text == kNone && kind.type == api::ProviderType::kCore)
        return Error{Code::kInvalidArgument, "the '-' value can not be used for the core provider", {}};
      if (text == kNone) continue;
      ProviderName name = TRY(ProviderName::Parse(text));
      auto version = begun.find({kind.type, name.name});
      if (name.version.empty() && version != begun.end()) name.version = version->second;
      out.push_back({kind.type, std::move(name)});
    }
  }
  return out;
}

}  // namespace capi::cli
