// Which flags Cluster API's own managers have, by provider and version (behaviour.md I9a). A flag that a manager
// doesn't know ends its process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "api/version.h"

namespace capi::templating {

// What is known of one provider's manager at one version. A value.
class KnownManager {
 public:
  std::string_view provider() const { return provider_; }  // manifest label: "bootstrap-kubeadm"

  // The sources of this very version, or of an older and a newer one of its series that agree, were read: what isn't in
  // them is surely missing. Else it is the nearest series that tells, and may be wrong.
  bool verified() const { return verified_; }
  std::string Source() const;  // "v1.12": the series that tells

  bool HasFlag(std::string_view flag) const;  // with or without dashes
  // Feature gates are those of Cluster API's core, which all four are built from.
  bool HasGate(std::string_view gate) const;
  // Those that say how many objects of one kind are worked on at once: "--machine-concurrency".
  std::vector<std::string> ConcurrencyFlags() const;

 private:
  friend std::optional<KnownManager> FindKnownManager(api::ProviderType type, std::string_view name,
                                                      const api::Version& version);
  using Series = std::pair<std::uint64_t, std::uint64_t>;  // major, minor

  std::string_view provider_;
  Series series_ = {0, 0};
  bool verified_ = false;
};

// Of a series that wasn't read, the newest older one tells; nullopt for other providers and for versions before
// contract v1alpha4.
std::optional<KnownManager> FindKnownManager(api::ProviderType type, std::string_view name,
                                             const api::Version& version);

}  // namespace capi::templating
