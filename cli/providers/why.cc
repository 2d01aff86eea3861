#include "cli/providers/why.h"

#include <fmt/format.h>

#include "advice/explain.h"
#include "api/reasons.h"
#include "api/version.h"
#include "cli/frame/config.h"
#include "cli/frame/printable.h"
#include "cli/frame/structured.h"

namespace capi::cli {
namespace {

// Where nobody looks after the providers, as a sentence; "" where somebody does, or it can't be told.
std::string AwayOperator(const Context& ctx, ManagementCluster& cluster) {
  auto list = cluster.client().List(ctx, kube::Builtin("Deployment"), "",
                                    {.label_selector = "app.kubernetes.io/name=capi-operator"});
  if (!list.ok()) return "";
  if (list->items.empty())
    return "No Deployment has the label app.kubernetes.io/name=capi-operator: the operator runs elsewhere, or not at "
           "all.";
  for (const kube::Object& one : list->items) {
    if (GetInt(one.json(), {"status", "availableReplicas"}) > 0) return "";
  }
  const kube::Object& first = list->items.front();
  return fmt::format(
      "The operator isn't available, and what stands here may be old: kubectl -n {} describe deployment {}", first.ns(),
      first.name());
}

std::string Versions(const ProviderObject& object) {
  const std::string& installed = object.provider.status.installed_version;
  std::string out = installed.empty() ? "none is installed" : installed;
  if (!object.wanted.empty() && object.wanted != installed) out += fmt::format(", {} is wanted", object.wanted);
  // U13: or whoever reads the object takes it for a fault.
  if (!api::SameVersion(object.declared, object.wanted))
    out += fmt::format(", to which spec.upgradePolicy has led; spec.version is {}", object.declared);
  return out;
}

void AddLine(std::string& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out += fmt::format("  {:<9} {}\n", std::string(name) + ":", Printable(text));
}

std::string AsText(const ProviderObject& object, const advice::Explanation& explanation) {
  std::string out = fmt::format("{} {}\n", Describe(object.provider.id),
                                explanation.ready ? "is ready: nothing holds it back" : "is not ready");
  AddLine(out, "Version", Versions(object));
  if (!explanation.ready) {
    std::string since = explanation.since.empty() ? "" : fmt::format(", since {}", explanation.since);
    if (!explanation.reason.empty()) AddLine(out, "Reason", explanation.reason + since);
    AddLine(out, "Meaning", explanation.meaning);
    AddLine(out, "Message", explanation.message);
    AddLine(out, "Do", explanation.action);
    AddLine(out, "See", api::ReasonPlace(explanation.reason));
  }
  for (const advice::Aside& aside : explanation.also)
    AddLine(out, "Also", fmt::format("{} ({}): {}", aside.type, aside.reason, aside.message));
  return out;
}

Json AsJson(const ProviderObject& object, const advice::Explanation& explanation) {
  const api::ProviderId& id = object.provider.id;
  Json out = {{"kind", api::KindOf(id.type).kind},
              {"namespace", id.ns},
              {"name", id.name},
              {"installedVersion", object.provider.status.installed_version},
              {"version", object.wanted},
              {"declaredVersion", object.declared}};
  out.update(advice::AsJson(explanation));
  return out;
}

}  // namespace

Status Why(const Context& ctx, const GlobalOptions& global, const WhyOptions& options, World& world) {
  OutputFormat format = TRY(ParseOutputFormat(options.output));
  const std::string name = TRY(OneProviderName(options.names));
  Notes notes(world.err);
  TRY(LoadConfig(ctx, global, world.getenv, notes));  // nothing of it is needed; one that was asked for has to be right
  ManagementCluster cluster = TRY(ManagementCluster::Open(options.cluster, world.getenv));
  auto objects = TRY(FindProviders(ctx, cluster, name, options.ns));
  Answer answer{.table = "", .facts = Json::array()};
  for (const ProviderObject& object : objects) {
    const advice::Explanation explanation = advice::Explain(object.provider);
    answer.table += AsText(object, explanation);
    answer.facts.push_back(AsJson(object, explanation));
    answer.names.push_back(KubectlName(object.provider.id));
  }
  world.out << Format(format, answer);
  if (std::string away = AwayOperator(ctx, cluster); !away.empty()) notes.Warn(away);
  return Ok();
}

}  // namespace capi::cli
