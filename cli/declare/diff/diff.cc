#include "cli/declare/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/conversion/convert.h"
#include "api/moves/upgrade_policy.h"
#include "base/run_all.h"
#include "base/strings.h"
#include "cli/declare/diff/object_diff.h"
#include "cli/declare/lint_object.h"
#include "cli/declare/manifest_files.h"
#include "cli/declare/render_provider.h"
#include "cli/frame/provider_objects.h"
#include "cli/install/provider_manifests.h"
#include "kube/apply/inventory.h"
#include "kube/apply/replace.h"

namespace capi::cli {
namespace {

constexpr size_t kParallel = 4;
constexpr size_t kMostErrors = 5;

bool HasReplicas(const kube::ObjectId& id) {
  return id.group == "apps" && (id.kind == "Deployment" || id.kind == "StatefulSet");
}

// What is never pruned (U4), and the operator's own note in clusterctl's inventory.
bool IsKept(const kube::ObjectId& id) {
  return id.group == "apiextensions.k8s.io" || id.group == "clusterctl.cluster.x-k8s.io" ||
         (id.group.empty() && id.kind == "Namespace");
}

// Whether the operator or clusterctl wrote that field of the spec.
bool IsFilledIn(const kube::Object& provider, const std::string& field) {
  const Json* writers = Find(provider.json(), {"metadata", "managedFields"});
  if (writers == nullptr) return false;
  return std::any_of(writers->begin(), writers->end(), [&](const Json& one) {
    const std::string by = GetString(one, {"manager"});
    return (by == api::kFieldManager || by == kProviderFieldManager) &&
           Find(one, {"fieldsV1", "f:spec", fmt::format("f:{}", field)}) != nullptr;
  });
}

// What each object of a provider would become.
class Comparison {
 public:
  Comparison(const Context& ctx, kube::Client& client, const api::Provider& provider, const RenderedProvider& rendered)
      : ctx_(ctx), client_(client), provider_(provider), rendered_(rendered) {}

  // The differences in the order of an apply, then what is pruned. What can't be told is in errors().
  std::string Run() {
    auto inventory = kube::Inventory::Parse(provider_.status.inventory);
    if (!inventory.ok()) errors_.push_back(inventory.error().With("status.inventory").message);
    std::vector<std::pair<kube::ObjectId, std::string>> pruned;
    if (inventory.ok()) pruned = Pruned(*inventory);
    const size_t applied = rendered_.manifests.size();
    std::vector<std::string> texts(applied + pruned.size());
    std::vector<Status> ends(texts.size());
    std::vector<std::function<void()>> tasks;
    for (size_t i = 0; i < texts.size(); ++i) {
      tasks.push_back([&, i] {
        auto states =
            i < applied ? Applied(rendered_.manifests[i]) : Gone(pruned[i - applied].first, pruned[i - applied].second);
        if (states.ok()) {
          texts[i] = DiffOf(*std::move(states), rendered_.masked);
        } else {
          ends[i] = states.error();
        }
      });
    }
    RunAll(kParallel, tasks);
    for (const Status& end : ends) {
      if (!end.ok()) errors_.push_back(end.error().message);
    }
    return Join(texts, "");
  }

  const std::vector<std::string>& errors() const { return errors_; }

 private:
  // Its kind, or its namespace, comes with what is applied before it.
  static bool Comes(const Error& error) { return error.code == Code::kNotFound; }

  Result<ObjectStates> Applied(const kube::Manifest& manifest) {
    TRY(ctx_.Check());
    const kube::ObjectId& id = manifest.id;
    ObjectStates states{id, kube::GroupVersion::Parse(manifest.api_version).version, {}, {}};
    auto resource = client_.mapper().For(ctx_, id.group_kind(), states.version);
    if (!resource.ok() && !Comes(resource.error())) return resource.error().With(id.ToString());
    if (resource.ok()) {
      auto live = client_.Get(ctx_, *resource, id.ns, id.name);
      if (!live.ok() && !Comes(live.error())) return live.error().With(id.ToString());
      if (live.ok()) states.before = *std::move(live);
      auto next = DryRun(*resource, manifest);
      if (!next.ok() && !Comes(next.error())) return next.error().With(id.ToString());
      if (next.ok()) states.after = *std::move(next);
    }
    if (!states.after) states.after = kube::Object(TRY(ParseJson(manifest.text)));
    return states;
  }

