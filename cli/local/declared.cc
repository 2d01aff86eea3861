#include "cli/local/declared.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/declare/lint_object.h"
#include "cli/declare/manifest_files.h"
#include "cli/install/carry.h"
#include "cli/install/provider_manifests.h"

namespace capi::cli {
namespace {

constexpr Seconds kWebhookLimit{60};
constexpr Millis kPause{100};

Error Refused(const Finding& finding) {
  return {Code::kInvalidArgument,
          fmt::format("{}:{}:{}: {}", finding.file, finding.place.line, finding.place.column, finding.message),
          {}};
}

Error RefusedKind(const Document& document, const std::string& why) {
  const YamlPlace place = document.PlaceOf({"kind"});
  return {Code::kInvalidArgument, fmt::format("{}:{}:{}: {}", document.file(), place.line, place.column, why), {}};
}

Status CheckPart(const Document& document) {
  const kube::Object& object = document.object();
  if (object.name().empty()) return RefusedKind(document, fmt::format("the {} has no name", object.kind()));
  if (std::string key = document.RepeatedKey(); !key.empty()) return RefusedKind(document, key);
  return Ok();
}

// Where no namespace is written, kubectl takes the one of the context, which is this one here.
void SetNamespace(kube::Object& object) {
  if (object.ns().empty()) object.set_ns("default");
}

Status Add(const Document& document, const IsKnown& known, Declared& out) {
  kube::Object object = document.object();
  const bool core_group = object.api_version() == "v1";
  if (IsProvider(object)) {
    std::vector<Finding> findings;
    auto declared = LintObject(document, known, findings);
    for (const Finding& finding : findings) {
      if (finding.level == Level::kError) return Refused(finding);
    }
    if (!declared) return RefusedKind(document, "it can't be read");
    SetNamespace(object);
    out.ids.push_back({declared->provider.id.type, object.ns(), object.name()});
    out.providers.push_back(std::move(object));
    return Ok();
  }
  if (core_group && object.kind() == "Namespace") {
    TRY(CheckPart(document));
    out.namespaces.push_back(std::move(object));
    return Ok();
  }
  if (core_group && (object.kind() == "Secret" || object.kind() == "ConfigMap")) {
    TRY(CheckPart(document));
    SetNamespace(object);
    out.parts.push_back(std::move(object));
    return Ok();
  }
  const std::string mistaken = MistakenKind(object);
  return RefusedKind(document, !mistaken.empty() ? mistaken
                                                 : fmt::format("{} {} is no Provider, Secret, ConfigMap or Namespace: "
                                                               "apply it with kubectl once the plane is up",
                                                               object.api_version(), object.kind()));
}

Status ApplyOne(const Context& ctx, kube::Client& client, const kube::Resource& resource, const kube::Object& object) {
  const kube::WriteOptions options{.field_manager = std::string(kProviderFieldManager)};
  const Context bounded = ctx.WithTimeout(kWebhookLimit);
  auto applied = client.Apply(ctx, resource, object, options);
  while (!applied.ok() && (applied.error().Transient() || applied.code() == Code::kNotFound)) {
    if (!bounded.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) break;
    applied = client.Apply(ctx, resource, object, options);
  }
  return applied.ok() ? Ok() : Status(applied.error().With(fmt::format("failed to apply {}", NameOf(object))));
}

}  // namespace

bool Declared::Has(api::ProviderType type) const {
  return std::any_of(ids.begin(), ids.end(), [&](const api::ProviderId& id) { return id.type == type; });
}

Result<Declared> ReadDeclared(const std::vector<std::string>& files, const Config& config, std::istream& in) {
  Declared out;
  const ManifestFiles read = TRY(ReadManifests(files, in));
  if (!read.findings.empty()) return Refused(read.findings.front());
  const IsKnown known = [&config](const api::ProviderId& id) { return config.FindProvider(id.type, id.name).ok(); };
  for (const Document& document : read.documents) TRY(Add(document, known, out));
  if (!files.empty() && read.documents.empty())
    return Error{Code::kInvalidArgument, fmt::format("{}: no objects in it", Join(files, ", ")), {}};
  return out;
}

Status CarryDeclared(const Context& ctx, kube::Client& client, const Declared& declared) {
  for (const kube::Object& object : declared.namespaces) TRY(ApplyOne(ctx, client, kube::Builtin("Namespace"), object));
  std::set<std::string> used;
  for (const auto* all : {&declared.parts, &declared.providers}) {
    for (const kube::Object& object : *all) used.insert(object.ns());
  }
  for (const std::string& ns : used) TRY(EnsureNamespace(ctx, client, ns, {}));
  for (const kube::Object& object : declared.parts) TRY(ApplyOne(ctx, client, kube::Builtin(object.kind()), object));
  for (size_t i = 0; i < declared.providers.size(); ++i) {
    kube::Resource resource = api::ResourceOf(declared.ids[i].type);
    resource.version = declared.providers[i].group_version().version;
    TRY(ApplyOne(ctx, client, resource, declared.providers[i]));
  }
  return Ok();
}

}  // namespace capi::cli
