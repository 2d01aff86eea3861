// The model's world: a control plane on which its steps are taken, and which is compared with what it expects.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "e2e/cluster.h"
#include "e2e/model_fleet.h"
#include "e2e/operator_process.h"

namespace capi::e2e::model {

// Thread-compatible.
class World {
 public:
  explicit World(kube::ControlPlane& plane);

  void Do(const Step& step, const Fleet& after);
  // Asked whenever one looks: how the golden rule is broken by what runs in this instant (C1); "" if it isn't.
  std::string GoldenRule();
  // What may never be lost and is: objects of people, their Namespaces. "" for nothing.
  std::string Lost();
  // What isn't (yet) as the model says, "" where all is. Only with "" everything has settled.
  std::string Differs(const Fleet& fleet);
  // For the next beginning: what no provider owns goes, and inputs are as a new Fleet has them.
  void Clear(const Fleet& fleet);

  OperatorProcess& process() { return *operator_; }
  std::string DescribeProviders();
  // The API server retries a CRD's deletion that met a cache that wasn't filled yet after up to minutes; a change makes
  // it look again at once.
  void PokeCrds();

 private:
  using Objects = std::map<kube::ObjectId, kube::Object>;

  void StoreRelease(int who, int version, int revision);
  void StoreSecret(int who, int value);
  void PatchSpec(int who, const Spec& spec);
  void Annotate(int who, const char* key, bool on);
  void DoForeign(const Step& step, const Fleet& after);
  void PutThing(int who, const std::string& name, bool wanted, const Member& m);
  void Edit(int who, Part part, const Member& m);
  void Patch(const kube::ObjectId& id, const Json& merge_patch, const std::string& subresource = "");
  void Keep(const std::string& what, const kube::Resource& resource, const kube::Object& object);
  void Restart();
  std::string ProviderDiffers(int who, const Member& m);
  std::string InventoryDiffers(const Seen& seen, int who, const Member& m);
  std::string ObjectsDiffer(const Fleet& fleet, const Objects& live);

  struct Kept {
    kube::Resource resource;
    std::string ns, name, uid;
  };

  Cluster cluster_;
  std::unique_ptr<OperatorProcess> operator_;
  std::map<std::string, Kept> kept_;
  int people_ = 0;  // everybody has another name: the same one over and over would be a fight (D2)
};

}  // namespace capi::e2e::model
