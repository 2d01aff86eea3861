// The difference of two states of an object, as `kubectl diff` prints it, with secrets masked. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/meta/object.h"

namespace capi::cli {

// Values that are never shown, wherever they stand: those of the Secret with a provider's variables. A value.
class MaskedValues {
 public:
  // As it is, each of its longer lines, in base64, and as the text or number that YAML makes of it. One or two
  // characters, and words like `true`, are no secrets, and stand everywhere.
  void Add(const std::string& value);
  // Whether it holds one of them.
  bool StandIn(const std::string& text) const;
  bool IsOne(const Json& number) const;
  // With "***" in their place.
  std::string Mask(std::string text) const;

 private:
  void AddForm(std::string_view form);

  std::vector<std::string> values_;  // the longest first
  std::vector<Json> numbers_;
};

// One object before and after; nullopt where it isn't there.
struct ObjectStates {
  kube::ObjectId id;
  std::string version;  // of its apiVersion
  std::optional<kube::Object> before, after;
};

// "apps.v1.Deployment.capi-system.capi-controller-manager".
std::string DiffName(const ObjectStates& states);

// "" for none. What the server alone writes (status, managedFields, generation, ...) isn't compared. The data of a
// Secret is "***", and where it differs "*** (before)" and "*** (after)".
std::string DiffOf(ObjectStates states, const MaskedValues& masked);

}  // namespace capi::cli
