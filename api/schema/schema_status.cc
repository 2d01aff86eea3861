// status: what the operator reports.
#include "api/schema/schema.h"

namespace capi::api::schema {
namespace {

// Conditions that operators of the first version stored have a severity, and no reason where all is well.
Json OldCondition(Json condition) {
  condition["properties"]["severity"] = Text("How bad it is that status is False: Error, Warning or Info.");
  condition["required"] = {"lastTransitionTime", "status", "type"};
  return condition;
}

Json Conditions(ApiVersion version) {
  Json condition =
      Object("What is the case in one respect.",
             {{"type", With(Text("What it is about, like Ready; docs/reasons.md lists them."),
                            {{"maxLength", 316},
                             {"pattern", R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?)"
                                         R"((([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$)"}})},
              {"status",
               OneOf("Whether it holds: True, False, or Unknown while nobody can tell.", {"True", "False", "Unknown"})},
              {"reason",
               With(Text("Why, as one word; docs/reasons.md lists them."),
                    {{"minLength", 1}, {"maxLength", 1024}, {"pattern", "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"}})},
              {"message", With(Text("What is wrong and what to do, for people."), {{"maxLength", 32768}})},
              {"observedGeneration", With(Long("Generation of the object that was looked at."), {{"minimum", 0}})},
              {"lastTransitionTime", With(Text("When status changed last."), {{"format", "date-time"}})}},
             {"lastTransitionTime", "message", "reason", "status", "type"});
  if (version == ApiVersion::kV1Alpha1) condition = OldCondition(std::move(condition));
  return ListByKey("What is the case and what isn't, one condition each; Ready sums them up.", std::move(condition),
                   {"type"});
}

Json Inventory() {
  Json entry = With(Object("One object that was applied.",
                           {{"group", Text("API group; not set for the core group.")},
                            {"version", Text("API version at which it was applied.")},
                            {"kind", Text("Kind of the object.")},
                            {"namespace", Text("Namespace; not set for cluster-scoped kinds.")},
                            {"name", Text("Name of the object.")},
                            {"hash", Text("Digest of what was applied.")},
                            {"fields", Text("Digest of the operator's entry in its managedFields.")},
                            {"stale", Flag("The release no longer has it; it is removed once the new objects are "
                                           "healthy.")}}),
                    {{"x-kubernetes-preserve-unknown-fields", true}});
  return ListOf("Objects that the operator applied for this provider.", std::move(entry));
}

Json History() {
  Json entry = Object("One change of what is applied.",
                      {{"version", Text("Version of the release.")},
                       {"contract", Text("Cluster API contract of that version.")},
                       {"digest", Text("Digest of its components file.")},
                       {"time", Text("When the outcome was reached.")},
                       {"outcome", Text("What became of it: Applying, RollingOut, Succeeded, Failed, RollingBack or "
                                        "RolledBack; not set means Succeeded.")},
                       {"started", Text("When it began; spec.rollout.timeout counts from here.")},
                       {"inputs", Text("Digest of all inputs, as in applied.")},
                       {"message", Text("What was wrong, where it failed, or where its time is over and it is to "
                                        "be rolled back.")},
                       {"insteadOf", Text("What spec.version was when spec.upgradePolicy chose this version; not set "
                                          "where spec.version named it.")}});
  return ListOf(
      "Changes of what is applied, the newest first, at most ten; those that succeeded with the same release "
      "are one.",
      std::move(entry));
}

Json Refused() {
  return Object("Why spec.upgradePolicy couldn't begin this upgrade; the installed version runs on.",
                {{"inputs", Text("Digest of all inputs then: with others it is tried again at once.")},
                 {"since", Text("When it was refused last.")},
                 {"until", Text("When it is tried again.")},
                 {"message", Text("What is wrong.")}});
}

Json AvailableUpgrades() {
  Json entry = Object("One newer version.",
                      {{"version", Text("Version that could be installed.")},
                       {"contract", Text("Its Cluster API contract.")},
                       {"needs", Text("What has to come first: Pause (of all providers: the contract changes), "
                                      "CoreUpgrade (the core provider doesn't accept its contract) or NearerVersion "
                                      "(it is too many minor versions away); not set for nothing.")},
                       {"refused", Refused()}},
                      {"version"});
  return ListOf("Newer versions than the installed one that are known: the newest of each minor version.",
                std::move(entry));
}

Json UpdateCheck() {
  return Object("The last look for newer versions.", {{"source", Text("Digest of where it looked.")},
                                                      {"time", Text("When it ended; not set before the first one.")},
                                                      {"next", Text("When the next one is.")}});
}

}  // namespace

// The default is of no generation: whoever follows observedGeneration (kstatus) sees that nobody has looked at it yet.
Json Status(ApiVersion version) {
  Json status =
      Object("What the operator found and did; written by the operator alone.",
             {{"installedVersion", Text("Version that is installed.")},
              {"contract", Text("Cluster API contract of the installed version.")},
              {"desiredVersion", Text("Version whose contract desiredContract is; not set when it is installed.")},
              {"desiredContract",
               Text("Contract of spec.version while it waits to be installed: the other providers judge by it.")},
              {"observedGeneration",
               Long("Generation of the object that the status is about; -1 until the operator has looked at it.")},
              {"conditions", Conditions(version)},
              {"inventory", Inventory()},
              {"applied", Text("Digest of all inputs of the last complete apply.")},
              {"history", History()},
              {"source", Text("Where the installed release came from.")},
              {"handledReconcileAt", Text("Value of the annotation reconcile-at that was acted on last.")},
              {"availableUpgrades", AvailableUpgrades()},
              {"updateCheck", UpdateCheck()}});
  return With(std::move(status), {{"default", {{"observedGeneration", -1}}}});
}

}  // namespace capi::api::schema
