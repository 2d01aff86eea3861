#include <algorithm>

#include "api/field_reader.h"
#include "api/types.h"
#include "kube/meta/label_selector.h"

namespace capi::api {
namespace {

// Fills in the provider's own namespace where a reference names none.
void ReadRef(const FieldReader& parent, std::string_view key, std::string_view own_namespace,
             std::optional<ObjectRef>& out) {
  parent.Object(key, [&](const FieldReader& r) {
    ObjectRef& ref = out.emplace();
    r.Read("name", ref.name);
    r.Read("namespace", ref.ns);
    if (ref.ns.empty()) ref.ns = own_namespace;
  });
}

void ReadLeaderElection(const FieldReader& r, LeaderElectionSpec& out) {
  r.Read("leaderElect", out.leader_elect);
  r.Read("leaseDuration", out.lease_duration);
  r.Read("renewDeadline", out.renew_deadline);
  r.Read("retryPeriod", out.retry_period);
  r.Read("resourceLock", out.resource_lock);
  r.Read("resourceName", out.resource_name);
  r.Read("resourceNamespace", out.resource_namespace);
}

void ReadManager(const FieldReader& r, ManagerSpec& out) {
  r.Read("syncPeriod", out.sync_period);
  r.Object("leaderElection", [&](const FieldReader& le) { ReadLeaderElection(le, out.leader_election.emplace()); });
  r.Read("cacheNamespace", out.cache_namespace);
  r.Read("gracefulShutDown", out.graceful_shutdown);
  r.Object("controller", [&](const FieldReader& c) {
    c.Read("groupKindConcurrency", out.group_kind_concurrency);
    c.Read("cacheSyncTimeout", out.cache_sync_timeout_ns);
    c.Read("recoverPanic", out.recover_panic);
  });
  r.Object("metrics", [&](const FieldReader& m) {
    m.Read("bindAddress", out.metrics_bind_address);
    m.Read("diagnosticsAddress", out.diagnostics_address);
    m.Read("insecureDiagnostics", out.insecure_diagnostics);
  });
  r.Object("health", [&](const FieldReader& h) {
    h.Read("healthProbeBindAddress", out.health_probe_bind_address);
    h.Read("readinessEndpointName", out.readiness_endpoint);
    h.Read("livenessEndpointName", out.liveness_endpoint);
  });
  r.Object("webhook", [&](const FieldReader& w) {
    w.Read("port", out.webhook_port);
    w.Read("host", out.webhook_host);
    w.Read("certDir", out.webhook_cert_dir);
  });
  r.Read("profilerAddress", out.profiler_address);
  r.Read("maxConcurrentReconciles", out.max_concurrent_reconciles);
  r.Read("verbosity", out.verbosity);
  r.Read("featureGates", out.feature_gates);
  r.Read("additionalArgs", out.additional_args);
  r.Read("debug", out.debug);
}

void ReadContainer(const FieldReader& r, ContainerSpec& out) {
  r.Read("name", out.name);
  r.Read("imageUrl", out.image);
  r.Object("image", [&](const FieldReader& i) {
    ImageParts& parts = out.image_parts.emplace();
    i.Read("repository", parts.repository);
    i.Read("name", parts.name);
    i.Read("tag", parts.tag);
  });
  r.Read("args", out.args);
  r.ReadObjects("env", out.env);
  r.List("env", [](const FieldReader& e) {
    std::string name;
    e.Read("name", name);
    if (name.empty()) e.Fail("name", "is missing");
  });
  r.ReadObject("resources", out.resources);
  r.ReadStrings("command", out.command);
}

void ReadDeployment(const FieldReader& r, DeploymentSpec& out) {
  r.Read("replicas", out.replicas);
  r.ReadStringMap("nodeSelector", out.node_selector);
  r.ReadObjects("tolerations", out.tolerations);
  r.ReadObject("affinity", out.affinity);
  r.List("containers", [&](const FieldReader& c) { ReadContainer(c, out.containers.emplace_back()); });
  r.List("initContainers", [&](const FieldReader& c) { ReadContainer(c, out.init_containers.emplace_back()); });
  r.Read("serviceAccountName", out.service_account_name);
  r.ReadObjects("imagePullSecrets", out.image_pull_secrets);
  r.Read("labels", out.labels);
  r.Read("annotations", out.annotations);
  r.Read("priorityClassName", out.priority_class_name);
  r.ReadObjects("topologySpreadConstraints", out.topology_spread_constraints);
  r.ReadObject("securityContext", out.security_context);
  r.ReadObject("strategy", out.strategy);
}

// spec, and each entry of spec.additionalDeployments.
template <typename T>
void ReadCustomisation(const FieldReader& r, T& out) {
  r.Object("manager", [&](const FieldReader& m) { ReadManager(m, out.manager.emplace()); });
  r.Object("deployment", [&](const FieldReader& d) { ReadDeployment(d, out.deployment.emplace()); });
}

void ReadFetchConfig(const FieldReader& r, std::string_view own_namespace, FetchConfig& out) {
  r.Read("oci", out.oci);
  r.Read("url", out.url);
  r.ReadObject("selector", out.selector);
  if (out.selector) {
    if (auto selector = kube::LabelSelector::FromJson(*out.selector); !selector.ok()) {
      r.Fail("selector." + selector.error().message.substr(0, selector.error().message.find(": ")),
             selector.error().message.substr(selector.error().message.find(": ") + 2));
    }
  }
  r.Object("git", [&](const FieldReader& g) {
    GitSource& git = out.git.emplace();
    g.Read("url", git.url);
    g.Read("path", git.path);
    ReadRef(g, "secretRef", own_namespace, git.secret_ref);
  });
  ReadRef(r, "secretRef", own_namespace, out.secret_ref);
  r.Read("digest", out.digest);
  r.Object("verify", [&](const FieldReader& v) {
    VerifySpec& verify = out.verify.emplace();
    v.Read("provider", verify.provider);
    std::optional<ObjectRef> secret;
    ReadRef(v, "secretRef", own_namespace, secret);
    verify.secret_ref = secret.value_or(ObjectRef{});
  });
}

void ReadPatch(const FieldReader& r, PatchSpec& out) {
  r.Read("patch", out.patch);
  r.Object("target", [&](const FieldReader& t) {
    PatchTarget& target = out.target.emplace();
    t.Read("group", target.group);
    t.Read("version", target.version);
    t.Read("kind", target.kind);
    t.Read("name", target.name);
    t.Read("namespace", target.ns);
    t.Read("labelSelector", target.label_selector);
  });
}

void ReadRollout(const FieldReader& r, RolloutSpec& out) {
  r.Read("timeout", out.timeout);
  std::string on_failure = "Hold";
  r.Read("onFailure", on_failure);
  if (on_failure != "Hold" && on_failure != "Rollback") r.Fail("onFailure", "must be Hold or Rollback");
  out.on_failure = on_failure == "Rollback" ? OnFailure::kRollback : OnFailure::kHold;
}

constexpr std::string_view kWeekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

// "02:30", since midnight.
std::optional<Millis> ParseTimeOfDay(const std::string& text) {
  auto digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4)) return std::nullopt;
  const int hours = (text[0] - '0') * 10 + (text[1] - '0'), minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (hours > 23 || minutes > 59) return std::nullopt;
  return std::chrono::hours(hours) + std::chrono::minutes(minutes);
}

