#include "templating/customise/manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "base/strings.h"
#include "templating/customise/args.h"
#include "templating/customise/deployment.h"

namespace capi::templating {
namespace {

using Names = std::span<const std::string_view>;

// Names that managers give to one thing. The one that the release's args have is the one this manager knows; else the
// first is taken.
constexpr std::string_view kHealth[] = {"--health-addr", "--health-probe-bind-address", "--health-probe-addr"};
constexpr std::string_view kMetrics[] = {"--metrics-bind-addr", "--metrics-bind-address", "--metrics-addr",
                                         "--diagnostics-address"};
constexpr std::string_view kDiagnostics[] = {"--diagnostics-address", "--metrics-bind-addr", "--metrics-bind-address",
                                             "--metrics-addr"};
constexpr std::string_view kInsecureDiagnostics[] = {"--insecure-diagnostics"};
constexpr std::string_view kProfiler[] = {"--profiler-address", "--pprof-bind-address"};
constexpr std::string_view kWebhookHost[] = {"--webhook-host"};
constexpr std::string_view kWebhookPort[] = {"--webhook-port"};
constexpr std::string_view kWebhookCertDir[] = {"--webhook-cert-dir"};
constexpr std::string_view kLeaderElect[] = {"--leader-elect", "--enable-leader-election"};
constexpr std::string_view kLeaderElectionId[] = {"--leader-election-id"};
constexpr std::string_view kLeaseDuration[] = {"--leader-elect-lease-duration"};
constexpr std::string_view kRenewDeadline[] = {"--leader-elect-renew-deadline"};
constexpr std::string_view kRetryPeriod[] = {"--leader-elect-retry-period"};
constexpr std::string_view kSyncPeriod[] = {"--sync-period"};
constexpr std::string_view kVerbosity[] = {"--v", "--verbosity", "--zap-log-level"};
constexpr std::string_view kConcurrency[] = {"--max-concurrent-reconciles", "--concurrency"};
constexpr std::string_view kFeatureGates[] = {"--feature-gates"};
constexpr std::string_view kZapLevel = "--zap-log-level";
constexpr std::string_view kConcurrencySuffix = "-concurrency";

// What spec.manager.debug sets.
constexpr int kDebugVerbosity = 5;
constexpr std::string_view kDebugProfiler = "localhost:6060";
// What the API server fills in where nothing is given; it says nothing.
constexpr int kDefaultVerbosity = 1;

// Where known managers answer probes.
constexpr std::string_view kEndpoints[] = {"healthz", "healthz/webhook", "readyz", "readyz/webhook"};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// One manager's args as they become, beside those the release came with: only the latter tell which flags it has.
class Manager {
 public:
  Manager(const Json& container, const KnownManager* row, std::string_view path, std::vector<std::string>& warnings)
      : release(container), now(release), known(row), path_(path), warnings_(warnings) {}

  // The flag among `names` that this manager has; the first where it has none that is known of.
  std::string_view FlagFor(Names names) const { return Known(names).value_or(names.front()); }

  void Set(std::string_view field, Names names, std::string_view value) {
    if (value.empty()) return;
    auto flag = Known(names);
    bool missing = !flag && known != nullptr;
    if (missing && Lacks(field, "has no flag for it")) return;
    now.Set(flag.value_or(names.front()), value);
  }

  // Whole seconds, rounded; nothing for none.
  void SetSeconds(std::string_view field, Names names, const std::optional<Millis>& value) {
    auto seconds = value ? (value->count() + 500) / 1000 : 0;
    if (seconds > 0) Set(field, names, fmt::format("{}s", seconds));
  }

  // A known manager lacks something, which would end its process. Whether the field is refused: where it is the nearest
  // version that lacks it, that is said, and the field taken at its word.
  bool Lacks(std::string_view field, std::string_view why) {
    if (known->verified()) {
      refused_.push_back(fmt::format("{}.{}: the manager of {} {}", path_, field, known->provider(), why));
    } else {
      Warn(field, fmt::format("may end the manager: that of {} {} {}, and this version isn't known", known->provider(),
                              known->Source(), why));
    }
    return known->verified();
  }

