// The spec and status that all seven kinds share (v1alpha2). Every field of the peer's API and ours (api.md).
//
// Parts of a pod (affinity, tolerations, env, resources, ...) stay JSON: they are copied into Deployments, not read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "kube/meta/condition.h"
#include "kube/meta/object.h"
#include "kube/meta/stored_inventory.h"

namespace capi::api {

struct ObjectRef {
  std::string name;
  std::string ns;  // "" in the object means the provider's own; Parse fills it in
  bool operator==(const ObjectRef&) const = default;
};

struct LeaderElectionSpec {
  std::optional<bool> leader_elect;
  std::optional<Millis> lease_duration, renew_deadline, retry_period;
  std::string resource_lock, resource_name, resource_namespace;
  bool operator==(const LeaderElectionSpec&) const = default;
};

// spec.manager. An unset field leaves the release's own argument alone (I9).
struct ManagerSpec {
  std::optional<Millis> sync_period;
  std::optional<LeaderElectionSpec> leader_election;
  std::string cache_namespace;
  std::optional<Millis> graceful_shutdown;            // gracefulShutDown
  std::map<std::string, int> group_kind_concurrency;  // controller.groupKindConcurrency
  std::optional<std::int64_t> cache_sync_timeout_ns;
  std::optional<bool> recover_panic;
  std::string metrics_bind_address, diagnostics_address;
  std::optional<bool> insecure_diagnostics;
  std::string health_probe_bind_address, readiness_endpoint, liveness_endpoint;
  std::optional<int> webhook_port;
  std::string webhook_host, webhook_cert_dir;
  std::string profiler_address;
  int max_concurrent_reconciles = 0;
  std::optional<int> verbosity;
  std::map<std::string, bool> feature_gates;
  std::map<std::string, std::string> additional_args;
  bool debug = false;
  bool operator==(const ManagerSpec&) const = default;
};

// Parts of an image's name that replace those of the release; "" leaves the release's.
struct ImageParts {
  std::string repository, name, tag;
  bool operator==(const ImageParts&) const = default;
};

struct ContainerSpec {
  std::string name;
  std::optional<std::string> image;            // imageUrl
  std::optional<ImageParts> image_parts = {};  // image; not beside imageUrl
  std::map<std::string, std::string> args;
  std::optional<Json> env;  // a list
  std::optional<Json> resources;
  std::optional<Json> command;  // a list; [] clears
};

// spec.deployment. nullopt: not given; an empty list or map clears what the release has.
struct DeploymentSpec {
  std::optional<int> replicas;
  std::optional<Json> node_selector, tolerations, affinity, image_pull_secrets;
  std::vector<ContainerSpec> containers, init_containers;
  std::string service_account_name;
  // Ours:
  std::map<std::string, std::string> labels, annotations;
  std::string priority_class_name;
  std::optional<Json> topology_spread_constraints, security_context, strategy;
};

struct AdditionalDeployment {
  std::optional<ManagerSpec> manager;
  std::optional<DeploymentSpec> deployment;
};

struct PatchTarget {
  std::string group, version, kind, name, ns, label_selector;
};

struct PatchSpec {
  std::string patch;
  std::optional<PatchTarget> target;
};

struct GitSource {
  std::string url, path;
  std::optional<ObjectRef> secret_ref;
};

struct VerifySpec {
  std::string provider;  // "cosign"
  ObjectRef secret_ref;
};

struct FetchConfig {
  std::string oci, url;
  std::optional<Json> selector;  // metav1.LabelSelector
  std::optional<GitSource> git;
  std::optional<ObjectRef> secret_ref;
  std::string digest;
  std::optional<VerifySpec> verify;
};

enum class OnFailure { kHold, kRollback };

struct RolloutSpec {
  Millis timeout = std::chrono::minutes(10);
  OnFailure on_failure = OnFailure::kHold;
};

// What the operator may install by itself.
enum class UpgradeType { kNone, kPatch, kMinor };

// When an upgrade by policy may begin, in UTC.
struct MaintenanceWindow {
  Millis start{0}, duration{0};    // since midnight; more than 0, and a day at most
  std::vector<unsigned> weekdays;  // 0 is Sunday; those on which it starts. Every day where there is none
  bool operator==(const MaintenanceWindow&) const = default;
};

struct UpgradePolicy {
  UpgradeType type = UpgradeType::kNone;
  std::optional<MaintenanceWindow> window;  // at any time without one
};

struct ProviderSpec {
  std::string version;  // as the user wrote it, with or without "v"; "" when not given
  bool paused = false;
  std::optional<ManagerSpec> manager;
  std::optional<DeploymentSpec> deployment;
  std::map<std::string, AdditionalDeployment> additional_deployments;
  std::optional<ObjectRef> config_secret, additional_manifests;
  std::string service_account;  // of the provider's namespace, in whose name it is applied; "" for the operator (T8)
  std::optional<FetchConfig> fetch_config;
  std::vector<std::string> manifest_patches;
  std::vector<PatchSpec> patches;
  RolloutSpec rollout;
  UpgradePolicy upgrade_policy;
};

// How a change of what is applied went on (behaviour.md U2, U5). As written into status.history.
namespace outcome {
inline constexpr std::string_view kApplying = "Applying";        // its objects are being sent
inline constexpr std::string_view kRollingOut = "RollingOut";    // its workloads are sent and not all healthy yet
inline constexpr std::string_view kSucceeded = "Succeeded";      // every object is applied and healthy
inline constexpr std::string_view kFailed = "Failed";            // not healthy within spec.rollout.timeout
inline constexpr std::string_view kRollingBack = "RollingBack";  // failed; the last good release is being applied again
inline constexpr std::string_view kRolledBack = "RolledBack";    // and it was
}  // namespace outcome

// One change of what is applied, or what became of it.
struct HistoryEntry {
  std::string version, contract, digest, time = {};  // digest of the release as applied; time of the outcome
  std::string outcome = {};                          // "" where an older writer left it: it succeeded
  std::string started = {};                          // RFC 3339; a restart of the operator doesn't give it more time
  std::string inputs = {};                           // digest of all inputs, as in ProviderStatus::applied
  std::string message = {};                          // of a failure
  // spec.version then, where spec.upgradePolicy has chosen the entry's (U13); "" where a person did. Cleared once
  // spec.version names what is installed.
  std::string instead_of = {};
  bool operator==(const HistoryEntry&) const = default;
};

// What has to come before an installed provider can go to another version. As written into status.availableUpgrades.
namespace need {
inline constexpr std::string_view kPause = "Pause";              // the contract changes: all providers are paused (C3)
inline constexpr std::string_view kCoreUpgrade = "CoreUpgrade";  // the core accepts the version's contract first (C1)
inline constexpr std::string_view kNearerVersion = "NearerVersion";  // it is too many minor versions away (C7)
}  // namespace need

// Why spec.upgradePolicy couldn't begin an upgrade (U13).
struct UpgradeRefusal {
  std::string inputs;        // digest of all inputs then: with others it is tried again at once
  std::string since, until;  // the last time; and when it is tried again
  std::string message = {};
  bool operator==(const UpgradeRefusal&) const = default;
};

// A newer version than the installed one (behaviour.md U12).
struct AvailableUpgrade {
  std::string version, contract;
  std::string needs = {};  // one of `need`; "" for nothing
  std::optional<UpgradeRefusal> refused = {};
  bool operator==(const AvailableUpgrade&) const = default;
};

// The last look for newer versions (U12).
struct UpdateCheck {
  std::string source;     // digest of where it looked: of another source nothing is known
  std::string time = {};  // when it ended; "" where there was none yet
  std::string next = {};  // the next one; "" where a change of the source tells
  bool operator==(const UpdateCheck&) const = default;
};

struct ProviderStatus {
  std::string contract, installed_version;
  // While spec.version isn't installed and its contract is known to differ (or the provider is to be unpaused): what
  // the others judge by (behaviour.md C3). A version without a contract: looked at, and it couldn't be told.
  std::string desired_version, desired_contract;
  std::int64_t observed_generation = 0;
  std::vector<kube::Condition> conditions;
  kube::StoredInventory inventory;                   // kube::Inventory's format; null when absent
  std::string applied;                               // digest of all inputs of the last full apply
  std::vector<HistoryEntry> history;                 // newest first, at most 10
  std::string source;                                // where the release came from: "github.com/owner/repo v1.2.3"
  std::string handled_reconcile_at;                  // value of the annotation reconcile-at that was acted on last (U8)
  std::vector<AvailableUpgrade> available_upgrades;  // ascending
  std::optional<UpdateCheck> update_check;
  bool operator==(const ProviderStatus&) const = default;
};

// One object of the seven kinds.
struct Provider {
  ProviderId id;
  std::string uid, resource_version;
  std::int64_t generation = 0;
  bool deleting = false;
  bool has_finalizer = false;
  std::string created;  // creationTimestamp
  std::map<std::string, std::string> annotations;
  ProviderSpec spec;
  ProviderStatus status;
};

// Lenient where the API server's schema is (unknown fields are ignored), kInvalidArgument with the field's path
// ("spec.fetchConfig.selector.matchExpressions[0].operator: ...") where a value can't be used. Never throws.
Result<Provider> ParseProvider(const kube::Object& object);
// Metadata and status alone, for an object whose spec doesn't parse: enough to report on it.
Provider ParseProviderMeta(const kube::Object& object);
Result<ProviderSpec> ParseSpec(const Json& spec, std::string_view own_namespace);
ProviderStatus ParseStatus(const Json& status);
Json StatusToJson(const ProviderStatus& status);

// "1h0m5s", "300ms" as Go's time.ParseDuration.
Result<Millis> ParseDuration(std::string_view text);
std::string FormatDuration(Millis duration);

}  // namespace capi::api
