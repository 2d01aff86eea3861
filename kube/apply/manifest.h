// An object on its way to the server: its text, and what is needed of it without the tree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/meta/object.h"

namespace capi::kube {

// Small, so that the peak of memory is one release's text and not its trees. A value.
struct Manifest {
  ObjectId id;
  std::string api_version;
  std::string text;                             // compact JSON
  std::string hash;                             // TextHash, where nobody has given it another one
  std::string crd_group, crd_kind, crd_plural;  // of a CustomResourceDefinition
  bool crd_namespaced = false;
  std::vector<std::string> crd_versions;  // served ones, the storage version first
  std::vector<std::string> crd_all;       // every version it has, served or not
  std::string crd_storage;                // the one that it stores
};

// First 16 hex digits of the SHA-256.
std::string TextHash(std::string_view text);

// Drops placeholders of CA bundles on the way (I11), and the rules of aggregated roles.
Manifest ToManifest(Object object);

// Removes each caBundle of a webhook configuration, a CRD's conversion webhook or an APIService that is no PEM
// certificate in base64 (`Cg==`, empty): an injector fills it in, and with it the server refuses the object
// (behaviour.md I11). Where an annotation names an injector, every bundle is the injector's, and dropped.
void DropPlaceholderCaBundles(Object& object);

// CRDs, then Namespaces and RBAC and configuration, then workloads, then webhook configurations and APIServices, and
// at the very end the entry in clusterctl's inventory, which says that all of this is there.
enum class Stage { kCrds, kBase, kWorkloads, kWebhooks, kRecord };
Stage StageOf(const GroupKind& kind);

// Finer than the stage: objects of one wave may be applied side by side. Namespaces go before what lies in them, roles
// before their bindings. Sorts as the stages do.
int WaveOf(const GroupKind& kind);

}  // namespace capi::kube
