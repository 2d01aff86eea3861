#include "api/conversion/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "api/conversion/members.h"
#include "api/conversion/spec.h"
#include "api/kinds.h"
#include "api/reasons.h"
#include "api/text.h"

namespace capi::api {
namespace {

// Bytes of all names and values of an object's annotations that API servers take (apimachinery,
// TotalAnnotationSizeLimit).
constexpr size_t kMostAnnotations = 256u << 10;

// Of the other conditions False is how things should be, or that the operator is at work.
constexpr std::string_view kBadWhenFalse[] = {condition::kPreflightCheckPassed, condition::kProviderInstalled,
                                              condition::kProviderUpgraded, condition::kReady,
                                              condition::kContractCompatible};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

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
std::string_view SeverityOfFalse(const std::string& type) {
  for (std::string_view bad : kBadWhenFalse) {
    if (type == bad) return "Error";
  }
  return "Info";
}

void StatusToOld(Json& object) {
  Json* conditions = Conditions(object);
  if (conditions == nullptr) return;
  for (Json& condition : *conditions) {
    if (!condition.is_object() || GetString(condition, {"status"}) != "False") continue;
    condition["severity"] = SeverityOfFalse(GetString(condition, {"type"}));
  }
}

// Whether two lists have the same items by name, in the same order.
bool SameNames(const Json& a, const Json& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Json& one, const Json& other) {
    return Part(one, "name").is_string() && Part(one, "name") == Part(other, "name");
  });
}

// The JSON merge patch (RFC 7396) that makes `to` of `from`, except that a list of which items alone differ is an
// object of their patches by name.
Json Difference(const Json& from, const Json& to) {
  if (from.is_array() && to.is_array() && SameNames(from, to)) {
    Json out = Json::object();
    for (size_t i = 0; i < to.size(); ++i) {
      if (from[i] != to[i]) out[GetString(to[i], {"name"})] = Difference(from[i], to[i]);
    }
    return out;
  }
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

// Takes the annotation out of an object; null where there is none that can be read.
Json TakeForm(Json& object, std::string_view name) {
  Json* annotations = Find(object, {"metadata", "annotations"});
  if (annotations == nullptr) return nullptr;
  Json form = Take(*annotations, name);
  if (form.is_null()) return nullptr;
  if (annotations->empty()) object["metadata"].erase("annotations");
  auto parsed = ParseJson(form.is_string() ? form.get_ref<const std::string&>() : "");
  return parsed.ok() ? *std::move(parsed) : nullptr;
}

size_t SizeOf(const Json* annotations) {
  size_t size = 0;
  if (annotations == nullptr || !annotations->is_object()) return size;
  for (const auto& [name, value] : annotations->items()) {
    size += name.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
  }
  return size;
}

// A note for which there is no room isn't kept: the API server would refuse the converted object, and with it each list
// that has it.
void KeepForm(Json& object, std::string_view name, const Json& patch) {
  std::string note = ToJsonText(patch);
  if (SizeOf(Find(object, {"metadata", "annotations"})) + name.size() + note.size() > kMostAnnotations) return;
  Ensure(object, {"metadata", "annotations", name}) = std::move(note);
}

using SpecTo = Result<Json> (*)(Json spec, const Json& kept);

// The spec in the other version's words (`there`), as it was written where it came from there, with a note of how it is
// written here where the way back (`back`) wouldn't lead to it.
Status ConvertSpec(Json& object, std::string_view form_there, std::string_view form_here, SpecTo there, SpecTo back) {
  const Json kept = TakeForm(object, form_here);
  TakeForm(object, form_there);  // of a copy of an object of the other version
  auto found = object.find("spec");
  if (found == object.end() || !found->is_object()) return Ok();
  const Json spec = *found;
  Json out = TRY(there(spec, kept));
  Result<Json> again = back(out, {});
  // Two arguments whose names are one in the other version: all arguments are noted then.
  if (!again.ok()) again = back(SpecWithoutArguments(out), {});
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
