// How far a workload cluster is, and whether it can still get there, by what its objects say of themselves. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/meta/object.h"

namespace capi::cli::local_clusters {

// What was read of one Cluster. A value.
struct ClusterState {
  std::string ns, name;
  std::optional<kube::Object> cluster;    // nullopt: it isn't there
  std::vector<kube::Object> machines;     // all of it
  std::vector<kube::Object> others;       // of its manifests, as they are now
  std::vector<kube::Object> makers = {};  // what makes its machines, whatever made that
  std::set<std::string> forgiven = {};    // uids of those whose failures are older than what was changed since
};

// A value.
struct Verdict {
  bool done = false;
  std::string waits_for;  // where not done: "Cluster a/b: InfrastructureReady is False: WaitingFor...: ..."
  std::string terminal;   // why it never will be done by itself; "" where it may
};

// A condition that has to have a status ("True"). A value.
struct WantedCondition {
  std::string type = "Available", status = "True";
};
// "Available", "Available=True", "Paused=False". kInvalidArgument for anything else.
Result<WantedCondition> ParseWantedCondition(const std::string& text);

// Its infrastructure is provisioned.
Verdict JudgeInfrastructure(const ClusterState& state);
// Its control plane is initialized, where it has one; all machines that are wanted are there, each with its
// infrastructure.
Verdict JudgeMachines(const ClusterState& state);
// The Cluster has the condition with that status, of its last change where the condition says of which it is.
Verdict JudgeCondition(const ClusterState& state, const WantedCondition& wanted);

// Why nothing more becomes of it by itself: it is being deleted, is paused, or an object reports a terminal failure
// (failureReason or failureMessage, which Cluster API calls terminal); `with_machines`: or a Machine does, or what
// makes them. "" for none.
std::string TerminalOf(const ClusterState& state, bool with_machines = true);
// The uids of all that report such a failure.
std::vector<std::string> FailedOf(const ClusterState& state);

// By its spec.paused, or by the annotation of that name: its controllers do nothing then.
bool IsPaused(const kube::Object& object);

// "Machine ns/name".
std::string Describe(const kube::Object& object);
// "False: Reason: message" of a condition, "" where there is none.
std::string ConditionWords(const kube::Object& object, std::string_view type);

}  // namespace capi::cli::local_clusters
