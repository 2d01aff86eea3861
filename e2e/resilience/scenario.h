// Scenarios of providers in phases, run over and over with an operator that is disturbed in different ways.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "e2e/support/cluster.h"
#include "e2e/support/snapshot.h"

namespace capi::e2e {

// What the user does, and what the world then comes to.
struct Phase {
  std::string name;
  std::function<void()> begin;
  std::function<bool()> over;
};

// Ends as it began: with nothing but the Namespaces and the stored releases that its making made.
struct Scenario {
  std::string name;
  std::vector<Managed> providers;
  std::vector<Phase> phases;
  std::function<bool(const kube::ObjectId&)> objects;  // that it is about

  Scope OfTheReleases() const;                   // its objects of the kinds that providers bring
  Scope OfAllKinds() const;                      // all of its objects, except for what stays when a provider has gone
  std::string Describe(Cluster& cluster) const;  // its providers' conditions
};

// A core of six objects in Namespace `ns`: install, upgrade with another storage version, drift, a version whose pods
// never come up and that is rolled back, delete.
Scenario SmallScenario(Cluster& cluster, const std::string& ns);

// Such a core with a policy (U13): install, a patch that the policy installs, a minor version that it goes to and whose
// pods never come up, delete.
Scenario PolicyScenario(Cluster& cluster, const std::string& ns);

// Two such providers, core and infrastructure: install, contract change (C3, C4), end of the pause, delete.
Scenario ContractScenario(Cluster& cluster, const std::string& ns);

// Core, kubeadm's two and docker: install, upgrade, rollback, delete. For the rollback the cluster's nodes are closed,
// so no other scenario can go on meanwhile.
Scenario RealScenario(Cluster& cluster);
std::string MissingForRealScenario();  // as MissingReleases

// The same four, docker from the contract change on: install, contract change, end of the pause, delete.
Scenario RealContractScenario(Cluster& cluster);
std::string MissingForRealContractScenario();

}  // namespace capi::e2e
