#include "cli/declare/lint_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advice/warnings.h"
#include "api/conversion/convert.h"
#include "api/schema/check.h"
#include "api/schema/crds.h"
#include "api/schema/schema.h"
#include "api/text.h"
#include "api/validate/validate.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr std::string_view kMetadata[] = {"annotations",
                                          "creationTimestamp",
                                          "deletionGracePeriodSeconds",
                                          "deletionTimestamp",
                                          "finalizers",
                                          "generateName",
                                          "generation",
                                          "labels",
                                          "managedFields",
                                          "name",
                                          "namespace",
                                          "ownerReferences",
                                          "resourceVersion",
                                          "selfLink",
                                          "uid"};
constexpr std::string_view kTopLevel[] = {"apiVersion", "kind", "metadata", "spec", "status"};

// Fields that v1alpha1 has by another name.
constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
    {"spec.configSecret.name", "spec.secretName"},
    {"spec.configSecret.namespace", "spec.secretNamespace"},
    {"spec.configSecret", "spec.secretName"},
    {"spec.manager.metrics.bindAddress", "spec.manager.metricsAddress"},
};

const Json& SpecSchema(api::ApiVersion version) {
  static const Json old = api::schema::Spec(api::ApiVersion::kV1Alpha1);
  static const Json now = api::schema::Spec(api::ApiVersion::kV1Alpha2);
  return version == api::ApiVersion::kV1Alpha1 ? old : now;
}

// "spec.manager.syncPeriod: must be a duration": the path, which a message begins with where it has one.
std::string PathIn(std::string_view message) {
  std::string_view path = message.substr(0, message.find(": "));
  bool is_path = path.starts_with("spec") || path.starts_with("metadata");
  return is_path && path.find(' ') == path.npos ? std::string(path) : "spec";
}

class ObjectLint {
 public:
  ObjectLint(const Document& document, std::vector<Finding>& out)
      : document_(document), object_(document.object()), out_(out) {}

  std::optional<DeclaredProvider> Run(const IsKnown& known) {
    const api::ProviderKind& kind = *api::KindByName(object_.kind());
    const std::string version = object_.group_version().version;
    if (!IsServed(kind, version)) return std::nullopt;
    Keys();
    Metadata();
    Spec(version == api::kOldVersion ? api::ApiVersion::kV1Alpha1 : api::ApiVersion::kV1Alpha2);
    return Read(version == api::kOldVersion, known);
  }

 private:
  void Add(std::string_view rule, YamlPlace place, std::string message) {
    out_.push_back({.rule = std::string(rule),
                    .level = FindLintRule(rule).level,
                    .file = document_.file(),
                    .place = place,
                    .object = NameOf(object_),
                    .message = std::move(message)});
  }

  bool IsServed(const api::ProviderKind& kind, const std::string& version) {
    if (version == api::kVersion || (version == api::kOldVersion && api::HasOldVersion(kind.type))) return true;
    Add("api-version", document_.PlaceOf({"apiVersion"}),
        fmt::format("there is no {} of {}/{}; write {}/{}", kind.kind, api::kGroup, version, api::kGroup,
                    api::kVersion));
    return false;
  }

  void Keys() {
    std::string repeated = document_.RepeatedKey();
    if (repeated.empty()) return;
    Add("yaml", PlaceIn(repeated), repeated.substr(repeated.find(": ") + 2));
  }

  void Unknown(std::vector<std::string> steps) {
    std::string path = Join(steps, ".");
    Add("unknown-field", document_.PlaceOf(std::move(steps)), fmt::format("unknown field \"{}\"", path));
  }

  void Metadata() {
    for (const auto& [key, value] : object_.json().items()) {
      if (std::find(std::begin(kTopLevel), std::end(kTopLevel), key) == std::end(kTopLevel)) Unknown({key});
    }
    const Json* metadata = Find(object_.json(), {"metadata"});
    if (metadata == nullptr || !metadata->is_object()) {
      Add("schema", document_.PlaceOf({"metadata"}), "metadata.name: Required value: name or generateName is required");
      return;
    }
    for (const auto& [key, value] : metadata->items()) {
      bool known = std::find(std::begin(kMetadata), std::end(kMetadata), key) != std::end(kMetadata);
      if (!known) Unknown({"metadata", key});
      if (known && (key == "labels" || key == "annotations")) Texts(key, value);
    }
    const std::string name = object_.name();
    if (name.empty())
      Add("schema", document_.PlaceOf({"metadata"}), "metadata.name: Required value: name or generateName is required");
    if (!name.empty() && !IsDns1123Subdomain(name))
      Add("schema", document_.PlaceOf({"metadata", "name"}),
          fmt::format("metadata.name: Invalid value: \"{}\": must be a lower-case DNS-1123 subdomain", name));
    if (!object_.ns().empty() && !IsDns1123Label(object_.ns()))
      Add("schema", document_.PlaceOf({"metadata", "namespace"}),
          fmt::format("metadata.namespace: Invalid value: \"{}\": must be a lower-case DNS-1123 label", object_.ns()));
  }

