// A real Cluster with control plane and workers, whose machines live in the docker provider's memory alone.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "e2e/support/cluster.h"

namespace capi::e2e {

// Thread-compatible. Its objects are in namespace "default", and made at v1beta1, which all releases from v1.1 on take.
class WorkloadCluster {
 public:
  WorkloadCluster(Cluster& cluster, std::string name) : cluster_(cluster), name_(std::move(name)) {}

  // One control plane Machine and `workers`.
  void Create(int workers);
  void Scale(int workers);
  // Waits until exactly so many Machines are in phase Running and the Cluster is Provisioned.
  bool AwaitRunning(int machines, Millis timeout = Seconds(300));
  void Delete();
  bool AwaitGone(Millis timeout = Seconds(120));
  // How Machines and Cluster are, for a failed test's output.
  std::string Describe();

 private:
  Result<std::vector<kube::Object>> Objects(const char* group, const char* kind);
  Cluster& cluster_;
  std::string name_;
};

// A CRD as the server has it, as far as versions go. A value.
struct CrdVersions {
  kube::Resource resource;  // at the version that is stored now
  std::string name;
  std::vector<std::string> served, stored;
  std::string Describe() const;
  kube::Resource At(const std::string& version) const;
};
// Those that are labelled with `label`, or all of Cluster API's.
std::vector<CrdVersions> ListCrds(Cluster& cluster);

// Every custom resource of these CRDs as "Kind namespace/name", with its uid. Each is read at the first version of its
// `stored` that the server answers at; the test fails where it answers at none.
std::map<std::string, std::string> UidsOf(Cluster& cluster, const std::vector<CrdVersions>& crds);

}  // namespace capi::e2e
