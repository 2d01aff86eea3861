// A core provider of a few objects, whose CRD, pods and paths a test decides on.
#pragma once

#include <string>

#include "e2e/support/cluster.h"

namespace capi::e2e {

// Namespaced objects are in capi-system. A value.
struct TinyCore {
  std::string version;
  std::string crd_versions = "v1*";  // of kind Small; "v1*,v2": served, the one with a star is stored
  bool can_run = true;               // else no node fits
  bool needs_variable = false;       // NEW_VARIABLE
  std::string app = "small";         // label that the Deployment selects by
  std::string extra = "none";        // text in its ConfigMap

  std::string Metadata() const;
  std::string Components() const;
};

// As a ConfigMap that TinySource finds.
void StoreTiny(Cluster& cluster, const std::string& ns, const TinyCore& release);
Json TinySource();  // spec.fetchConfig

}  // namespace capi::e2e
