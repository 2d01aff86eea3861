#include "cli/local_clusters/progress.h"

#include <fmt/format.h>

#include "api/kinds.h"
#include "base/strings.h"
#include "kube/meta/object_conditions.h"

namespace capi::cli::local_clusters {
namespace {

constexpr size_t kMostWords = 500;

bool IsTrue(const kube::Object& object, std::string_view type) { return kube::IsTrue(kube::Conditions(object), type); }

// What the contract v1beta2 has a status say, and a condition as well.
bool IsInitialized(const kube::Object& object, std::string_view member, std::string_view condition) {
  return GetBool(object.json(), {"status", "initialization", member}) || IsTrue(object, condition);
}

// What was said of an older spec says nothing of this one. A condition without a generation can't be told.
bool IsStale(const kube::Object& object, const kube::Condition& condition) {
  return condition.observed_generation > 0 && condition.observed_generation < object.generation();
}

std::string NotSeenYet(const kube::Object& object) {
  return Describe(object) + ": its controller hasn't seen its last change yet";
}

// "Cluster a/b: InfrastructureReady is ...".
std::string WaitsFor(const kube::Object& object, std::string_view type) {
  std::string words = ConditionWords(object, type);
  return fmt::format("{}: {} {}", Describe(object), type, words.empty() ? "isn't reported yet" : "is " + words);
}

std::string JoinWords(const std::string& reason, const std::string& message) {
  if (reason.empty() || message.empty()) return reason + message;
  return reason + ": " + message;
}

// A terminal failure of the contract v1beta1, which v1beta2 keeps among what is deprecated.
std::string FailureOf(const kube::Object& object) {
  const Json& json = object.json();
  std::string words =
      JoinWords(GetString(json, {"status", "failureReason"}), GetString(json, {"status", "failureMessage"}));
  if (!words.empty()) return words;
  return JoinWords(GetString(json, {"status", "deprecated", "v1beta1", "failureReason"}),
                   GetString(json, {"status", "deprecated", "v1beta1", "failureMessage"}));
}

// What is the same for all: a cluster that isn't there, or gets no further.
std::optional<Verdict> JudgeAtAll(const ClusterState& state, bool with_machines = true) {
  Verdict out;
  if (!state.cluster) {
    out.terminal = fmt::format("Cluster {}/{} isn't there", state.ns, state.name);
    return out;
  }
  out.terminal = TerminalOf(state, with_machines);
  return out.terminal.empty() ? std::nullopt : std::optional(out);
}

// Fewer machines than this object wants: in words; "" where it has them all.
std::string LacksMachines(const kube::Object& object) {
  const Json* wanted = Find(object.json(), {"spec", "replicas"});
  if (wanted == nullptr || !wanted->is_number_integer()) return "";
  const Json* status = Find(object.json(), {"status", "replicas"});
  const std::int64_t has = GetInt(object.json(), {"status", "replicas"});
  // What its controller has said of an older spec says nothing of this one.
  const std::int64_t now = object.generation();
  const bool current = GetInt(object.json(), {"status", "observedGeneration"}, now) >= now;
  if (!current) return NotSeenYet(object);
  if (status != nullptr && has >= wanted->get<std::int64_t>()) return "";
  return fmt::format("{}: {} of {} machines are there", Describe(object), has, wanted->get<std::int64_t>());
}

// Has this status, for this spec: "" in words, else what is waited for.
std::string LacksCondition(const kube::Object& object, const WantedCondition& wanted) {
  const std::vector<kube::Condition> conditions = kube::Conditions(object);
  const kube::Condition* found = kube::FindCondition(conditions, wanted.type);
  if (found == nullptr || found->status != wanted.status) return WaitsFor(object, wanted.type);
  return IsStale(object, *found) ? NotSeenYet(object) : "";
}

bool HasControlPlane(const kube::Object& cluster) {
  return Find(cluster.json(), {"spec", "controlPlaneRef"}) != nullptr ||
         Find(cluster.json(), {"spec", "topology"}) != nullptr;
}

}  // namespace

bool IsPaused(const kube::Object& object) {
  return GetBool(object.json(), {"spec", "paused"}) || object.has_annotation(api::kAnnotationPaused);
}

std::string Describe(const kube::Object& object) {
  if (object.ns().empty()) return fmt::format("{} {}", object.kind(), object.name());
  return fmt::format("{} {}/{}", object.kind(), object.ns(), object.name());
}

std::string ConditionWords(const kube::Object& object, std::string_view type) {
  const std::vector<kube::Condition> conditions = kube::Conditions(object);
  const kube::Condition* found = kube::FindCondition(conditions, type);
  if (found == nullptr) return "";
  std::string why = JoinWords(found->reason, found->message);
  return Shorten(why.empty() ? found->status : fmt::format("{}: {}", found->status, why), kMostWords);
}

Result<WantedCondition> ParseWantedCondition(const std::string& text) {
  size_t equals = text.find('=');
  WantedCondition out{text.substr(0, equals), equals == std::string::npos ? "True" : text.substr(equals + 1)};
  const bool known = out.status == "True" || out.status == "False" || out.status == "Unknown";
  if (!out.type.empty() && known) return out;
  return Error{
      Code::kInvalidArgument,
      fmt::format("--for {}: write CONDITION or CONDITION=STATUS, the status being True, False or Unknown", text),
      {}};
}

std::vector<std::string> FailedOf(const ClusterState& state) {
  std::vector<std::string> out;
  auto see = [&](const kube::Object& object) {
    if (!FailureOf(object).empty()) out.push_back(object.uid());
  };
  if (state.cluster) see(*state.cluster);
  for (const kube::Object& object : state.machines) see(object);
  for (const kube::Object& object : state.others) see(object);
  for (const kube::Object& object : state.makers) see(object);
  return out;
}

std::string TerminalOf(const ClusterState& state, bool with_machines) {
  if (!state.cluster) return "";
  const kube::Object& cluster = *state.cluster;
  if (cluster.deleting()) return fmt::format("{} is being deleted", Describe(cluster));
  if (std::string words = FailureOf(cluster); !words.empty() && !state.forgiven.contains(cluster.uid()))
    return fmt::format("{} has failed: {}", Describe(cluster), Shorten(words, kMostWords));
  for (const auto* objects : {&state.machines, &state.makers, &state.others}) {
    if (objects != &state.others && !with_machines) continue;
    for (const kube::Object& object : *objects) {
      if (object.deleting()) continue;  // somebody replaces it
      if (state.forgiven.contains(object.uid())) continue;
      std::string words = FailureOf(object);
      if (!words.empty()) return fmt::format("{} has failed: {}", Describe(object), Shorten(words, kMostWords));
    }
  }
  if (IsPaused(cluster))
    return fmt::format("{} is paused: nothing becomes of it until it is resumed", Describe(cluster));
  return "";
}

Verdict JudgeInfrastructure(const ClusterState& state) {
  if (auto ended = JudgeAtAll(state, false)) return *ended;
  Verdict out;
  out.done = IsInitialized(*state.cluster, "infrastructureProvisioned", "InfrastructureReady");
  if (!out.done) out.waits_for = WaitsFor(*state.cluster, "InfrastructureReady");
  return out;
}

Verdict JudgeMachines(const ClusterState& state) {
  if (auto ended = JudgeAtAll(state)) return *ended;
  Verdict out;
  if (HasControlPlane(*state.cluster) &&
      !IsInitialized(*state.cluster, "controlPlaneInitialized", "ControlPlaneInitialized"))
    out.waits_for = WaitsFor(*state.cluster, "ControlPlaneInitialized");
  for (const auto* objects : {&state.makers, &state.others}) {
    for (const kube::Object& object : *objects) {
      if (out.waits_for.empty()) out.waits_for = LacksMachines(object);
    }
  }
  if (out.waits_for.empty() && Find(state.cluster->json(), {"spec", "topology"}) != nullptr)
    out.waits_for = LacksCondition(*state.cluster, {"TopologyReconciled", "True"});
  for (const kube::Object& machine : state.machines) {
    if (!out.waits_for.empty()) break;
    // An older failure, which may go with its machine.
    if (std::string words = FailureOf(machine); !words.empty() && !machine.deleting())
      out.waits_for = fmt::format("{} has failed before: {}", Describe(machine), Shorten(words, kMostWords));
    if (!out.waits_for.empty()) break;
    if (!IsInitialized(machine, "infrastructureProvisioned", "InfrastructureReady"))
      out.waits_for = WaitsFor(machine, "InfrastructureReady");
  }
  out.done = out.waits_for.empty();
  return out;
}

Verdict JudgeCondition(const ClusterState& state, const WantedCondition& wanted) {
  // Somebody may wait for a pause, or for the deletion.
  if (!state.cluster) return *JudgeAtAll(state);
  Verdict out;
  out.waits_for = LacksCondition(*state.cluster, wanted);
  out.done = out.waits_for.empty();
  if (out.done) return out;
  if (auto ended = JudgeAtAll(state)) return *ended;
  return out;
}

}  // namespace capi::cli::local_clusters
