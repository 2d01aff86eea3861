#include "api/conversion/spec.h"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>

#include "api/conversion/arguments.h"
#include "api/conversion/members.h"

namespace capi::api {
namespace {

constexpr std::string_view kContainerLists[] = {"containers", "initContainers"};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

void Rename(Json& from, std::string_view name, Json& to, std::string_view new_name) {
  if (Json value = Take(from, name); !value.is_null()) to[std::string(new_name)] = std::move(value);
}

// Part of a spec, that of the kept form, and where it is.
using Visit = std::function<Status(Json& part, const Json& kept, const std::string& path)>;

// spec and each of its additionalDeployments: what has a manager and a deployment.
Status ForEachWorkload(Json& spec, const Json& kept, const Visit& visit) {
  TRY(visit(spec, kept, "spec"));
  Json* more = Member(spec, "additionalDeployments");
  if (more == nullptr || !more->is_object()) return Ok();
  const Json& kept_more = Part(kept, "additionalDeployments");
  for (auto& [name, one] : more->items()) {
    if (one.is_object()) TRY(visit(one, Part(kept_more, name), fmt::format("spec.additionalDeployments[{}]", name)));
  }
  return Ok();
}

Status ForEachContainer(Json& workload, const Json& kept, const std::string& path, const Visit& visit) {
  Json* deployment = Member(workload, "deployment");
  if (deployment == nullptr) return Ok();
  for (std::string_view list : kContainerLists) {
    Json* containers = Member(*deployment, list);
    if (containers == nullptr || !containers->is_array()) continue;
    const Json& kept_list = Part(Part(kept, "deployment"), list);
    for (size_t i = 0; i < containers->size(); ++i) {
      Json& container = (*containers)[i];
      if (!container.is_object()) continue;
      const Json& kept_one = Part(kept_list, GetString(container, {"name"}));
      TRY(visit(container, kept_one, fmt::format("{}.deployment.{}[{}]", path, list, i)));
    }
  }
  return Ok();
}

// The fields of a manager that may be a number of seconds in v1alpha1.
void ForEachDuration(Json& manager, const Json& kept, void (*visit)(Json& value, const Json& kept)) {
  auto all_of = [visit](Json& parent, const Json& kept_parent, std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) {
      if (Json* value = Member(parent, name)) visit(*value, Part(kept_parent, name));
    }
  };
  all_of(manager, kept, {"syncPeriod", "gracefulShutDown"});
  if (Json* election = Member(manager, "leaderElection")) {
    all_of(*election, Part(kept, "leaderElection"), {"leaseDuration", "renewDeadline", "retryPeriod"});
  }
}

bool IsSeconds(const Json& value) { return value.is_number_integer(); }
std::string SecondsText(const Json& value) { return value.dump() + "s"; }

void DurationToNew(Json& value, const Json&) {
  if (IsSeconds(value)) value = SecondsText(value);
}

void DurationToOld(Json& value, const Json& kept) {
  if (IsSeconds(kept) && value == SecondsText(kept)) value = kept;
}

Status ImageToNew(Json& container, const std::string& path) {
  Json* image = Member(container, "image");
  if (image == nullptr) return Ok();
  if (image->is_string()) {
    Rename(container, "image", container, "imageUrl");
    return Ok();
  }
  if (!image->is_object()) return Invalid(fmt::format("{}.image: must be a text or an object", path));
  for (const auto& [part, value] : image->items()) {
    bool known = part == "repository" || part == "name" || part == "tag";
    if (!known) return Invalid(fmt::format("{}.image.{}: unknown field", path, part));
    if (!value.is_string()) return Invalid(fmt::format("{}.image.{}: must be a text", path, part));
  }
  return Ok();
}

Status ManagerToNew(Json& manager, const Json& kept, const std::string& path) {
  ForEachDuration(manager, kept, DurationToNew);
  if (Json* args = Member(manager, "additionalArgs")) {
    TRY(ArgumentsToNew(*args, Part(kept, "additionalArgs"), path + ".additionalArgs"));
  }
  Json address = Take(manager, "metricsAddress");
  if (address.is_null()) return Ok();
  Json& metrics = manager["metrics"];
  if (!metrics.is_object()) metrics = Json::object();
  if (metrics.emplace("bindAddress", std::move(address)).second) return Ok();
  return Invalid(path + ".metricsAddress: is the same as metrics.bindAddress, which is set too");
}

// An address that was given as metricsAddress still has that name, also when it was changed.
void MetricsToOld(Json& manager, const Json& kept) {
  Json* metrics = Member(manager, "metrics");
  if (metrics == nullptr || !metrics->contains("bindAddress") || !Part(kept, "metricsAddress").is_string()) return;
  Rename(*metrics, "bindAddress", manager, "metricsAddress");
  if (metrics->empty() && !Part(kept, "metrics").is_object()) manager.erase("metrics");
}

Status WorkloadToNew(Json& workload, const Json& kept, const std::string& path) {
  if (Json* manager = Member(workload, "manager"); manager != nullptr && manager->is_object()) {
    TRY(ManagerToNew(*manager, Part(kept, "manager"), path + ".manager"));
  }
  return ForEachContainer(workload, kept, path,
                          [](Json& container, const Json& kept_one, const std::string& at) -> Status {
                            if (Json* args = Member(container, "args")) {
                              TRY(ArgumentsToNew(*args, Part(kept_one, "args"), at + ".args"));
                            }
                            return ImageToNew(container, at);
                          });
}

// Where a container has both forms of the image, which is refused, the text is what is shown.
Status WorkloadToOld(Json& workload, const Json& kept, const std::string& path) {
  if (Json* manager = Member(workload, "manager"); manager != nullptr && manager->is_object()) {
    const Json& kept_manager = Part(kept, "manager");
    ForEachDuration(*manager, kept_manager, DurationToOld);
    if (Json* args = Member(*manager, "additionalArgs")) ArgumentsToOld(*args, Part(kept_manager, "additionalArgs"));
    MetricsToOld(*manager, kept_manager);
  }
  return ForEachContainer(workload, kept, path, [](Json& container, const Json& kept_one, const std::string&) {
    if (Json* args = Member(container, "args")) ArgumentsToOld(*args, Part(kept_one, "args"));
    Rename(container, "imageUrl", container, "image");
    return Ok();
  });
}

bool IsEmptyText(const Json& value) { return value.is_string() && value.get_ref<const std::string&>().empty(); }

// An empty text names no Secret, so it doesn't go into the other version; the kept form says that it was there.
void RenameText(Json& from, std::string_view name, Json& to, std::string_view new_name) {
  if (Json value = Take(from, name); !value.is_null() && !IsEmptyText(value))
    to[std::string(new_name)] = std::move(value);
}

void RestoreEmptyText(Json& object, const Json& kept, std::string_view name) {
  if (IsEmptyText(Part(kept, name))) object.emplace(name, "");
}

}  // namespace

