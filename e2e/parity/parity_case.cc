#include "e2e/parity/parity_case.h"

#include <fmt/format.h>

#include "base/yaml/yaml.h"

namespace capi::e2e {
namespace {

constexpr std::string_view kTargetNamespace = "parity-system";

const ModeInfo& InfoOf(Mode mode) { return kModes.at(static_cast<size_t>(mode)); }

// "manager" of the first line "image: example.com/a/manager:v1"; "" where there is none.
std::string FirstImageName(std::string_view components) {
  size_t begin = components.find(" image: ");
  if (begin == components.npos) return "";
  std::string_view line = components.substr(begin + 8, components.find('\n', begin) - begin - 8);
  std::string_view name = line.substr(line.rfind('/') + 1);
  return std::string(name.substr(0, name.find_first_of(":@")));
}

// Each level of override wins over another one somewhere.
Json ImageOverrides(const std::string& label, std::string_view components) {
  Json images = {{"all", {{"repository", "registry.example.com/mirror"}, {"tag", "v0.0.1"}}},
                 {label, {{"tag", "v0.0.2"}}}};
  if (std::string name = FirstImageName(components); !name.empty()) {
    images[label + "/" + name] = {{"repository", "registry.example.com/one"}};
  }
  return images;
}

}  // namespace

std::string ParityCase::Row() const { return release.Id() + "/" + file; }

std::string ParityCase::Id() const { return fmt::format("{}, {}", Row(), InfoOf(mode).name); }

std::vector<std::string> ParityCase::Arguments() const {
  // The flags are called as the prefixes of labels are.
  std::string_view prefix = api::KindOf(release.type).label_prefix;
  std::string type = prefix.empty() ? "core" : std::string(prefix.substr(0, prefix.size() - 1));
  std::vector<std::string> out = {"generate", "provider", "--" + type, release.name + ":" + release.version};
  if (mode == Mode::kNamespace) out.insert(out.end(), {"--target-namespace", std::string(kTargetNamespace)});
  return out;
}

api::VariableValues ParityCase::Environment() const {
  return mode == Mode::kAll ? api::AllVariablesOf(release.Text(file)) : api::VariableValues();
}

std::string ParityCase::Configuration(std::string_view folder) const {
  std::string components = release.Text(file);
  Json out = {{"providers", Json::array({{{"name", release.name},
                                          {"type", api::KindOf(release.type).kind},
                                          {"url", fmt::format("file://{}/{}", folder, file)}}})}};
  if (mode != Mode::kAll && mode != Mode::kNone) {
    for (const auto& [name, value] : api::RequiredVariablesOf(components)) out[name] = value;
  }
  if (mode == Mode::kImages) out["images"] = ImageOverrides(release.Label(), components);
  return ToYaml(out);
}

std::vector<ParityCase> AllParityCases() {
  std::vector<ParityCase> out;
  for (const api::ReleaseFolder& release : api::AllReleases()) {
    for (const std::string& file : release.ComponentsFiles()) {
      for (const ModeInfo& info : kModes) out.push_back({release, file, info.mode});
    }
  }
  return out;
}

}  // namespace capi::e2e
