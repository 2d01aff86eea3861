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

// Args as they become, beside those the release came with: only the latter tell which flags the manager has.
struct ManagerArgs {
  explicit ManagerArgs(const Json& container) : release(container), now(release) {}

  std::string_view NameFor(std::span<const std::string_view> names) const {
    for (std::string_view name : names) {
      if (release.Has(name)) return name;
    }
    return names.front();
  }

  void SetText(std::span<const std::string_view> names, std::string_view value) {
    if (!value.empty()) now.Set(NameFor(names), value);
  }
  void SetText(std::string_view name, std::string_view value) { SetText(std::span(&name, 1), value); }

  // Whole seconds, rounded; nothing for none.
  void SetSeconds(std::string_view name, const std::optional<Millis>& value) {
    if (!value) return;
    auto seconds = (value->count() + 500) / 1000;
    if (seconds > 0) now.Set(name, fmt::format("{}s", seconds));
  }

  const Args release;
  Args now;
};

// Flags "--<kind>-concurrency" of the release that nothing was asked for by name.
std::vector<std::string> OpenConcurrencyFlags(const Args& release, const api::ManagerSpec& spec,
                                              const std::set<std::string>& given_args) {
  std::set<std::string> by_name = given_args;
  for (const auto& entry : spec.group_kind_concurrency) {
    by_name.insert(ToLower(entry.first) + std::string(kConcurrencySuffix));
  }
  std::vector<std::string> out;
  for (const std::string& flag : release.Flags()) {
    if (flag.ends_with(kConcurrencySuffix) && !by_name.contains(std::string(FlagName(flag)))) out.push_back(flag);
  }
  return out;
}

void SetConcurrency(ManagerArgs& args, const api::ManagerSpec& spec, const std::set<std::string>& given_args) {
  for (const auto& [kind, count] : spec.group_kind_concurrency) {
    args.now.Set(fmt::format("--{}{}", ToLower(kind), kConcurrencySuffix), std::to_string(count));
  }
  if (spec.max_concurrent_reconciles == 0) return;
  std::string count = std::to_string(spec.max_concurrent_reconciles);
  bool one_for_all = args.release.Has(kConcurrency[0]) || args.release.Has(kConcurrency[1]);
  auto each = OpenConcurrencyFlags(args.release, spec, given_args);
  if (one_for_all || each.empty()) {
    args.now.Set(args.NameFor(kConcurrency), count);
  } else {
    for (const std::string& flag : each) args.now.Set(flag, count);
  }
}

void SetLeaderElection(ManagerArgs& args, const api::LeaderElectionSpec& spec) {
  if (!spec.leader_elect) return;
  args.SetText(kLeaderElect, *spec.leader_elect ? "true" : "false");
  if (!*spec.leader_elect) return;
  if (!spec.resource_name.empty() && !spec.resource_namespace.empty()) {
    args.now.Set("--leader-election-id", spec.resource_namespace + "/" + spec.resource_name);
  }
  args.SetSeconds("--leader-elect-lease-duration", spec.lease_duration);
  args.SetSeconds("--leader-elect-renew-deadline", spec.renew_deadline);
  args.SetSeconds("--leader-elect-retry-period", spec.retry_period);
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
Status SetArgs(ManagerArgs& args, const api::ManagerSpec& spec, std::string_view path,
               const std::set<std::string>& given_args) {
  SetConcurrency(args, spec, given_args);
  args.SetText(kNamespace, spec.cache_namespace);
  args.SetText(kHealth, spec.health_probe_bind_address);
  args.SetText(kMetrics, spec.metrics_bind_address);
  args.SetText(kDiagnostics, spec.diagnostics_address);
  args.SetText("--webhook-host", spec.webhook_host);
  args.SetText("--webhook-cert-dir", spec.webhook_cert_dir);
  args.SetText(kProfiler, spec.debug ? kDebugProfiler : spec.profiler_address);
  if (spec.leader_election) SetLeaderElection(args, *spec.leader_election);
  if (spec.insecure_diagnostics.value_or(false)) args.now.Set("--insecure-diagnostics", "true");
  if (spec.webhook_port) args.now.Set("--webhook-port", std::to_string(*spec.webhook_port));
  args.SetSeconds("--sync-period", spec.sync_period);
  int verbosity = spec.debug ? kDebugVerbosity : spec.verbosity.value_or(kDefaultVerbosity);
  if (verbosity != kDefaultVerbosity) args.SetText(kVerbosity, std::to_string(verbosity));
  SetFeatureGates(args.now, spec.feature_gates);
  return AddArgs(args.now, spec, path);
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
  ManagerArgs args(*container);
  TRY(SetArgs(args, spec, path, given_args));
  args.now.Store(*container);
  SetProbe(*container, "livenessProbe", spec.liveness_endpoint);
  SetProbe(*container, "readinessProbe", spec.readiness_endpoint);
  return Ok();
}

}  // namespace capi::templating
