#include "templating/customise/deployment.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/kinds.h"
#include "api/text.h"
#include "templating/customise/args.h"
#include "templating/customise/image_reference.h"

namespace capi::templating {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

void Replace(Json& into, std::string_view key, const std::optional<Json>& value) {
  if (!value) return;
  if (value->empty()) {
    into.erase(std::string(key));
  } else {
    into[std::string(key)] = *value;
  }
}

Json* ContainerNamed(Json& pod, std::string_view list, std::string_view name) {
  Json* containers = Find(pod, {list});
  if (containers == nullptr || !containers->is_array()) return nullptr;
  auto found = std::find_if(containers->begin(), containers->end(),
                            [&](const Json& container) { return GetString(container, {"name"}) == name; });
  return found == containers->end() ? nullptr : &*found;
}

// Variables of the same name go, then the new ones are appended.
void SetEnv(Json& container, const Json& env) {
  Json out = Json::array();
  if (const Json* old = Find(container, {"env"}); old != nullptr && old->is_array()) {
    for (const Json& entry : *old) {
      std::string name = GetString(entry, {"name"});
      bool replaced =
          std::any_of(env.begin(), env.end(), [&](const Json& e) { return GetString(e, {"name"}) == name; });
      if (!replaced) out.push_back(entry);
    }
  }
  for (const Json& entry : env) out.push_back(entry);
  container["env"] = std::move(out);
}

// The release's image with the given parts in place of its own. A digest says which image it is whatever the name says:
// it stays where the repository changes, as a mirror has the same image, and goes where name or tag do.
Status ReplaceParts(Json& container, const api::ImageParts& parts, std::string_view path) {
  if (parts.repository.empty() && parts.name.empty() && parts.tag.empty()) return Ok();
  auto image =
      TRY_WITH(ImageReference::Parse(GetString(container, {"image"})),
               fmt::format("{}.image: the release's image {}", path, api::GoQuote(GetString(container, {"image"}))));
  image.Replace(parts.repository, parts.name, parts.tag);
  if (!parts.name.empty() || !parts.tag.empty()) image.digest.clear();
  std::string made = image.ToString();
  TRY_WITH(ImageReference::Parse(made), fmt::format("{}.image: {}", path, api::GoQuote(made)));
  container["image"] = std::move(made);
  return Ok();
}

Status CustomiseContainer(Json& container, const api::ContainerSpec& spec, bool is_manager, std::string_view path,
                          std::vector<std::string>& warnings) {
  if (spec.image) container["image"] = *spec.image;
  if (spec.image_parts) TRY(ReplaceParts(container, *spec.image_parts, path));
  if (!spec.args.empty()) {
    Args args(container);
    for (const auto& [flag, value] : spec.args) {
      // A namespace to watch comes from manager.cacheNamespace alone: providers watch all of them.
      if (is_manager && IsNamespaceFlag(flag)) {
        warnings.push_back(
            fmt::format("{}.args[\"{}\"] is ignored: spec.manager.cacheNamespace is what limits the manager to a "
                        "namespace",
                        path, flag));
      } else {
        args.Set(flag, value);
      }
    }
    args.Store(container);
  }
  if (spec.env && spec.env->is_array()) SetEnv(container, *spec.env);
  Replace(container, "resources", spec.resources);
  Replace(container, "command", spec.command);
  return Ok();
}

Status CustomiseContainers(kube::Object& deployment, Json& pod, std::string_view list, std::string_view field,
                           const std::vector<api::ContainerSpec>& specs, std::string_view path,
                           std::vector<std::string>& warnings) {
  const Json* manager = ManagerContainer(deployment);
  for (size_t i = 0; i < specs.size(); ++i) {
    std::string here = fmt::format("{}.{}[{}]", path, field, i);
    Json* container = ContainerNamed(pod, list, specs[i].name);
    if (container == nullptr) {
      return Invalid(fmt::format("{}: cannot find {}container \"{}\" in deployment \"{}\"", here,
                                 list == "containers" ? "" : "init ", specs[i].name, deployment.name()));
    }
    TRY(CustomiseContainer(*container, specs[i], container == manager, here, warnings));
  }
  return Ok();
}

// A pod label that the selector asks for with another value would cut the pods off their Deployment, and by the labels
// of the provider we find the Deployment again.
Status CheckLabel(kube::Object& deployment, const std::string& key, const std::string& value, std::string_view path) {
  if (key == api::kLabelProvider || key == api::kLabelClusterctl) {
    return Invalid(fmt::format("{}.labels[\"{}\"]: this label is the operator's own", path, key));
  }
  const Json* selected = Find(deployment.json(), {"spec", "selector", "matchLabels", key});
  if (selected == nullptr || *selected == value) return Ok();
  return Invalid(fmt::format("{}.labels[\"{}\"]: the selector of deployment \"{}\" needs {}", path, key,
                             deployment.name(), ToJsonText(*selected)));
}

Status SetLabels(kube::Object& deployment, const api::DeploymentSpec& spec, std::string_view path) {
  for (const auto& [key, value] : spec.labels) {
    TRY(CheckLabel(deployment, key, value, path));
    Ensure(deployment.json(), {"metadata", "labels", key}) = value;
    Ensure(deployment.json(), {"spec", "template", "metadata", "labels", key}) = value;
  }
  for (const auto& [key, value] : spec.annotations) {
    Ensure(deployment.json(), {"metadata", "annotations", key}) = value;
    Ensure(deployment.json(), {"spec", "template", "metadata", "annotations", key}) = value;
  }
  return Ok();
}

}  // namespace

Json* ManagerContainer(kube::Object& deployment) {
  Json* pod = Find(deployment.json(), {"spec", "template", "spec"});
  if (pod == nullptr) return nullptr;
  if (Json* named = ContainerNamed(*pod, "containers", "manager")) return named;
  Json* containers = Find(*pod, {"containers"});
  bool any = containers != nullptr && containers->is_array() && !containers->empty() && containers->front().is_object();
  return any ? &containers->front() : nullptr;
}

Status CustomiseDeployment(kube::Object& deployment, const api::DeploymentSpec& spec, std::string_view path,
                           std::vector<std::string>& warnings) {
  if (spec.replicas) Ensure(deployment.json(), {"spec", "replicas"}) = *spec.replicas;
  Replace(Ensure(deployment.json(), {"spec"}), "strategy", spec.strategy);
  TRY(SetLabels(deployment, spec, path));

  Json& pod = Ensure(deployment.json(), {"spec", "template", "spec"});
  Replace(pod, "affinity", spec.affinity);
  Replace(pod, "nodeSelector", spec.node_selector);
  Replace(pod, "tolerations", spec.tolerations);
  Replace(pod, "imagePullSecrets", spec.image_pull_secrets);
  Replace(pod, "topologySpreadConstraints", spec.topology_spread_constraints);
  Replace(pod, "securityContext", spec.security_context);
  if (!spec.service_account_name.empty()) pod["serviceAccountName"] = spec.service_account_name;
  if (!spec.priority_class_name.empty()) pod["priorityClassName"] = spec.priority_class_name;
  TRY(CustomiseContainers(deployment, pod, "containers", "containers", spec.containers, path, warnings));
  return CustomiseContainers(deployment, pod, "initContainers", "initContainers", spec.init_containers, path, warnings);
}

}  // namespace capi::templating
