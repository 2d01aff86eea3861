#include "e2e/parity/exceptions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace capi::e2e {
namespace {

bool IsKind(const Json& object, std::string_view kind) { return GetString(object, {"kind"}) == kind; }

// Null, "", 0, false, and what has nothing else in it.
bool IsZero(const Json& value) {
  if (value.is_structured()) return std::all_of(value.begin(), value.end(), IsZero);
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || value == 0 || value == false;
}

// Removes a member that `ours` hasn't and that says nothing.
bool RemoveZero(Json* real, const Json* ours, const std::string& key) {
  if (real == nullptr || ours == nullptr || !real->contains(key) || ours->contains(key)) return false;
  return IsZero((*real)[key]) && real->erase(key) > 0;
}

// Adds a member of `ours` that says nothing.
bool AddZero(Json* real, const Json* ours, const std::string& key) {
  if (real == nullptr || ours == nullptr || real->contains(key) || !ours->contains(key)) return false;
  if (!IsZero((*ours)[key])) return false;
  (*real)[key] = (*ours)[key];
  return true;
}

// Calls `each` for the members of two lists of maps, side by side, and says whether one of the calls was true.
bool ForEachPair(Json* real, const Json* ours, const std::function<bool(Json&, const Json&)>& each) {
  if (real == nullptr || ours == nullptr || !real->is_array() || !ours->is_array()) return false;
  bool any = false;
  for (size_t i = 0; i < std::min(real->size(), ours->size()); ++i) any = each((*real)[i], (*ours)[i]) || any;
  return any;
}

bool ForEachContainer(Json& real, const Json& ours, const std::function<bool(Json&, const Json&)>& each) {
  bool any = false;
  for (std::string_view list : {"containers", "initContainers"}) {
    JsonPath path = {"spec", "template", "spec", list};
    any = ForEachPair(Find(real, path), Find(ours, path), each) || any;
  }
  return any;
}

bool AmendZeroValues(Json& real, const Json& ours) {
  if (IsKind(real, "CustomResourceDefinition")) {
    return AddZero(Find(real, {"spec"}), Find(ours, {"spec"}), "preserveUnknownFields");
  }
  return ForEachContainer(real, ours, [](Json& a, const Json& b) {
    return ForEachPair(Find(a, {"env"}), Find(b, {"env"}),
                       [](Json& x, const Json& y) { return AddZero(&x, &y, "value"); });
  });
}

bool AmendTimestamp(Json& real, const Json& ours) {
  return RemoveZero(Find(real, {"metadata"}), Find(ours, {"metadata"}), "creationTimestamp");
}

bool AmendScope(Json& real, const Json& ours) {
  Json* metadata = Find(real, {"metadata"});
  if (metadata == nullptr || !metadata->contains("namespace") || Find(ours, {"metadata", "namespace"}) != nullptr) {
    return false;
  }
  return metadata->erase("namespace") > 0;
}

// "1024Mi" as a number; below 0 for what is none.
double QuantityOf(const std::string& text) {
  static const std::pair<std::string_view, double> kUnits[] = {{"", 1},
                                                               {"m", 1e-3},
                                                               {"k", 1e3},
                                                               {"M", 1e6},
                                                               {"G", 1e9},
                                                               {"Ki", 1024},
                                                               {"Mi", 1024 * 1024},
                                                               {"Gi", 1 << 30},
                                                               {"Ti", 1024.0 * (1 << 30)}};
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  for (const auto& [unit, factor] : kUnits) {
    if (end != text.c_str() && unit == end) return number * factor;
  }
  return -1;
}

bool AmendQuantity(Json& real, const Json& ours) {
  if (real == ours) return false;
  auto text = [](const Json& value) { return value.is_string() ? value.get<std::string>() : ToJsonText(value); };
  double number = QuantityOf(text(real));
  if (number < 0 || number != QuantityOf(text(ours))) return false;
  real = ours;
  return true;
}

bool AmendQuantities(Json& real, const Json& ours) {
  return ForEachContainer(real, ours, [](Json& a, const Json& b) {
    bool any = false;
    for (std::string_view list : {"limits", "requests"}) {
      Json* quantities = Find(a, {"resources", list});
      if (quantities == nullptr || !quantities->is_object()) continue;
      for (auto& [name, value] : quantities->items()) {
        const Json* other = Find(b, {"resources", list, name});
        any = (other != nullptr && AmendQuantity(value, *other)) || any;
      }
    }
    return any;
  });
}

bool RefusesContract(const Printed& real) {
  return real.error.starts_with("current version of clusterctl is only compatible with provider implementing");
}

bool IsOldContract(const Printed& real, const Printed& ours, Mode) {
  return RefusesContract(real) && ours.exit_code == 0 && ours.notes.find("old contract") != ours.notes.npos;
}

bool FailsToDecode(const Printed& real) {
  return real.error.find("unable to convert unstructured object to") != real.error.npos;
}

bool HasWrongTypes(const Printed& real, const Printed& ours, Mode) {
  return FailsToDecode(real) && ours.exit_code == 0;
}

bool HasTwoNamespaces(const Printed& real, const Printed& ours, Mode) {
  return RefusesContract(real) && ours.exit_code == real.exit_code &&
         ours.error.find("no more than one resource with Kind Namespace") != ours.error.npos;
}

// The real one prints it in the kinds that it doesn't decode. There only values that are unlike the default can be the
// reason: what a release makes of its own defaults the API server would have refused to its vendor.
bool ChangesAType(const Printed& real, const Printed& ours, Mode mode) {
  bool by_values = mode == Mode::kAll && real.exit_code == 0;
  return ours.exit_code != 0 && ours.error.find(", and it has to be ") != ours.error.npos &&
         (FailsToDecode(real) || by_values);
}

// Group, kind, namespace and name.
std::string IdentityOf(const Json& object) {
  const std::string version = GetString(object, {"apiVersion"});
  const std::string group = version.find('/') == version.npos ? "" : version.substr(0, version.find('/'));
  return fmt::format("{} {} {} {}", group, GetString(object, {"kind"}), GetString(object, {"metadata", "namespace"}),
                     GetString(object, {"metadata", "name"}));
}

bool PrintsOneTwice(const Printed& real) {
  std::set<std::string> seen;
  return std::any_of(real.objects.begin(), real.objects.end(),
                     [&](const Json& object) { return !seen.insert(IdentityOf(object)).second; });
}

bool HasDuplicates(const Printed& real, const Printed& ours, Mode) {
  return ours.exit_code != 0 && ours.error.find("two objects would be one") != ours.error.npos &&
         (PrintsOneTwice(real) || RefusesContract(real));
}

constexpr ParityException kExceptions[] = {
    {.name = "zero-values",
     .real = "drops what is empty, zero or false from these kinds; in real releases, `preserveUnknownFields: false` of "
             "CRDs and `value: \"\"` of environment variables",
     .ours = "prints what the release has",
     .why = "Left out they mean the same; but a field that is applied is owned, and stays as the release wants it.",
     .amend = AmendZeroValues},
    {.name = "quantities",
     .real = "writes quantities in their shortest form: `1000m` becomes `1`",
     .ours = "prints them as the release has them",
     .why = "The same amount; nothing is gained by rewriting it.",
     .amend = AmendQuantities},
    {.name = "creation-timestamp",
     .real = "prints `creationTimestamp: null` where the release has it, except for the kinds that it decodes",
     .ours = "drops it everywhere",
     .why =
         "Old kustomize and controller-gen wrote it; it is no wish of anybody's, and server-side apply would own it.",
     .amend = AmendTimestamp},
    {.name = "cluster-scoped",
     .real = "knows 16 kinds without a namespace by name, gives one to all others, and leaves one that these have",
     .ours = "knows the built-in kinds, cert-manager's, and those of the CRDs that the release brings, all by group "
             "and kind; none has a namespace",
     .why = "The object is in no namespace; what looks it up by namespace and name doesn't find it.",
     .amend = AmendScope},
    {.name = "unknown-fields",
     .real = "drops from Deployments, DaemonSets, CRDs, bindings and webhook configurations what its Kubernetes "
             "libraries don't know",
     .ours = "prints what the release has",
     .why = "The API server knows which fields it has; a newer one has more. In no real release so far."},
    {.name = "wrong-types",
     .real = "refuses a release where a field of these kinds has another type than Go's structures, or a number is too "
             "large",
     .ours = "prints what the release has",
     .why = "The API server checks types, and names all that are wrong. In no real release so far.",
     .fails = HasWrongTypes},
    {.name = "old-contract",
     .real = "refuses a release whose contract is not v1beta1 or v1beta2",
     .ours = "renders it, and warns",
     .why = "The operator installs contracts v1alpha3 and v1alpha4 beside a core that accepts them (C1).",
     .fails = IsOldContract},
    {.name = "two-namespaces",
     .real = "refuses the release for its contract before it looks into it",
     .ours = "refuses it since it has two Namespace objects (I8)",
     .why = "One namespace for both would lose a Deployment; the real one has the same rule, but gets there later.",
     .fails = HasTwoNamespaces},
    {.name = "duplicates",
     .real = "prints two objects of one identity one behind the other, or refuses the release for its contract",
     .ours = "refuses them, and names the places of both (I8)",
     .why = "Applied, the second would overwrite the first: v1alpha3's managers and webhooks were in two namespaces.",
     .fails = HasDuplicates},
    {.name = "changed-type",
     .real =
         "refuses the value of a variable that makes a boolean or number of a text, in Go's words, in the kinds that "
         "it decodes; in others it prints it",
     .ours = "refuses it with the variable's name and the field's path, in ConfigMaps, Secrets and more kinds too",
     .why = "The API server takes neither. It is the variable that has to be changed.",
     .fails = ChangesAType},
    {.name = "lists",
     .real = "prints an object of kind `List` as it is",
     .ours = "prints its items",
     .why = "In a List they would get no namespace and no labels. In no real release so far."},
    {.name = "api-services",
     .real = "leaves the namespace of an APIService's service as it is",
     .ours = "moves it with the rest",
     .why = "The server behind it is in the target namespace. In no real release so far."},
};

}  // namespace

void DropEmptyParts(Json& real, const Json& ours) {
  if (IsKind(real, "CustomResourceDefinition")) RemoveZero(&real, &ours, "status");
  ForEachPair(Find(real, {"webhooks"}), Find(ours, {"webhooks"}), [](Json& a, const Json& b) {
    bool versions = RemoveZero(&a, &b, "admissionReviewVersions");
    return RemoveZero(&a, &b, "sideEffects") || versions;
  });
  if (!IsKind(real, "Deployment") && !IsKind(real, "DaemonSet")) return;
  RemoveZero(&real, &ours, "status");
  RemoveZero(Find(real, {"spec"}), Find(ours, {"spec"}), "strategy");
  RemoveZero(Find(real, {"spec"}), Find(ours, {"spec"}), "updateStrategy");
  RemoveZero(Find(real, {"spec", "template"}), Find(ours, {"spec", "template"}), "metadata");
  ForEachContainer(real, ours, [](Json& a, const Json& b) { return RemoveZero(&a, &b, "resources"); });
}

std::span<const ParityException> ParityExceptions() { return kExceptions; }

}  // namespace capi::e2e