  void Texts(const std::string& key, const Json& map) {
    if (map.is_null()) return;
    if (!map.is_object())
      return Add("schema", document_.PlaceOf({"metadata", key}), "metadata." + key + ": must be a map");
    for (const auto& [name, value] : map.items()) {
      if (value.is_string() || value.is_null()) continue;
      Add("schema", document_.PlaceOf({"metadata", key, name}),
          fmt::format("metadata.{}[{}]: must be a text; put it in quotes", key, name));
    }
  }

  void Spec(api::ApiVersion version) {
    const Json* spec = Find(object_.json(), {"spec"});
    if (spec == nullptr) return;
    for (const api::SchemaError& error : api::CheckSchema(*spec, SpecSchema(version), "spec")) {
      Add(error.unknown_field ? "unknown-field" : "schema", document_.PlaceOf(error.steps), error.ToString());
      said_.insert(error.error.path);
      broken_ = broken_ || !error.unknown_field;
    }
  }

  // Where the schema has said already that a value is wrong, the reader would say so again.
  std::optional<DeclaredProvider> Read(bool old, const IsKnown& known) {
    Json json = object_.json();
    if (old) {
      auto converted = api::Convert(json, fmt::format("{}/{}", api::kGroup, api::kVersion));
      if (!converted.ok()) return Unreadable(converted.error());
      json = *std::move(converted);
    }
    auto provider = api::ParseProvider(kube::Object(std::move(json)));
    if (!provider.ok()) return Unreadable(provider.error());
    DeclaredProvider declared{document_, *std::move(provider), old};
    Judge(declared, known);
    return declared;
  }

  std::optional<DeclaredProvider> Unreadable(const Error& error) {
    if (!broken_) Add("invalid", document_.PlaceOfPath(PathIn(error.message)), error.message);
    return std::nullopt;
  }

  void Judge(const DeclaredProvider& declared, const IsKnown& known) {
    const api::Provider& provider = declared.provider;
    for (const api::FieldError& error : api::Validate(provider, known(provider.id))) {
      if (said_.contains(error.path)) continue;
      out_.push_back(declared.At(error.path, "invalid", error.ToString()));
    }
    for (const std::string& warning : advice::AdmissionWarnings(provider))
      out_.push_back(declared.At(PathIn(warning), "unwise", warning));
    for (const api::ForeignReference& reference : api::ForeignReferences(provider)) {
      out_.push_back(declared.At(
          reference.path, "foreign-reference",
          fmt::format("{}: {}: who applies it needs the right to get {} {}/{}, and the operator its webhooks",
                      reference.path, reference.ns, reference.kind, reference.ns, reference.name)));
    }
    if (provider.spec.version.empty())
      out_.push_back(declared.At("spec", "unpinned-version",
                                 "spec.version isn't set: the operator chooses one and writes it into the object"));
  }

  const Document& document_;
  const kube::Object& object_;
  std::vector<Finding>& out_;
  std::set<std::string> said_;  // paths that the schema has refused
  bool broken_ = false;
};

}  // namespace

std::string NameOf(const kube::Object& object) {
  const std::string name = object.ns().empty() ? object.name() : object.ns() + "/" + object.name();
  return std::string(Trim(object.kind() + " " + name));  // a file may lack either
}

std::string DeclaredProvider::Name() const { return NameOf(document.object()); }

YamlPlace DeclaredProvider::PlaceOfPath(std::string_view path) const {
  for (const auto& [now, before] : kOldNames) {
    if (old_version && path == now) return document.PlaceOfPath(before);
  }
  return document.PlaceOfPath(path);
}

Finding DeclaredProvider::At(std::string_view path, std::string_view rule, std::string message) const {
  return {.rule = std::string(rule),
          .level = FindLintRule(rule).level,
          .file = document.file(),
          .place = PlaceOfPath(path),
          .object = Name(),
          .message = std::move(message)};
}

bool IsProvider(const kube::Object& object) {
  return object.group_version().group == api::kGroup && api::KindByName(object.kind()) != nullptr;
}

std::string MistakenKind(const kube::Object& object) {
  const std::string group = object.group_version().group;
  if (group != api::kGroup && api::KindByName(object.kind()) == nullptr) return "";
  if (group == api::kGroup && api::KindByName(object.kind()) != nullptr) return "";
  if (group != api::kGroup) {
    return fmt::format("the apiVersion of a {} is {}/{}, and not {}", object.kind(), api::kGroup, api::kVersion,
                       api::GoQuote(object.api_version()));
  }
  std::vector<std::string> kinds;
  for (const api::ProviderKind& kind : api::kProviderKinds) kinds.emplace_back(kind.kind);
  return fmt::format("{} has no kind {}; it has {}", api::kGroup, api::GoQuote(object.kind()), Join(kinds, ", "));
}

std::optional<DeclaredProvider> LintObject(const Document& document, const IsKnown& known, std::vector<Finding>& out) {
  return ObjectLint(document, out).Run(known);
}

}  // namespace capi::cli