  // For fields that no manager has a flag for.
  void Ignore(std::string_view field) {
    bool refused = known != nullptr && known->verified() && Lacks(field, "has no flag for it");
    if (!refused) Warn(field, "has no effect: there is no flag for it");
  }

  void Warn(std::string_view field, std::string_view why) {
    warnings_.push_back(fmt::format("{}.{} {}", path_, field, why));
  }

  Status Refusals() const {
    if (refused_.empty()) return Ok();
    return Error{Code::kUnsupported,
                 Join(refused_, "; ") +
                     ". What it doesn't know ends its process: remove the field, or, where your "
                     "build of it has such a flag, give that in additionalArgs",
                 {}};
  }

  std::string path() const { return std::string(path_); }

  const Args release;
  Args now;
  const KnownManager* const known;

 private:
  // By the release's own args, else by what is known of the manager; an unknown one tells nothing.
  std::optional<std::string_view> Known(Names names) const {
    auto in_release = std::find_if(names.begin(), names.end(), [&](auto name) { return release.Has(name); });
    if (in_release != names.end()) return *in_release;
    if (known == nullptr) return std::nullopt;
    auto in_table = std::find_if(names.begin(), names.end(), [&](auto name) { return known->HasFlag(name); });
    return in_table == names.end() ? std::nullopt : std::optional(*in_table);
  }

