// The cases in which this operator and the peer (kubernetes-sigs/cluster-api-operator) are compared:
// e2e/peer/cases.yaml, each with a provider of its own, and what the API server then has.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "e2e/support/cluster.h"

namespace capi::e2e {

// One entry of cases.yaml. A value.
struct PeerCase {
  size_t number = 0;
  std::string field;
  Json spec;
  std::string manifests;
  std::map<std::string, std::string> secret;
  bool unordered = false;
  bool whole = false;

  bool differs = false;
  std::string rule, why, reason;
  Json change;

  std::string name() const;                     // of the provider: "in-cluster-017"
  std::string ns() const;                       // "capi-ipam-in-cluster-017-system"
  std::string input() const;                    // digest of all that the peer is given
  std::string Own(std::string text) const;      // with this case's name for "ipam-in-cluster"
  std::string Neutral(std::string text) const;  // and back
};
std::vector<PeerCase> ReadPeerCases();

// Waits for the core's Deployment and plays its pods, so that others go on.
void InstallPeerCore(Cluster& cluster);
// Namespace, release, ConfigMap, Secret, and then the provider.
void Install(Cluster& cluster, const PeerCase& c);

// What became of it: {"objects": {"KIND NAME": object}} without what the API server adds, or {"reason": REASON} of the
// condition that says why not. Owners are left with their kind alone.
using Outcomes = std::map<std::string, Json>;
// Waits until all have settled.
Outcomes AwaitOutcomes(Cluster& cluster, const std::vector<PeerCase>& cases, Millis timeout);

}  // namespace capi::e2e
