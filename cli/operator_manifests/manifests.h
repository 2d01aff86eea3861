// The objects that install the operator, as `tools/manifests default` prints them, made by the program itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/meta/object.h"
#include "templating/customise/images.h"

namespace capi::cli {

// The name of the operator's Deployment, and the label that all of its objects have but its kinds.
inline constexpr std::string_view kOperatorDeployment = "capi-operator-controller-manager";
inline constexpr std::string_view kOperatorSelector = "app.kubernetes.io/name=capi-operator";

// The operator's image. `given` (a flag, or a setting) is taken as it is; else the one of the manifests with what the
// keys "all", "capi-operator" and "capi-operator/capi-operator" of `overrides` replace. kInvalidArgument for what is no
// reference, or names neither tag nor digest.
Result<std::string> OperatorImage(const std::string& given, const templating::ImageOverrides& overrides);

// Whether a registry is named: that of the manifests names none, and can't be pulled.
bool NamesRegistry(std::string_view image);

// Whether an object of the operator is one of those that are applied after all others.
bool IsLast(const kube::Object& object);

// All objects of the operator, its kinds among them. Beside what the manifests say, each but the kinds has the label
// app.kubernetes.io/managed-by=clusterctl, by which an upgrade finds what this version no longer has, and the
// Deployment and the webhook configurations, which come last, the version of this program.
Result<std::vector<kube::Object>> OperatorObjects(const std::string& image);

}  // namespace capi::cli