  Result<kube::Object> DryRun(const kube::Resource& resource, const kube::Manifest& manifest) {
    const kube::WriteOptions options{.field_manager = std::string(api::kFieldManager), .dry_run = true};
    kube::Manifest sent = manifest;
    if (provider_.spec.paused && HasReplicas(manifest.id)) sent.text = TRY(WithoutReplicas(manifest.text));
    auto applied = client_.ApplyText(ctx_, resource, sent.id.ns, sent.id.name, sent.text, options);
    if (applied.ok() || applied.code() != Code::kInvalidArgument) return applied;
    return kube::ApplyByReplacing(client_, ctx_, {resource, sent, options, applied.error()});
  }

  // P1: what is paused has no pods.
  static Result<std::string> WithoutReplicas(const std::string& text) {
    Json json = TRY(ParseJson(text));
    json["spec"]["replicas"] = 0;
    return ToJsonText(json);
  }

  std::vector<std::pair<kube::ObjectId, std::string>> Pruned(const kube::Inventory& inventory) const {
    std::vector<std::pair<kube::ObjectId, std::string>> out;
    for (const auto& [id, entry] : inventory.entries()) {
      bool stays = std::any_of(rendered_.manifests.begin(), rendered_.manifests.end(),
                               [&, &id = id](const kube::Manifest& manifest) { return manifest.id == id; });
      if (!stays && !IsKept(id)) out.emplace_back(id, entry.version);
    }
    return out;
  }

  // Who has taken its label away keeps it (U4).
  Result<ObjectStates> Gone(const kube::ObjectId& id, const std::string& version) {
    TRY(ctx_.Check());
    ObjectStates states{id, version, {}, {}};
    auto resource = client_.mapper().For(ctx_, id.group_kind());
    if (!resource.ok() && Comes(resource.error())) return states;
    if (!resource.ok()) return resource.error().With(id.ToString());
    auto live = client_.Get(ctx_, *resource, id.ns, id.name);
    if (!live.ok() && Comes(live.error())) return states;
    if (!live.ok()) return live.error().With(id.ToString());
    const std::string label = api::ManifestLabel(provider_.id.type, provider_.id.name);
    if (live->label(api::kLabelProvider) == label) states.before = *std::move(live);
    return states;
  }

  const Context& ctx_;
  kube::Client& client_;
  const api::Provider& provider_;
  const RenderedProvider& rendered_;
  std::vector<std::string> errors_;
};

// Provider objects as they would be, with the status that they have.
class Wanted {
 public:
  // `ns` "": names are looked for in all, and files mean that of the context.
  Wanted(const Context& ctx, ManagementCluster& cluster, const std::string& ns, Notes& notes)
      : ctx_(ctx), cluster_(cluster), ns_(ns), notes_(notes) {}

  // "aws:v2.11.1": behind the last colon a version.
  Result<std::vector<api::Provider>> Named(const std::vector<std::string>& names) {
    std::vector<api::Provider> out;
    for (const std::string& text : names) {
      const size_t colon = text.rfind(':');
      const std::string version = colon == text.npos ? "" : text.substr(colon + 1);
      if (colon != text.npos) TRY_WITH(api::Version::Parse(version), text);
      for (ProviderObject& object : TRY(FindProviders(ctx_, cluster_, text.substr(0, colon), ns_))) {
        object.provider.spec.version = version.empty() ? object.wanted : version;
        out.push_back(std::move(object.provider));
      }
    }
    return out;
  }

  Result<std::vector<api::Provider>> InFiles(const std::vector<std::string>& files, std::istream& in) {
    ManifestFiles manifests = TRY(ReadManifests(files, in));
    for (const Finding& finding : manifests.findings) {
      if (finding.level == Level::kError)
        return Error{Code::kInvalidArgument, finding.file + ": " + finding.message, {}};
      notes_.Warn(finding.file + ": " + finding.message);
    }
    std::vector<api::Provider> out;
    for (const Document& document : manifests.documents) {
      if (std::string mistake = MistakenKind(document.object()); !mistake.empty())
        return Error{Code::kInvalidArgument, document.file() + ": " + mistake, {}};
      if (IsProvider(document.object())) out.push_back(TRY_WITH(OfFile(document.object()), document.file()));
    }
    for (api::Provider& provider : out) {
      provider.spec.version = api::VersionToRun(provider.spec.version, provider.status, provider.annotations);
    }
    if (!out.empty()) return out;
    return Error{Code::kInvalidArgument, fmt::format("there is no Provider object in {}", Join(files, ", ")), {}};
  }

