#include "templating/manager.h"

#include <fmt/format.h>

#include <map>
#include <span>

#include "base/strings.h"
#include "templating/args.h"
#include "templating/deployment.h"

namespace capi::templating {
namespace {

// Names that managers give to one thing. The one that the release's args have is the one this manager knows; else the
// first is taken.
constexpr std::string_view kNamespace[] = {"--namespace", "--watch-namespace"};
constexpr std::string_view kHealth[] = {"--health-addr", "--health-probe-bind-address", "--health-probe-addr"};
constexpr std::string_view kMetrics[] = {"--metrics-bind-addr", "--metrics-bind-address", "--metrics-addr",
                                         "--diagnostics-address"};
constexpr std::string_view kDiagnostics[] = {"--diagnostics-address", "--metrics-bind-addr", "--metrics-bind-address",
                                             "--metrics-addr"};
constexpr std::string_view kProfiler[] = {"--profiler-address", "--pprof-bind-address"};
constexpr std::string_view kLeaderElect[] = {"--leader-elect", "--enable-leader-election"};
constexpr std::string_view kVerbosity[] = {"--v", "--verbosity"};
constexpr std::string_view kConcurrency[] = {"--max-concurrent-reconciles", "--concurrency"};
constexpr std::string_view kFeatureGates = "--feature-gates";
constexpr std::string_view kConcurrencySuffix = "-concurrency";

// What spec.manager.debug sets.
constexpr int kDebugVerbosity = 5;
constexpr std::string_view kDebugProfiler = "localhost:6060";
// What the API server fills in where nothing is given; it says nothing.
constexpr int kDefaultVerbosity = 1;

std::string_view NameFor(const Args& args, std::span<const std::string_view> names) {
  for (std::string_view name : names) {
    if (args.Has(name)) return name;
  }
  return names.front();
}

void SetText(Args& args, std::span<const std::string_view> names, std::string_view value) {
  if (!value.empty()) args.Set(NameFor(args, names), value);
}
void SetText(Args& args, std::string_view name, std::string_view value) { SetText(args, std::span(&name, 1), value); }

// Whole seconds, rounded; nothing for none.
void SetSeconds(Args& args, std::string_view name, const std::optional<Millis>& value) {
  if (!value) return;
  auto seconds = (value->count() + 500) / 1000;
  if (seconds > 0) args.Set(name, fmt::format("{}s", seconds));
}

void SetConcurrency(Args& args, const api::ManagerSpec& spec, const std::set<std::string>& given_args) {
  for (const auto& [kind, count] : spec.group_kind_concurrency) {
    args.Set(fmt::format("--{}{}", ToLower(kind), kConcurrencySuffix), std::to_string(count));
  }
  if (spec.max_concurrent_reconciles == 0) return;
  std::string count = std::to_string(spec.max_concurrent_reconciles);
  bool one_for_all = args.Has(kConcurrency[0]) || args.Has(kConcurrency[1]);
  // A manager with a flag for each kind, and none for all: all of them, but for those that were asked for by name.
  bool spread = false;
  for (const std::string& flag : args.Flags()) {
    if (one_for_all || !flag.ends_with(kConcurrencySuffix)) continue;
    std::string kind(FlagName(flag));
    kind.resize(kind.size() - kConcurrencySuffix.size());
    bool by_name = given_args.contains(std::string(FlagName(flag)));
    for (const auto& entry : spec.group_kind_concurrency) by_name = by_name || ToLower(entry.first) == kind;
    if (by_name) continue;
    args.Set(flag, count);
    spread = true;
  }
  if (!spread) args.Set(NameFor(args, kConcurrency), count);
}

void SetLeaderElection(Args& args, const api::LeaderElectionSpec& spec) {
  if (!spec.leader_elect) return;
  args.Set(NameFor(args, kLeaderElect), *spec.leader_elect ? "true" : "false");
  if (!*spec.leader_elect) return;
  if (!spec.resource_name.empty() && !spec.resource_namespace.empty()) {
    args.Set("--leader-election-id", spec.resource_namespace + "/" + spec.resource_name);
  }
  SetSeconds(args, "--leader-elect-lease-duration", spec.lease_duration);
  SetSeconds(args, "--leader-elect-renew-deadline", spec.renew_deadline);
  SetSeconds(args, "--leader-elect-retry-period", spec.retry_period);
}

// Merged with the release's own; the user's win.
void SetFeatureGates(Args& args, const std::map<std::string, bool>& gates) {
  if (gates.empty()) return;
  std::map<std::string, std::string> merged;
  for (const std::string& gate : Split(args.Get(kFeatureGates).value_or(""), ',')) {
    std::string text(Trim(gate));
    if (text.empty()) continue;
    size_t equals = text.find('=');
    merged[text.substr(0, equals)] = equals == std::string::npos ? "true" : text.substr(equals + 1);
  }
  for (const auto& [name, on] : gates) merged[name] = on ? "true" : "false";
  std::vector<std::string> parts;
  for (const auto& [name, value] : merged) parts.push_back(name + "=" + value);
  args.Set(kFeatureGates, Join(parts, ","));
}

void SetProbe(Json& container, std::string_view probe, std::string_view endpoint) {
  Json* request = Find(container, {probe, "httpGet"});
  if (!endpoint.empty() && request != nullptr && request->is_object()) {
    (*request)["path"] = "/" + std::string(endpoint);
  }
}

Status AddArgs(Args& args, const api::ManagerSpec& spec, std::string_view path) {
  for (const auto& [flag, value] : spec.additional_args) {
    if (FlagName(flag) == "namespace") continue;  // cacheNamespace alone limits the manager (I9)
    if (args.Has(flag)) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}.additionalArgs: failed to customize manager container: arg \"{}\" already exists",
                               path, flag),
                   {}};
    }
    args.Set(flag, value);
  }
  return Ok();
}

