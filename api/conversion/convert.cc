#include "api/conversion/convert.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "api/conversion/arguments.h"
#include "api/kinds.h"
#include "api/text.h"

namespace capi::api {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// The member of an object, where it is there.
Json* Member(Json& object, std::string_view name) {
  auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? nullptr : &*found;
}

// Takes a member out of an object; null where there is none.
Json Take(Json& object, std::string_view name) {
  Json* member = Member(object, name);
  if (member == nullptr) return nullptr;
  Json out = std::move(*member);
  object.erase(std::string(name));
  return out;
}

void Rename(Json& from, std::string_view name, Json& to, std::string_view new_name) {
  if (Json value = Take(from, name); !value.is_null()) to[std::string(new_name)] = std::move(value);
}

// spec and each of its additionalDeployments: what has a manager and a deployment, with its path.
template <typename Visit>
Status ForEachWorkload(Json& spec, const Visit& visit) {
  TRY(visit(spec, std::string("spec")));
  Json* more = Member(spec, "additionalDeployments");
  if (more == nullptr || !more->is_object()) return Ok();
  for (auto& [name, one] : more->items()) {
    if (one.is_object()) TRY(visit(one, fmt::format("spec.additionalDeployments[{}]", name)));
  }
  return Ok();
}

template <typename Visit>
Status ForEachContainer(Json& workload, const std::string& path, const Visit& visit) {
  Json* deployment = Member(workload, "deployment");
  if (deployment == nullptr) return Ok();
  for (std::string_view list : {"containers", "initContainers"}) {
    Json* containers = Member(*deployment, list);
    if (containers == nullptr || !containers->is_array()) continue;
    for (size_t i = 0; i < containers->size(); ++i) {
      Json& container = (*containers)[i];
      if (container.is_object()) TRY(visit(container, fmt::format("{}.deployment.{}[{}]", path, list, i)));
    }
  }
  return Ok();
}

// A number of seconds.
void DurationToText(Json& parent, std::string_view name) {
  if (Json* value = Member(parent, name); value != nullptr && value->is_number_integer()) *value = value->dump() + "s";
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

Status ManagerToNew(Json& workload, const std::string& path) {
  Json* manager = Member(workload, "manager");
  if (manager == nullptr || !manager->is_object()) return Ok();
  DurationToText(*manager, "syncPeriod");
  DurationToText(*manager, "gracefulShutDown");
  if (Json* election = Member(*manager, "leaderElection")) {
    for (std::string_view name : {"leaseDuration", "renewDeadline", "retryPeriod"}) DurationToText(*election, name);
  }
  if (Json* args = Member(*manager, "additionalArgs")) TRY(ArgumentsToNew(*args, path + ".manager.additionalArgs"));
  Json address = Take(*manager, "metricsAddress");
  if (address.is_null()) return Ok();
  Json& metrics = (*manager)["metrics"];
  if (!metrics.is_object()) metrics = Json::object();
  if (metrics.emplace("bindAddress", std::move(address)).second) return Ok();
  return Invalid(fmt::format("{}.manager.metricsAddress: is the same as metrics.bindAddress, which is set too", path));
}

Status WorkloadToNew(Json& workload, const std::string& path) {
  TRY(ManagerToNew(workload, path));
  return ForEachContainer(workload, path, [](Json& container, const std::string& at) -> Status {
    if (Json* args = Member(container, "args")) TRY(ArgumentsToNew(*args, at + ".args"));
    return ImageToNew(container, at);
  });
}

Result<Json> SpecToNew(Json spec) {
  Json secret = Json::object();
  Rename(spec, "secretName", secret, "name");
  Rename(spec, "secretNamespace", secret, "namespace");
  if (!secret.empty()) {
    if (!secret.contains("name")) secret["name"] = "";  // required; that it is missing validation says
    spec["configSecret"] = std::move(secret);
  }
  TRY(ForEachWorkload(spec, WorkloadToNew));
  return spec;
}

// Where an object has both forms, which is refused, the text is what is shown.
Result<Json> SpecToOld(Json spec) {
  Json secret = Take(spec, "configSecret");
  Rename(secret, "name", spec, "secretName");
  Rename(secret, "namespace", spec, "secretNamespace");
  (void)ForEachWorkload(spec, [](Json& workload, const std::string& path) {
    return ForEachContainer(workload, path, [](Json& container, const std::string&) {
      Rename(container, "imageUrl", container, "image");
      return Ok();
    });
  });
  return spec;
}

Json* Conditions(Json& object) {
  Json* status = Member(object, "status");
  Json* conditions = status != nullptr ? Member(*status, "conditions") : nullptr;
  return conditions != nullptr && conditions->is_array() ? conditions : nullptr;
}

// Every condition has a reason and a message in v1alpha2, and none a severity.
void StatusToNew(Json& object) {
  Json* conditions = Conditions(object);
  if (conditions == nullptr) return;
  for (Json& condition : *conditions) {
    if (!condition.is_object()) continue;
    condition.erase("severity");
    if (GetString(condition, {"reason"}).empty()) condition["reason"] = GetString(condition, {"type"});
    if (!condition.contains("message")) condition["message"] = "";
  }
}

// Who reads v1alpha1 expects a severity with each condition that is False.
void StatusToOld(Json& object) {
  Json* conditions = Conditions(object);
  if (conditions == nullptr) return;
  for (Json& condition : *conditions) {
    if (condition.is_object() && GetString(condition, {"status"}) == "False") condition["severity"] = "Error";
  }
}

// The JSON merge patch (RFC 7396) that makes `to` of `from`.
Json Difference(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Json out = Json::object();
  for (const auto& [name, value] : from.items()) {
    if (!to.contains(name)) out[name] = nullptr;
  }
  for (const auto& [name, value] : to.items()) {
    auto before = from.find(name);
    if (before == from.end()) {
      out[name] = value;
    } else if (*before != value) {
      out[name] = Difference(*before, value);
    }
  }
  return out;
}

// Takes the annotation out of an object; "" where there is none.
std::string TakeForm(Json& object, std::string_view name) {
  Json* annotations = Find(object, {"metadata", "annotations"});
  if (annotations == nullptr) return "";
  Json form = Take(*annotations, name);
  if (form.is_null()) return "";
  if (annotations->empty()) object["metadata"].erase("annotations");
  return form.is_string() ? form.get<std::string>() : "";
}

void KeepForm(Json& object, std::string_view name, const Json& patch) {
  Ensure(object, {"metadata", "annotations", name}) = ToJsonText(patch);
}

// `plain` as it was once written, where that still means `spec` in the other version; else nothing.
template <typename There>
std::optional<Json> AsWritten(const Json& spec, const Json& plain, const std::string& form, const There& there) {
  auto patch = ParseJson(form);
  if (!patch.ok() || !patch->is_object()) return std::nullopt;
  Json written = plain;
  written.merge_patch(*patch);
  Result<Json> means = there(written);
  if (!means.ok() || *means != spec) return std::nullopt;
  return written;
}

// The spec in the other version's words (`there`), as it was written where it came from there, with a note of how it is
// written here where the way back (`back`) wouldn't lead to it.
template <typename There, typename Back>
Status ConvertSpec(Json& object, std::string_view form_there, std::string_view form_here, const There& there,
                   const Back& back) {
  std::string form = TakeForm(object, form_here);
  TakeForm(object, form_there);  // of a copy of an object of the other version
  auto found = object.find("spec");
  if (found == object.end() || !found->is_object()) return Ok();
  const Json spec = *found;
  Json out = TRY(there(spec));
  if (auto written = AsWritten(spec, out, form, back)) out = *std::move(written);
  Result<Json> again = back(out);
  object["spec"] = std::move(out);
  if (again.ok() && *again != spec) KeepForm(object, form_there, Difference(*again, spec));
  return Ok();
}

}  // namespace

Result<Json> Convert(Json object, std::string_view to) {
  const std::string now = fmt::format("{}/{}", kGroup, kVersion), old = fmt::format("{}/{}", kGroup, kOldVersion);
  if (!object.is_object()) return Invalid("must be an object");
  std::string from = GetString(object, {"apiVersion"});
  for (std::string_view version : {std::string_view(from), to}) {
    if (version != now && version != old) {
      return Invalid(fmt::format("apiVersion: {}: only {} and {} can be converted", GoQuote(version), old, now));
    }
  }
  if (from == to) return object;
  if (to == now) {
    TRY(ConvertSpec(object, kAnnotationOldForm, kAnnotationNewForm, SpecToNew, SpecToOld));
    StatusToNew(object);
  } else {
    TRY(ConvertSpec(object, kAnnotationNewForm, kAnnotationOldForm, SpecToOld, SpecToNew));
    StatusToOld(object);
  }
  object["apiVersion"] = to;
  return object;
}

}  // namespace capi::api