 private:
  // With the defaults that the server fills in, and its webhooks' word on it.
  Result<api::Provider> OfFile(const kube::Object& file) {
    kube::Object wanted(TRY(api::Convert(file.json(), fmt::format("{}/{}", api::kGroup, api::kVersion))));
    if (wanted.ns().empty()) wanted.set_ns(ns_.empty() ? cluster_.ns() : ns_);
    if (!ns_.empty() && wanted.ns() != ns_) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{} is in namespace {}, and not in {} (-n)", wanted.name(), wanted.ns(), ns_),
                   {}};
    }
    const kube::Resource resource = api::ResourceOf(api::KindByName(wanted.kind())->type);
    const kube::WriteOptions options{.field_manager = "clusterctl", .dry_run = true, .strict = true};
    auto live = cluster_.client().Get(ctx_, resource, wanted.ns(), wanted.name());
    if (!live.ok() && live.code() != Code::kNotFound) return live.error();
    if (!live.ok()) {
      auto created = cluster_.client().Create(ctx_, resource, wanted, options);
      if (!created.ok() && created.code() == Code::kNotFound && created.error().message.starts_with("namespaces"))
        return api::ParseProvider(wanted);  // its namespace comes with it
      if (!created.ok()) return created.error();
      return api::ParseProvider(*created);
    }
    kube::Object changed = *live;
    const Json* spec = Find(wanted.json(), {"spec"});
    changed.json()["spec"] = spec == nullptr ? Json::object() : *spec;
    // allow-downgrade says which version runs (U13).
    const Json* annotations = Find(wanted.json(), {"metadata", "annotations"});
    if (annotations != nullptr && annotations->is_object())
      changed.json()["metadata"]["annotations"].update(*annotations);
    // An apply without a field leaves what these have filled in (I12, A2), and takes away what others wrote.
    const Json there = live->json().value("spec", Json::object());
    for (const auto& [field, value] : there.items()) {
      if (!changed.json()["spec"].contains(field) && IsFilledIn(*live, field)) changed.json()["spec"][field] = value;
    }
    auto updated = TRY(cluster_.client().Update(ctx_, resource, changed, options));
    return api::ParseProvider(updated);
  }

  const Context& ctx_;
  ManagementCluster& cluster_;
  const std::string& ns_;
  Notes& notes_;
};

Status CheckOptions(const DiffOptions& options) {
  if (options.names.empty() != options.files.empty()) return Ok();
  return Error{Code::kInvalidArgument, "name a provider, like aws or aws:v2.11.1, or files with -f", {}};
}

}  // namespace

Result<bool> Diff(const Context& ctx, const GlobalOptions& global, const DiffOptions& options, World& world) {
  TRY(CheckOptions(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  Wanted wanted(ctx, cluster, options.ns, notes);
  auto providers = TRY(options.files.empty() ? wanted.Named(options.names) : wanted.InFiles(options.files, world.in));
  bool differs = false;
  std::vector<std::string> errors;
  for (const api::Provider& provider : providers) {
    const std::string name = Describe(provider.id);
    RenderedProvider rendered = TRY_WITH(RenderProvider(ctx, cluster, config, provider, notes), name);
    for (const std::string& warning : rendered.warnings) notes.Warn(name + ": " + warning);
    Comparison comparison(ctx, cluster.client(), provider, rendered);
    const std::string text = comparison.Run();
    differs = differs || !text.empty();
    world.out << text;
    for (const std::string& error : comparison.errors()) errors.push_back(name + ": " + rendered.masked.Mask(error));
  }
  if (errors.empty()) return differs;
  const size_t shown = std::min(errors.size(), kMostErrors);
  std::string message = Join(std::span(errors).first(shown), "\n");
  if (shown < errors.size()) message += fmt::format("\nand {} more like these", errors.size() - shown);
  return Error{Code::kFailedPrecondition, std::move(message), {}};
}

}  // namespace capi::cli
