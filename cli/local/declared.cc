#include "cli/local/declared.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/encoding.h"
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

Error RefusedAt(const Document& document, std::vector<std::string> steps, const std::string& why) {
  const YamlPlace place = document.PlaceOf(std::move(steps));
  return {Code::kInvalidArgument, fmt::format("{}:{}:{}: {}", document.file(), place.line, place.column, why), {}};
}

Error RefusedKind(const Document& document, const std::string& why) { return RefusedAt(document, {"kind"}, why); }

struct TextField {
  std::string_view kind;
  const char* name;
  bool base64;
};
constexpr TextField kTextFields[] = {{"Secret", "data", true},
                                     {"Secret", "stringData", false},
                                     {"ConfigMap", "data", false},
                                     {"ConfigMap", "binaryData", true}};

// YAML makes a number of `PIN: 1234`. The API server would refuse it, with the value in its words.
Status CheckTexts(const Document& document) {
  const kube::Object& object = document.object();
  for (const TextField& field : kTextFields) {
    const Json* values = field.kind == object.kind() ? Find(object.json(), {field.name}) : nullptr;
    if (values == nullptr || values->is_null()) continue;
    if (!values->is_object()) return RefusedAt(document, {field.name}, fmt::format("{} is no map", field.name));
    for (const auto& [key, value] : values->items()) {
      if (value.is_null()) continue;
      if (!value.is_string())
        return RefusedAt(document, {field.name, key}, fmt::format("{}.{} is no text: quote it", field.name, key));
      if (field.base64 && !Base64Decode(value.get_ref<const std::string&>()).ok())
        return RefusedAt(document, {field.name, key}, fmt::format("{}.{} is no base64", field.name, key));
    }
  }
  return Ok();
}

Status CheckPart(const Document& document) {
  const kube::Object& object = document.object();
  if (object.name().empty()) return RefusedKind(document, fmt::format("the {} has no name", object.kind()));
  if (std::string key = document.RepeatedKey(); !key.empty()) return RefusedKind(document, key);
  return CheckTexts(document);
}

// Where no namespace is written, kubectl takes the one of the context, which is this one here.
void SetNamespace(kube::Object& object) {
  if (object.ns().empty()) object.set_ns("default");
}

// The last one would count, and the other be forgotten without a word.
Status CheckOnce(const Document& document, std::map<std::string, const Document*>& seen) {
  kube::Object object = document.object();
  if (object.kind() != "Namespace") SetNamespace(object);
  const auto [first, fresh] = seen.try_emplace(NameOf(object), &document);
  if (fresh) return Ok();
  const YamlPlace place = first->second->PlaceOf({"kind"});
  return RefusedKind(document,
                     fmt::format("{} is there already, in {}:{}", first->first, first->second->file(), place.line));
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
  return applied.ok() ? Ok() : Status(ApplyError(object, applied.error()));
}

}  // namespace

Error ApplyError(const kube::Object& object, const Error& error) {
  const std::string what = fmt::format("failed to apply {}", NameOf(object));
  // Our own words, or those of a server that doesn't do its work.
  const bool own = error.Transient() || error.code == Code::kCancelled || error.code == Code::kDeadlineExceeded;
  if (object.kind() != "Secret" || own) return error.With(what);
  return {error.code,
          fmt::format("{}: the API server has refused it ({}). Its words aren't shown, since they may repeat a value: "
                      "`kubectl apply --dry-run=server -f FILE` shows them",
                      what, CodeName(error.code)),
          {}};
}

bool Declared::Has(api::ProviderType type) const {
  return std::any_of(ids.begin(), ids.end(), [&](const api::ProviderId& id) { return id.type == type; });
}

Result<Declared> ReadDeclared(const std::vector<std::string>& files, const Config& config, std::istream& in) {
  Declared out;
  const ManifestFiles read = TRY(ReadManifests(files, in));
  if (!read.findings.empty()) return Refused(read.findings.front());
  const IsKnown known = [&config](const api::ProviderId& id) { return config.FindProvider(id.type, id.name).ok(); };
  std::map<std::string, const Document*> seen;
  for (const Document& document : read.documents) {
    TRY(Add(document, known, out));
    TRY(CheckOnce(document, seen));
  }
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