Result<Json> SpecToNew(Json spec, const Json& kept) {
  Json secret = Json::object();
  RenameText(spec, "secretName", secret, "name");
  RenameText(spec, "secretNamespace", secret, "namespace");
  const Json& kept_secret = Part(kept, "configSecret");
  RestoreEmptyText(secret, kept_secret, "name");
  if (!secret.empty()) {
    RestoreEmptyText(secret, kept_secret, "namespace");
    secret.emplace("name", "");  // required; that it is missing validation says
    spec["configSecret"] = std::move(secret);
  }
  TRY(ForEachWorkload(spec, kept, WorkloadToNew));
  return spec;
}

Result<Json> SpecToOld(Json spec, const Json& kept) {
  Json secret = Take(spec, "configSecret");
  RenameText(secret, "name", spec, "secretName");
  RenameText(secret, "namespace", spec, "secretNamespace");
  RestoreEmptyText(spec, kept, "secretName");
  RestoreEmptyText(spec, kept, "secretNamespace");
  TRY(ForEachWorkload(spec, kept, WorkloadToOld));
  return spec;
}

Json SpecWithoutArguments(Json spec) {
  (void)ForEachWorkload(spec, {}, [](Json& workload, const Json&, const std::string& path) {
    if (Json* manager = Member(workload, "manager")) Take(*manager, "additionalArgs");
    return ForEachContainer(workload, {}, path, [](Json& container, const Json&, const std::string&) {
      Take(container, "args");
      return Ok();
    });
  });
  return spec;
}

}  // namespace capi::api