  std::string_view path_;
  std::vector<std::string>& warnings_;
  std::vector<std::string> refused_;
};

// The flags "--<kind>-concurrency" of this manager that nothing was asked for by name.
std::vector<std::string> OpenConcurrencyFlags(const Manager& manager, const api::ManagerSpec& spec,
                                              const std::set<std::string>& given_args) {
  std::set<std::string> taken = given_args;
  for (const auto& entry : spec.group_kind_concurrency) {
    taken.insert(ToLower(entry.first) + std::string(kConcurrencySuffix));
  }
  std::vector<std::string> all = manager.release.Flags();
  if (manager.known != nullptr) {
    for (std::string& flag : manager.known->ConcurrencyFlags()) all.push_back(std::move(flag));
  }
  std::vector<std::string> out;
  for (const std::string& flag : all) {
    if (flag.ends_with(kConcurrencySuffix) && taken.emplace(FlagName(flag)).second) out.push_back(flag);
  }
  return out;
}

void SetConcurrency(Manager& manager, const api::ManagerSpec& spec, const std::set<std::string>& given_args) {
  for (const auto& [kind, count] : spec.group_kind_concurrency) {
    std::string flag = fmt::format("--{}{}", ToLower(kind), kConcurrencySuffix);
    std::string_view name = flag;
    manager.Set(fmt::format("controller.groupKindConcurrency[\"{}\"]", kind), Names(&name, 1), std::to_string(count));
  }
  if (spec.max_concurrent_reconciles == 0) return;
  std::string count = std::to_string(spec.max_concurrent_reconciles);
  bool one_for_all = manager.release.Has(kConcurrency[0]) || manager.release.Has(kConcurrency[1]);
  auto each = OpenConcurrencyFlags(manager, spec, given_args);
  if (one_for_all || each.empty()) {
    manager.Set("maxConcurrentReconciles", kConcurrency, count);
  } else {
    for (const std::string& flag : each) manager.now.Set(flag, count);
  }
}

// The time that the manager will have: the field's, the release's, or controller-runtime's own; nullopt for one that
// can't be read.
std::optional<Millis> TimeOf(const Manager& manager, Names names, Millis unset) {
  auto given = manager.now.Get(manager.FlagFor(names));
  if (!given) return unset;
  auto parsed = api::ParseDuration(*given);
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

// A manager with other times ends as soon as it starts. The release, or additionalArgs, may have given those that the
// fields leave out.
Status CheckElectionTimes(Manager& manager, const api::LeaderElectionSpec& spec) {
  if (!spec.leader_elect || !*spec.leader_elect) return Ok();
  if (!spec.lease_duration && !spec.renew_deadline && !spec.retry_period) return Ok();
  auto lease = TimeOf(manager, kLeaseDuration, Seconds(15)), renew = TimeOf(manager, kRenewDeadline, Seconds(10)),
       retry = TimeOf(manager, kRetryPeriod, Seconds(2));
  if (!lease || !renew || !retry || (*lease > *renew && *renew * 5 > *retry * 6)) return Ok();
  const std::string why = fmt::format(
      "leaseDuration ({}) must be greater than renewDeadline ({}), and that greater than 1.2 times "
      "retryPeriod ({}), with what the fields leave to the release",
      api::FormatDuration(*lease), api::FormatDuration(*renew), api::FormatDuration(*retry));
  if (manager.known != nullptr && manager.known->verified()) {
    return Error{Code::kUnsupported,
                 fmt::format("{}.leaderElection: {}: else the manager ends as soon as it starts; set all three",
                             manager.path(), why),
                 {}};
  }
  manager.Warn("leaderElection", "may end the manager: " + why);
  return Ok();
}

void SetLeaderElection(Manager& manager, const api::LeaderElectionSpec& spec) {
  if (!spec.leader_elect) return;
  manager.Set("leaderElection.leaderElect", kLeaderElect, *spec.leader_elect ? "true" : "false");
  if (!*spec.leader_elect) return;
  // Every manager's lock is a Lease.
  if (!spec.resource_lock.empty() && spec.resource_lock != "leases") manager.Ignore("leaderElection.resourceLock");
  if (!spec.resource_name.empty() && !spec.resource_namespace.empty()) {
    manager.Set("leaderElection.resourceName", kLeaderElectionId, spec.resource_namespace + "/" + spec.resource_name);
  } else if (!spec.resource_name.empty() || !spec.resource_namespace.empty()) {
    manager.Warn("leaderElection",
                 "names a lease by half: without both resourceName and resourceNamespace neither "
                 "has an effect");
  }
  manager.SetSeconds("leaderElection.leaseDuration", kLeaseDuration, spec.lease_duration);
  manager.SetSeconds("leaderElection.renewDeadline", kRenewDeadline, spec.renew_deadline);
  manager.SetSeconds("leaderElection.retryPeriod", kRetryPeriod, spec.retry_period);
}

// Merged with the release's own; the user's win.
void SetFeatureGates(Manager& manager, const std::map<std::string, bool>& gates) {
  if (gates.empty()) return;
  std::map<std::string, std::string> merged;
  for (const std::string& gate : Split(manager.now.Get(kFeatureGates[0]).value_or(""), ',')) {
    std::string text(Trim(gate));
    if (text.empty()) continue;
    size_t equals = text.find('=');
    merged[text.substr(0, equals)] = equals == std::string::npos ? "true" : text.substr(equals + 1);
  }
  for (const auto& [name, on] : gates) {
    bool lacks = manager.known != nullptr && !merged.contains(name) && !manager.known->HasGate(name);
    if (lacks) manager.Lacks(fmt::format("featureGates[\"{}\"]", name), "has no such feature gate");
    merged[name] = on ? "true" : "false";
  }
  std::vector<std::string> parts;
  for (const auto& [name, value] : merged) parts.push_back(name + "=" + value);
  manager.Set("featureGates", kFeatureGates, Join(parts, ","));
}

void SetVerbosity(Manager& manager, const api::ManagerSpec& spec) {
  int verbosity = spec.debug ? kDebugVerbosity : spec.verbosity.value_or(kDefaultVerbosity);
  if (verbosity == kDefaultVerbosity) return;
  bool zap = manager.FlagFor(kVerbosity) == kZapLevel;  // which takes a number above 0, or a word
  manager.Set("verbosity", kVerbosity, zap && verbosity == 0 ? "info" : std::to_string(verbosity));
}

void SetDiagnostics(Manager& manager, const api::ManagerSpec& spec) {
  if (!spec.insecure_diagnostics) return;
  if (*spec.insecure_diagnostics) {
    manager.Set("metrics.insecureDiagnostics", kInsecureDiagnostics, "true");
  } else if (manager.release.Has(kInsecureDiagnostics[0])) {
    manager.now.Set(kInsecureDiagnostics[0], "false");  // where the release has no such flag, nothing is insecure
  }
}

// Fields of the API that no manager has ever had a flag for.
void NoteWithoutFlag(Manager& manager, const api::ManagerSpec& spec) {
  if (spec.graceful_shutdown) manager.Ignore("gracefulShutDown");
  if (spec.cache_sync_timeout_ns) manager.Ignore("controller.cacheSyncTimeout");
  if (spec.recover_panic) manager.Ignore("controller.recoverPanic");
}

Status AddArgs(Manager& manager, const api::ManagerSpec& spec) {
  for (const auto& [flag, value] : spec.additional_args) {
    if (IsNamespaceFlag(flag)) {
      return Invalid(fmt::format(
          "{}.additionalArgs[\"{}\"]: cacheNamespace is what limits the manager to a namespace, set that instead",
          manager.path(), flag));
    }
    if (manager.now.Has(flag)) {
      return Invalid(fmt::format("{}.additionalArgs: failed to customize manager container: arg \"{}\" already exists",
                                 manager.path(), flag));
    }
    manager.now.Set(flag, value);
  }
  return Ok();
}

// In the order in which cluster-api-operator emits them.
Status SetArgs(Manager& manager, const api::ManagerSpec& spec, const std::set<std::string>& given_args) {
  SetConcurrency(manager, spec, given_args);
  manager.Set("cacheNamespace", kNamespaceFlags, spec.cache_namespace);
  manager.Set("health.healthProbeBindAddress", kHealth, spec.health_probe_bind_address);
  manager.Set("metrics.bindAddress", kMetrics, spec.metrics_bind_address);
  manager.Set("metrics.diagnosticsAddress", kDiagnostics, spec.diagnostics_address);
  manager.Set("webhook.host", kWebhookHost, spec.webhook_host);
  manager.Set("webhook.certDir", kWebhookCertDir, spec.webhook_cert_dir);
  manager.Set("profilerAddress", kProfiler, spec.debug ? kDebugProfiler : spec.profiler_address);
  if (spec.leader_election) SetLeaderElection(manager, *spec.leader_election);
  SetDiagnostics(manager, spec);
  if (spec.webhook_port) manager.Set("webhook.port", kWebhookPort, std::to_string(*spec.webhook_port));
  manager.SetSeconds("syncPeriod", kSyncPeriod, spec.sync_period);
  SetVerbosity(manager, spec);
  SetFeatureGates(manager, spec.feature_gates);
  NoteWithoutFlag(manager, spec);
  return AddArgs(manager, spec);
}

void SetProbe(Manager& manager, Json& container, std::string_view field, std::string_view probe,
              std::string_view endpoint) {
  if (endpoint.empty()) return;
  bool answers = std::find(std::begin(kEndpoints), std::end(kEndpoints), endpoint) != std::end(kEndpoints);
  if (manager.known != nullptr && !answers) {
    std::vector<std::string> all(std::begin(kEndpoints), std::end(kEndpoints));
    if (manager.Lacks(field, fmt::format("answers at {} only", Join(all, ", ")))) return;
  }
  Json* request = Find(container, {probe, "httpGet"});
  if (request != nullptr && request->is_object()) (*request)["path"] = "/" + std::string(endpoint);
}

}  // namespace

Status CustomiseManager(kube::Object& deployment, const api::ManagerSpec& spec, const KnownManager* known,
                        std::string_view path, const std::set<std::string>& given_args,
                        std::vector<std::string>& warnings) {
  Json* container = ManagerContainer(deployment);
  if (container == nullptr) {
    return Invalid(fmt::format("{}: cannot find \"manager\" container in deployment \"{}\"", path, deployment.name()));
  }
  Manager manager(*container, known, path, warnings);
  TRY(SetArgs(manager, spec, given_args));
  SetProbe(manager, *container, "health.livenessEndpointName", "livenessProbe", spec.liveness_endpoint);
  SetProbe(manager, *container, "health.readinessEndpointName", "readinessProbe", spec.readiness_endpoint);
  TRY(manager.Refusals());
  if (spec.leader_election) TRY(CheckElectionTimes(manager, *spec.leader_election));
  manager.now.Store(*container);
  return Ok();
}

}  // namespace capi::templating
