#include "cli/declare/gitops.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/adoption.h"
#include "api/conversion/convert.h"
#include "api/kinds.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/install/provider_manifests.h"

namespace capi::cli {
namespace {

constexpr std::string_view kImagesFile = "images.yaml";

// Annotations and labels that tools keep for themselves, or that ask for something once.
constexpr std::string_view kBookkeeping[] = {
    api::kAnnotationAllowedReferences, api::kAnnotationAppliedSpecHash,      api::kAnnotationOldForm,
    api::kAnnotationNewForm,           api::kAnnotationOverwriteDifferences, api::kAnnotationReconcileAt,
    api::kAnnotationForceDelete,       api::kAnnotationAllowDowngrade,       "kubectl.kubernetes.io/"};
constexpr std::string_view kOthers[] = {"meta.helm.sh/", "helm.sh/", "helm.toolkit.fluxcd.io/",
                                        "kustomize.toolkit.fluxcd.io/", "argocd.argoproj.io/"};

bool IsKept(const std::string& key) {
  auto begins = [&](std::string_view text) { return key.starts_with(text); };
  return std::none_of(std::begin(kBookkeeping), std::end(kBookkeeping), begins) &&
         std::none_of(std::begin(kOthers), std::end(kOthers), begins) && key != "app.kubernetes.io/managed-by";
}

// The name of an environment variable for it: github-token is GITHUB_TOKEN.
std::string InShell(const std::string& key) { return ReplaceAll(ToUpper(key), "-", "_"); }

std::string AsComment(const std::string& text) { return "# " + ReplaceAll(text, "\n", "\n# ") + "\n"; }

std::string SecretComment(const GitOpsProvider& provider) {
  const Json& object = provider.object.json();
  std::string command = fmt::format("  kubectl create secret generic {} --namespace {}",
                                    GetString(object, {"spec", "configSecret", "name"}),
                                    GetString(object, {"spec", "configSecret", "namespace"}, provider.object.ns()));
  for (const std::string& name : provider.variables)
    command += fmt::format(" \\\n    --from-literal={}=\"${}\"", name, InShell(name));
  if (provider.with_images) command += fmt::format(" \\\n    --from-file=images={}", kImagesFile);
  return AsComment(
      "The Secret with its variables isn't here. Where the provider runs already, the operator makes the Secret of "
      "what "
      "it\nfinds. Else let your tool for secrets make it, with these keys, or make it of environment variables:\n" +
      command);
}

std::string ProviderText(const GitOpsProvider& provider) {
  std::string out;
  for (const std::string& remark : provider.remarks) out += AsComment(remark);
  if (!provider.variables.empty() || provider.with_images) out += SecretComment(provider);
  return out + ToYaml(provider.object.json());
}

// No two have the same: a name has no underscore.
std::string FileName(const std::vector<GitOpsProvider>& all, const kube::Object& object) {
  bool twin = std::any_of(all.begin(), all.end(), [&](const auto& one) { return IsTwin(one.object, object); });
  return fmt::format("{}{}-{}", twin ? object.ns() + "_" : "", api::KindByName(object.kind())->type_name,
                     object.name());
}

std::string ReleaseText(const std::vector<kube::Object>& maps) {
  std::string out;
  for (const kube::Object& map : maps) out += (out.empty() ? "" : "---\n") + ToYaml(map.json());
  return out;
}

std::string NamespacesText(const std::map<std::string, Json>& namespaces) {
  std::string out;
  for (const auto& [name, labels] : namespaces) {
    Json ns = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
    if (!labels.empty()) ns["metadata"]["labels"] = labels;
    out += (out.empty() ? "" : "---\n") + ToYaml(ns);
  }
  return out;
}

}  // namespace

kube::Object WithoutBookkeeping(const kube::Object& provider) {
  Json out = {{"apiVersion", provider.api_version()},
              {"kind", provider.kind()},
              {"metadata", {{"name", provider.name()}, {"namespace", provider.ns()}}}};
  for (const char* map : {"annotations", "labels"}) {
    const Json* entries = Find(provider.json(), {"metadata", map});
    if (entries == nullptr || !entries->is_object()) continue;
    for (const auto& [key, value] : entries->items()) {
      if (IsKept(key)) out["metadata"][map][key] = value;
    }
  }
  const Json* spec = Find(provider.json(), {"spec"});
  out["spec"] = spec == nullptr ? Json::object() : *spec;
  std::string installed = GetString(provider.json(), {"status", "installedVersion"});
  if (GetString(out, {"spec", "version"}).empty() && !installed.empty()) out["spec"]["version"] = installed;
  return kube::Object(std::move(out));
}

bool IsTwin(const kube::Object& one, const kube::Object& other) {
  return one.kind() == other.kind() && one.name() == other.name() && one.ns() != other.ns();
}

Result<std::vector<GitOpsFile>> GitOpsFiles(const std::vector<GitOpsProvider>& providers,
                                            const std::map<std::string, Json>& namespaces,
                                            const templating::ImageOverrides& images) {
  std::vector<GitOpsFile> out = {{"namespaces.yaml", NamespacesText(namespaces)}};
  std::set<std::string> names;
  Json kustomization = {{"apiVersion", "kustomize.config.k8s.io/v1beta1"}, {"kind", "Kustomization"}};
  for (const GitOpsProvider& provider : providers) {
    const std::string name = FileName(providers, provider.object);
    if (!names.insert(name).second) {
      const kube::Object& object = provider.object;
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} {}/{} is in the inventory more than once: remove the entry that is no longer needed",
                               object.kind(), object.ns(), object.name()),
                   {}};
    }
    if (!provider.release.empty()) out.push_back({name + "_release.yaml", ReleaseText(provider.release)});
    out.push_back({name + ".yaml", ProviderText(provider)});
  }
  for (const GitOpsFile& file : out) kustomization["resources"].push_back(file.name);
  out.push_back({"kustomization.yaml", ToYaml(kustomization)});
  bool with_images = std::any_of(providers.begin(), providers.end(), [](const auto& one) { return one.with_images; });
  if (with_images) out.push_back({std::string(kImagesFile), ImagesText(images)});
  return out;
}

std::string AsOneText(const std::vector<GitOpsFile>& files) {
  std::string out;
  for (const GitOpsFile& file : files) {
    if (file.name == "kustomization.yaml") continue;
    if (file.name == kImagesFile) {
      out += AsComment("images.yaml:\n" + file.text.substr(0, file.text.size() - 1));
    } else {
      out += (out.empty() ? "" : "---\n") + file.text;
    }
  }
  return out;
}

}  // namespace capi::cli
