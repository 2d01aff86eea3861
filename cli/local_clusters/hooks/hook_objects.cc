#include "cli/local_clusters/hooks/hook_objects.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/local_clusters/parts.h"

namespace capi::cli::local_clusters {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

Result<std::vector<kube::Object>> ReadPrinted(std::string_view printed) {
  std::vector<kube::Object> out;
  for (YamlDocument& document : TRY_WITH(ParseYamlStream(printed), "what the hook printed")) {
    kube::Object object(std::move(document.value));
    if (Status good = CheckObject(object); !good.ok())
      return Invalid(
          fmt::format("what the hook printed isn't an object with apiVersion, kind and name in line {}, {}: words go "
                      "to standard error",
                      document.line, good.error().message));
    // Nobody would fill them in.
    if (object.has_annotation(kFillIn))
      return Invalid(
          fmt::format("the hook printed {} with the annotation {}, as the files have it: print the object that it got "
                      "on standard input, with its values filled in",
                      object.id().ToString(), kFillIn));
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace

std::string ToStream(const std::vector<kube::Object>& objects) {
  std::string out;
  for (const kube::Object& object : objects) {
    std::string text = ToJsonText(object.json()) + "\n";
    // YAML doesn't allow each character that JSON does, and takes some for the end of a line.
    auto back = ParseYaml(text);
    if (!back.ok() || *back != object.json()) text = ToYaml(object.json());
    out += "---\n" + text;
  }
  return out;
}

kube::ObjectId IdIn(const kube::Object& object, const std::string& ns) {
  kube::ObjectId out = object.id();
  if (out.ns.empty()) out.ns = ns;
  return out;
}

Status TakeChanged(std::string_view printed, const std::string& ns, std::vector<Manifest>& manifests) {
  for (kube::Object& object : TRY(ReadPrinted(printed))) {
    const kube::ObjectId id = IdIn(object, ns);
    auto same = [&](const Manifest& one) { return IdIn(one.object, ns) == id; };
    auto found = std::find_if(manifests.begin(), manifests.end(), same);
    if (found == manifests.end())
      return Invalid(
          fmt::format("the hook printed {}, which is not among the manifests: it may change them, and not add to them",
                      object.id().ToString()));
    if (object.ns().empty() && !found->object.ns().empty()) object.set_ns(found->object.ns());
    found->object = std::move(object);
  }
  return Ok();
}

std::set<std::string> BootstrapSecrets(const std::vector<Manifest>& manifests) {
  std::set<std::string> out;
  for (const Manifest& one : manifests) {
    for (std::string& name : BootstrapSecretsOf(one.object)) out.insert(std::move(name));
  }
  return out;
}

std::string FileOfSecret(const std::string& name) { return fmt::format("10_machines_secret_{}.yaml", name); }

bool IsBootstrapSecret(const kube::Object& object, const std::set<std::string>& names) {
  return IsSecret(object) && names.contains(object.ns() + "/" + object.name());
}

Result<std::set<kube::ObjectId>> TakeSecrets(std::string_view printed, const std::set<std::string>& names,
                                             const std::set<std::string>& begun, std::vector<Manifest>& secrets) {
  std::set<kube::ObjectId> out;
  for (kube::Object& object : TRY(ReadPrinted(printed))) {
    const bool wanted = IsBootstrapSecret(object, names);
    if (!wanted && IsBootstrapSecret(object, begun)) continue;
    if (!wanted)
      return Invalid(fmt::format(
          "the hook printed {}, which is no bootstrap Secret that a machine of the manifests names (there are: {})",
          object.id().ToString(),
          names.empty() ? "none" : Join(std::vector<std::string>(names.begin(), names.end()), ", ")));
    out.insert(object.id());
    auto same = [&](const Manifest& one) { return one.object.id() == object.id(); };
    auto found = std::find_if(secrets.begin(), secrets.end(), same);
    if (found == secrets.end()) {
      const std::string file = FileOfSecret(object.name());
      secrets.push_back({std::move(object), file});
    } else {
      found->object = std::move(object);
    }
  }
  return out;
}

}  // namespace capi::cli::local_clusters
