// The model's world: a control plane on which its actions are taken, and which is compared with what it expects.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "e2e/model/fleet.h"
#include "e2e/model/view.h"
#include "e2e/support/cluster.h"
#include "e2e/support/operator_process.h"

namespace capi::e2e::model {

// Thread-compatible.
class World {
 public:
  explicit World(kube::ControlPlane& plane);

  void Do(const Action& action, const Fleet& after);
  // What may never be lost and is: objects of people, their Namespaces. "" for nothing.
  std::string Lost(const Fleet& fleet);
  // What isn't (yet) as the model says, "" where all is. Only with "" everything has settled.
  std::string Differs(const Fleet& fleet);
  // For the next beginning: what no provider owns goes, and inputs are as a new Fleet has them.
  void Clear(const Fleet& fleet);

  View& view() { return *view_; }
  OperatorProcess& process() { return *operator_; }
  std::string DescribeProviders();
  // The API server retries a CRD's deletion that met a cache that wasn't filled yet after up to minutes; a change makes
  // it look again at once.
  void PokeCrds();

 private:
  using Objects = std::map<kube::ObjectId, kube::ObjectPtr>;

  void Furnish(int who);  // its Namespace, and what people keep there
  void LoseNamespace(int who);
  void Plant(int who, Place place);
  void StoreRelease(int who, int version, int revision);
  void StoreSecret(int who, int value);
  void PatchSpec(int who, const Spec& spec);
  void Annotate(int who, const char* key, bool on);
  void DoForeign(const Action& action, const Fleet& after);
  void CatchUp(const Action& action, const Fleet& after);  // with what the action wrote
  void PutThing(int who, const std::string& name, bool wanted, const Member& m);
  void Edit(int who, Part part, const Member& m);
  void Patch(const kube::ObjectId& id, const Json& merge_patch, const std::string& subresource = "");
  void Keep(const std::string& what, int who, Verb by, const kube::Resource& resource, const kube::Object& object);
  void Restart();
  std::string ProviderDiffers(int who, const Member& m);
  std::string InventoryDiffers(const Seen& seen, int who, const Member& m);
  std::string ObjectsDiffer(const Fleet& fleet, Objects left);

  struct Kept {
    int who = kCore;
    Verb by = Verb::kObject;  // what made it
    kube::Resource resource;
    std::string ns, name, uid;
  };

  Cluster cluster_;
  std::unique_ptr<View> view_;
  std::unique_ptr<OperatorProcess> operator_;
  std::map<std::string, std::string> namespaces_;  // uids of those that nobody deletes
  std::map<std::string, Kept> kept_;
  int people_ = 0;  // everybody has another name: the same one over and over would be a fight (D2)
};

}  // namespace capi::e2e::model
