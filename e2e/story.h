// Stories of providers in chapters, to be told over and over with an operator that is disturbed in different ways.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "e2e/cluster.h"
#include "e2e/snapshot.h"

namespace capi::e2e {

// What the user does, and what the world then comes to.
struct Chapter {
  std::string name;
  std::function<void()> begin;
  std::function<bool()> over;
};

// Ends as it began: with nothing but the Namespaces and the stored releases that its making made.
struct Story {
  std::string name;
  std::vector<Managed> providers;
  std::vector<Chapter> chapters;
  std::function<bool(const kube::ObjectId&)> objects;  // that it is about

  Scope OfTheReleases() const;                   // its objects of the kinds that providers bring
  Scope OfAllKinds() const;                      // all of its objects, but for what stays when a provider has gone
  std::string Describe(Cluster& cluster) const;  // its providers' conditions
};

// A core of six objects in Namespace `ns`: install, upgrade with another storage version, drift, a version whose pods
// never come up and that is rolled back, delete.
Story SmallStory(Cluster& cluster, const std::string& ns);

// Two such providers, core and infrastructure: install, contract change (C3, C4), end of the pause, delete.
Story ContractStory(Cluster& cluster, const std::string& ns);

// Core, kubeadm's two and docker: install, upgrade, rollback, delete. For the rollback the cluster's nodes are closed,
// so no other story can go on meanwhile.
Story RealStory(Cluster& cluster);
std::string MissingForRealStory();  // as MissingReleases

// The same four, docker from the contract change on: install, contract change, end of the pause, delete.
Story RealContractStory(Cluster& cluster);
std::string MissingForRealContractStory();

}  // namespace capi::e2e
