// Labels by which the operator's own objects are told apart. Used inside this folder.
#pragma once

#include <string_view>

namespace capi::cli {

inline constexpr std::string_view kLabelManagedByTool = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kLabelVersion = "app.kubernetes.io/version";
inline constexpr std::string_view kThisTool = "clusterctl";

}  // namespace capi::cli