// In the order in which cluster-api-operator emits them.
Status SetArgs(Args& args, const api::ManagerSpec& spec, std::string_view path,
               const std::set<std::string>& given_args) {
  SetConcurrency(args, spec, given_args);
  SetText(args, kNamespace, spec.cache_namespace);
  SetText(args, kHealth, spec.health_probe_bind_address);
  SetText(args, kMetrics, spec.metrics_bind_address);
  SetText(args, kDiagnostics, spec.diagnostics_address);
  SetText(args, "--webhook-host", spec.webhook_host);
  SetText(args, "--webhook-cert-dir", spec.webhook_cert_dir);
  SetText(args, kProfiler, spec.debug ? kDebugProfiler : spec.profiler_address);
  if (spec.leader_election) SetLeaderElection(args, *spec.leader_election);
  if (spec.insecure_diagnostics.value_or(false)) args.Set("--insecure-diagnostics", "true");
  if (spec.webhook_port) args.Set("--webhook-port", std::to_string(*spec.webhook_port));
  SetSeconds(args, "--sync-period", spec.sync_period);
  int verbosity = spec.debug ? kDebugVerbosity : spec.verbosity.value_or(kDefaultVerbosity);
  if (verbosity != kDefaultVerbosity) args.Set(NameFor(args, kVerbosity), std::to_string(verbosity));
  SetFeatureGates(args, spec.feature_gates);
  return AddArgs(args, spec, path);
}

}  // namespace

Status CustomiseManager(kube::Object& deployment, const api::ManagerSpec& spec, std::string_view path,
                        const std::set<std::string>& given_args) {
  Json* container = ManagerContainer(deployment);
  if (container == nullptr) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: cannot find \"manager\" container in deployment \"{}\"", path, deployment.name()),
                 {}};
  }
  Args args(*container);
  TRY(SetArgs(args, spec, path, given_args));
  args.Store(*container);
  SetProbe(*container, "livenessProbe", spec.liveness_endpoint);
  SetProbe(*container, "readinessProbe", spec.readiness_endpoint);
  return Ok();
}

}  // namespace capi::templating
