#include "api/validate/validate_workload.h"

#include <fmt/format.h>

#include "api/reasons.h"
#include "api/text.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"

namespace capi::api {
namespace {

using Kind = FieldError::Kind;
using Errors = std::vector<FieldError>;

constexpr std::uint64_t kMostPort = 65535;

void Invalid(const std::string& path, std::string value, std::string detail, Errors& out) {
  out.push_back({Kind::kInvalid, path, std::move(value), std::move(detail), reason::kInvalidSpec});
}

void Unsupported(const std::string& path, std::string value, std::string_view supported, Errors& out) {
  out.push_back({Kind::kUnsupported, path, std::move(value), fmt::format("supported values: {}", supported),
                 reason::kInvalidSpec});
}

void CheckAtLeast(std::optional<int> value, int least, const std::string& path, Errors& out) {
  if (!value || *value >= least) return;
  out.push_back({Kind::kInvalid, path, std::to_string(*value),
                 fmt::format("must be greater than or equal to {}", least), reason::kInvalidSpec});
}

// As Go's net.Listen takes it: a port's name the machine knows. "0" serves nothing.
void CheckAddress(const std::string& address, const std::string& path, Errors& out) {
  if (address.empty() || address == "0") return;
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    Invalid(path, address, "must be an address and a port, like \":8443\", or \"0\" for none", out);
    return;
  }
  const std::string port = address.substr(colon + 1);
  std::uint64_t number = 0;
  if (AllDigits(port) && (!ParseUint(port, number) || number > kMostPort)) {
    Invalid(path, address, "its port must be between 0 and 65535", out);
  }
}

void CheckPositive(std::optional<Millis> duration, const std::string& path, Errors& out) {
  if (duration && *duration <= Millis(0)) Invalid(path, FormatDuration(*duration), "must be greater than 0", out);
}

// A manager with other times ends as soon as it starts. One that elects nobody doesn't look at them. What isn't given
// here is the release's: the render compares with that.
void CheckLeaderElection(const LeaderElectionSpec& election, const std::string& path, Errors& out) {
  if (election.leader_elect && !*election.leader_elect) return;
  CheckPositive(election.lease_duration, path + ".leaseDuration", out);
  CheckPositive(election.renew_deadline, path + ".renewDeadline", out);
  CheckPositive(election.retry_period, path + ".retryPeriod", out);
  if (election.lease_duration && election.renew_deadline && *election.lease_duration <= *election.renew_deadline) {
    Invalid(path + ".leaseDuration", FormatDuration(*election.lease_duration), "must be greater than renewDeadline",
            out);
  }
  if (election.renew_deadline && election.retry_period && *election.renew_deadline * 5 <= *election.retry_period * 6) {
    Invalid(path + ".renewDeadline", FormatDuration(*election.renew_deadline),
            "must be greater than 1.2 times retryPeriod", out);
  }
}

void CheckContainer(const ContainerSpec& container, const std::string& path, Errors& out) {
  if (container.name.empty()) {
    out.push_back({Kind::kRequired, path + ".name", "", "name of the container", reason::kInvalidSpec});
  }
  if (container.image && container.image_parts) {
    out.push_back({Kind::kForbidden, path + ".image", "", "can't be set beside imageUrl", reason::kInvalidSpec});
  }
}

void CheckContainers(const std::vector<ContainerSpec>& containers, const std::string& path, Errors& out) {
  for (size_t i = 0; i < containers.size(); ++i) CheckContainer(containers[i], fmt::format("{}[{}]", path, i), out);
}

bool IsLabelValue(const std::string& value) {
  return kube::LabelSelector::FromJson({{"matchLabels", {{"key", value}}}}).ok();
}
bool IsLabelKey(const std::string& key) { return kube::LabelSelector::FromJson({{"matchLabels", {{key, ""}}}}).ok(); }

void CheckTolerationOperator(const Json& toleration, const std::string& path, Errors& out) {
  const std::string op = GetString(toleration, {"operator"}), value = GetString(toleration, {"value"});
  if (op == "Exists") {
    if (!value.empty()) Invalid(path + ".operator", value, "value must be empty when `operator` is 'Exists'", out);
  } else if (op.empty() || op == "Equal") {
    if (!IsLabelValue(value)) Invalid(path + ".operator", value, "value must be the value of a label", out);
  } else if (op != "Lt" && op != "Gt") {  // which the server knows, or doesn't
    Unsupported(path + ".operator", op, "\"Equal\", \"Exists\"", out);
  }
}

// The rules of Kubernetes' own validation of pods, with its paths. The CRD has none of them: it stores what the
// peer's stores.
void CheckToleration(const Json& toleration, const std::string& path, Errors& out) {
  const std::string key = GetString(toleration, {"key"}), op = GetString(toleration, {"operator"});
  const std::string effect = GetString(toleration, {"effect"});
  if (!key.empty() && !IsLabelKey(key)) Invalid(path + ".key", key, "must be the key of a label", out);
  if (key.empty() && op != "Exists") {
    Invalid(path + ".operator", op,
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"", out);
  }
  if (toleration.contains("tolerationSeconds") && effect != "NoExecute") {
    Invalid(path + ".effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set", out);
  }
  CheckTolerationOperator(toleration, path, out);
  if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
    Unsupported(path + ".effect", effect, "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"", out);
  }
}

void CheckTolerations(const std::optional<Json>& tolerations, const std::string& path, Errors& out) {
  if (!tolerations) return;
  for (size_t i = 0; i < tolerations->size(); ++i)
    CheckToleration((*tolerations)[i], fmt::format("{}[{}]", path, i), out);
}

}  // namespace

void CheckManager(const std::optional<ManagerSpec>& manager, const std::string& path, Errors& out) {
  if (!manager) return;
  CheckAtLeast(manager->verbosity, 0, path + ".verbosity", out);
  CheckAtLeast(manager->max_concurrent_reconciles, 0, path + ".maxConcurrentReconciles", out);
  if (manager->webhook_port && (*manager->webhook_port < 0 || *manager->webhook_port > static_cast<int>(kMostPort))) {
    Invalid(path + ".webhook.port", std::to_string(*manager->webhook_port), "must be between 0 and 65535", out);
  }
  CheckAddress(manager->metrics_bind_address, path + ".metrics.bindAddress", out);
  CheckAddress(manager->diagnostics_address, path + ".metrics.diagnosticsAddress", out);
  CheckAddress(manager->health_probe_bind_address, path + ".health.healthProbeBindAddress", out);
  CheckAddress(manager->profiler_address, path + ".profilerAddress", out);
  if (manager->leader_election) CheckLeaderElection(*manager->leader_election, path + ".leaderElection", out);
}

void CheckDeployment(const std::optional<DeploymentSpec>& deployment, const std::string& path, Errors& out) {
  if (!deployment) return;
  CheckAtLeast(deployment->replicas, 0, path + ".replicas", out);
  CheckTolerations(deployment->tolerations, path + ".tolerations", out);
  CheckContainers(deployment->containers, path + ".containers", out);
  CheckContainers(deployment->init_containers, path + ".initContainers", out);
}

}  // namespace capi::api
