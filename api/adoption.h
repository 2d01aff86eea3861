// Names that matter when a provider is taken over from another tool (behaviour.md A1b, A2).
#pragma once

#include <string_view>

namespace capi::api {

// Ours: the user allows what differs from the release to be overwritten.
inline constexpr std::string_view kAnnotationOverwriteDifferences = "operator.cluster.x-k8s.io/overwrite-differences";
// The peer operator's, on each Provider object that it has installed.
inline constexpr std::string_view kAnnotationAppliedSpecHash = "operator.cluster.x-k8s.io/applied-spec-hash";

}  // namespace capi::api
