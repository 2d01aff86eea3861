// Which flags Cluster API's own managers have, by provider and version (behaviour.md I9a). A flag that a manager
// doesn't know ends its process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "api/version.h"

namespace capi::templating {

// The managers of one provider from a version on. Lists have a space between their items. A value.
struct KnownManager {
  std::string_view provider;  // manifest label: "bootstrap-kubeadm"
  std::uint64_t major, minor;
  std::string_view flags;          // that spec.manager may become, without dashes
  std::string_view controllers;    // each has a flag --<controller>-concurrency
  std::string_view feature_gates;  // "" where they are not known

  bool HasFlag(std::string_view flag) const;  // with or without dashes, --<controller>-concurrency too
  bool LacksGate(std::string_view gate) const;
};

// The row for this version or the newest older one, whose gates are then not known; nullopt for other providers and for
// versions before contract v1alpha4.
std::optional<KnownManager> FindKnownManager(api::ProviderType type, std::string_view name,
                                             const api::Version& version);

// Items of one of its lists.
std::vector<std::string> Items(std::string_view list);

}  // namespace capi::templating
