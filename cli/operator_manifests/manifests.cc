#include "cli/operator_manifests/manifests.h"

#include <fmt/format.h>

#include "api/schema/crds.h"
#include "api/schema/webhooks.h"
#include "base/version.h"
#include "base/yaml/yaml.h"
#include "cli/operator_manifests/embedded.h"
#include "cli/operator_manifests/labels.h"
#include "kube/meta/kind.h"
#include "templating/customise/image_reference.h"

namespace capi::cli {
namespace {

constexpr std::string_view kComponent = "capi-operator";
constexpr std::string_view kKustomization = "kustomization.yaml";
// What a name without a registry means.
constexpr std::string_view kDefaultPlace = "docker.io/library/";
constexpr std::string_view kPlaceholder = "controller";  // the image's name in deployment.yaml

Error Broken(std::string_view what) { return {Code::kInternal, fmt::format("the program's own {}", what), {}}; }

// "capi-operator:v0.1.0": what the kustomization puts in the place of the image that the Deployment has.
Result<std::string> OwnImage() {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path != kKustomization) continue;
    Json kustomization = TRY_WITH(ParseYaml(file.text), file.path);
    const Json* images = Find(kustomization, {"images"});
    for (const Json& image : images == nullptr ? Json::array() : *images) {
      if (GetString(image, {"name"}) == kPlaceholder)
        return fmt::format("{}:{}", GetString(image, {"newName"}), GetString(image, {"newTag"}));
    }
  }
  return Broken("kustomization.yaml names no image");
}

Status SetImage(kube::Object& deployment, const std::string& image) {
  Json* containers = Find(deployment.json(), {"spec", "template", "spec", "containers"});
  for (Json& container : *containers) {
    if (GetString(container, {"image"}) != kPlaceholder) continue;
    container["image"] = image;
    return Ok();
  }
  return Broken("Deployment has no container for the operator's image");
}

}  // namespace

bool IsLast(const kube::Object& object) {
  return object.kind() == "MutatingWebhookConfiguration" || object.kind() == "ValidatingWebhookConfiguration";
}

bool NamesRegistry(std::string_view image) {
  std::string_view first = image.substr(0, image.find('/'));
  return first.size() != image.size() && (first.find_first_of(".:") != first.npos || first == "localhost");
}

Result<std::string> OperatorImage(const std::string& given, const templating::ImageOverrides& overrides) {
  std::string own = given.empty() ? TRY(OwnImage()) : given;
  std::string whole = NamesRegistry(own) ? own : std::string(kDefaultPlace) + own;
  auto parsed = templating::ImageReference::Parse(whole);
  if (!parsed.ok()) return parsed.error().With(fmt::format("the operator's image \"{}\"", own));
  if (parsed->tag.empty() && parsed->digest.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the operator's image \"{}\" has neither a tag nor a digest: name one, like {}:{}", own,
                             own, kProjectVersion),
                 {}};
  }
  if (!given.empty()) return own;
  std::string image = TRY(templating::OverrideImage(kComponent, whole, overrides));
  return image == whole ? own : image;
}

Result<std::vector<kube::Object>> OperatorObjects(const std::string& image) {
  std::vector<kube::Object> out;
  for (const api::ProviderKind& kind : api::kProviderKinds) out.emplace_back(api::CustomResourceDefinition(kind));
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path == kKustomization) continue;
    auto documents = TRY_WITH(ParseYamlStream(file.text), file.path);
    for (YamlDocument& document : documents) out.emplace_back(std::move(document.value));
  }
  out.emplace_back(api::MutatingWebhookConfiguration());
  out.emplace_back(api::ValidatingWebhookConfiguration());
  for (kube::Object& object : out) {
    if (kube::IsCrd(object)) continue;
    object.set_label(kLabelManagedByTool, kThisTool);
    if (kube::IsDeployment(object)) TRY(SetImage(object, image));
    if (kube::IsDeployment(object) || IsLast(object)) object.set_label(kLabelVersion, kProjectVersion);
  }
  return out;
}

}  // namespace capi::cli
