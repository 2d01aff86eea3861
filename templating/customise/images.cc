#include "templating/customise/images.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "kube/meta/kind.h"
#include "templating/customise/image_reference.h"

namespace capi::templating {
namespace {

Error BadOverrides(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("failed to unmarshal image override configurations: {}", why), {}};
}

// Text, or a number as it is written; the Go tools read both.
Result<std::string> TextOf(const Json& value, std::string_view key, std::string_view field) {
  if (value.is_null()) return std::string();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return ToJsonText(value);
  return BadOverrides(fmt::format("images[\"{}\"].{} is no text", key, field));
}

// The union of overrides, filled from the most specific on.
void FillIn(ImageOverride& into, const ImageOverrides& overrides, const std::string& key) {
  auto found = overrides.find(key);
  if (found == overrides.end()) return;
  if (into.repository.empty()) into.repository = found->second.repository;
  if (into.name.empty()) into.name = found->second.name;
  if (into.tag.empty()) into.tag = found->second.tag;
}

// Of what clusterctl inspects and fixes images: Deployments and DaemonSets, and no others.
bool HasImages(const kube::Object& object) { return IsDeployment(object) || Is(object, "apps", "DaemonSet"); }

Status FixContainers(Json& containers, std::string_view component, const ImageOverrides& overrides) {
  for (Json& container : containers) {
    if (!container.is_object()) continue;
    auto fixed = OverrideImage(component, GetString(container, {"image"}), overrides);
    if (!fixed.ok()) {
      return fixed.error().With(fmt::format("failed to fix image for container {}", GetString(container, {"name"})));
    }
    container["image"] = std::move(fixed).value();
  }
  return Ok();
}

}  // namespace

Result<ImageOverrides> ParseImageOverrides(std::string_view yaml) {
  auto parsed = ParseYaml(yaml);
  if (!parsed.ok()) return BadOverrides(parsed.error().message);
  return ReadImageOverrides(*parsed);
}

Result<ImageOverrides> ReadImageOverrides(const Json& images) {
  ImageOverrides out;
  if (images.is_null()) return out;
  if (!images.is_object()) return BadOverrides("images is no map");
  for (const auto& [key, value] : images.items()) {
    if (value.is_null()) continue;
    if (!value.is_object()) return BadOverrides(fmt::format("images[\"{}\"] is no map", key));
    ImageOverride entry;
    if (const Json* repository = Find(value, {"repository"}))
      entry.repository = TRY(TextOf(*repository, key, "repository"));
    if (const Json* name = Find(value, {"name"})) entry.name = TRY(TextOf(*name, key, "name"));
    if (const Json* tag = Find(value, {"tag"})) entry.tag = TRY(TextOf(*tag, key, "tag"));
    out.emplace(key, std::move(entry));
  }
  return out;
}

Result<std::string> OverrideImage(std::string_view component, std::string_view image, const ImageOverrides& overrides) {
  ImageReference reference = TRY_WITH(ImageReference::Parse(image), "couldn't parse image name");
  ImageOverride use;
  FillIn(use, overrides, fmt::format("{}/{}", component, reference.name));
  FillIn(use, overrides, std::string(component));
  FillIn(use, overrides, "all");
  reference.Replace(use.repository, use.name, use.tag);
  return reference.ToString();
}

Status FixImages(std::vector<kube::Object>& objects, std::string_view component, const ImageOverrides& overrides) {
  for (kube::Object& object : objects) {
    if (!HasImages(object)) continue;
    for (std::string_view list : {"containers", "initContainers"}) {
      Json* containers = Find(object.json(), {"spec", "template", "spec", list});
      if (containers == nullptr || !containers->is_array()) continue;
      auto fixed = FixContainers(*containers, component, overrides);
      if (fixed.ok()) continue;
      std::string_view what = list == "containers" ? "containers" : "init containers";
      return fixed.error().With(
          fmt::format("failed to apply image overrides: failed to fix containers in {} {}: failed to fix {}",
                      ToLower(object.kind()), object.name(), what));
    }
  }
  return Ok();
}

std::vector<std::string> ListImages(const std::vector<kube::Object>& objects) {
  std::vector<std::string> out;
  for (const kube::Object& object : objects) {
    if (!HasImages(object)) continue;
    for (std::string_view list : {"containers", "initContainers"}) {
      const Json* containers = Find(object.json(), {"spec", "template", "spec", list});
      if (containers == nullptr || !containers->is_array()) continue;
      for (const Json& container : *containers) out.push_back(GetString(container, {"image"}));
    }
  }
  return out;
}

}  // namespace capi::templating