void ReadWindow(const FieldReader& r, MaintenanceWindow& out) {
  std::string start;
  std::vector<std::string> days;
  r.Read("start", start);
  r.Read("duration", out.duration);
  r.Read("days", days);
  if (auto time = ParseTimeOfDay(start)) {
    out.start = *time;
  } else {
    r.Fail("start", "must be a time of day in UTC, from 00:00 to 23:59");
  }
  if (out.duration <= Millis(0) || out.duration > std::chrono::hours(24)) {
    r.Fail("duration", "must be more than 0 and at most 24h");
  }
  for (size_t i = 0; i < days.size(); ++i) {
    const auto* day = std::find(std::begin(kWeekdays), std::end(kWeekdays), days[i]);
    if (day == std::end(kWeekdays)) {
      r.Fail("days[" + std::to_string(i) + "]", "must be one of Mon, Tue, Wed, Thu, Fri, Sat, Sun");
      return;
    }
    out.weekdays.push_back(static_cast<unsigned>(day - std::begin(kWeekdays)));
  }
}

void ReadUpgradePolicy(const FieldReader& r, UpgradePolicy& out) {
  r.Object("window", [&](const FieldReader& w) { ReadWindow(w, out.window.emplace()); });
  std::string type;
  r.Read("type", type);
  if (type != "None" && type != "Patch" && type != "Minor") r.Fail("type", "must be None, Patch or Minor");
  out.type = type == "Minor" ? UpgradeType::kMinor : type == "Patch" ? UpgradeType::kPatch : UpgradeType::kNone;
}

}  // namespace

Result<ProviderSpec> ParseSpec(const Json& spec, std::string_view own_namespace) {
  std::optional<Error> error;
  ProviderSpec out;
  FieldReader r(spec, "spec", &error);
  r.Read("version", out.version);
  r.Read("paused", out.paused);
  ReadCustomisation(r, out);
  r.Map("additionalDeployments",
        [&](const std::string& name, const FieldReader& d) { ReadCustomisation(d, out.additional_deployments[name]); });
  ReadRef(r, "configSecret", own_namespace, out.config_secret);
  ReadRef(r, "additionalManifests", own_namespace, out.additional_manifests);
  r.Read("serviceAccountName", out.service_account);
  r.Object("fetchConfig", [&](const FieldReader& f) { ReadFetchConfig(f, own_namespace, out.fetch_config.emplace()); });
  r.Read("manifestPatches", out.manifest_patches);
  r.List("patches", [&](const FieldReader& p) { ReadPatch(p, out.patches.emplace_back()); });
  r.Object("rollout", [&](const FieldReader& o) { ReadRollout(o, out.rollout); });
  r.Object("upgradePolicy", [&](const FieldReader& p) { ReadUpgradePolicy(p, out.upgrade_policy); });
  if (error) return *error;
  return out;
}

}  // namespace capi::api
