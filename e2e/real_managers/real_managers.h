// Cluster API's own managers as processes, in the place of the pods that the operator's Deployments ask for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/support/cluster.h"

namespace capi::e2e {

// The providers whose managers tools/assets builds, the core first.
const std::vector<Managed>& RealProviders();

// From its construction on, each Pod of the four's Deployments has its process: of the version that its image names,
// with its container's arguments, as its ServiceAccount; started again where it ends by itself. Other arguments come
// after the Pod's own: addresses on loopback, certificates, no election. It is the Pods' kubelet and the Services' way
// to them: a Pod is Ready when its process is, connections go to Pods that are Ready, and one that is deleted gets no
// new ones before its process is told to end, with the grace it asks for. Old and new run side by side as a Deployment
// has it, but the docker provider's: one at a time. Thread-safe.
class RealManagers {
 public:
  // Needs the programs of these series; makes them first where they aren't there yet, which takes minutes.
  explicit RealManagers(Cluster& cluster, const std::vector<std::string>& series = {"v1.12"});
  ~RealManagers();  // kills them; after a failed test their logs' ends are printed

  // A spec that takes release `version` from its ConfigMap and leads its webhooks and conversions to our processes, by
  // patches: they also take the injector's annotation away, so that the CA bundle is the operator's to keep, and put
  // the Pods in our hands.
  Json Spec(const Managed& provider, const std::string& version) const;
  // Waits until a process of `series` ("v1.12") serves, and no other is left.
  bool AwaitServing(const Managed& provider, std::string_view series);
  bool AwaitStopped(const Managed& provider);

 private:
  class StandIn;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace capi::e2e
