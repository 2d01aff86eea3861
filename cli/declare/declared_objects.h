// What providers refer to and what stands in the same files: Secrets, by the names of their keys, and ConfigMaps.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/declare/manifest_files.h"

namespace capi::cli {

// Values of Secrets are never kept. A namespace that isn't written (kustomize or kubectl fills it in) fits any.
// Immutable.
class DeclaredObjects {
 public:
  explicit DeclaredObjects(const std::vector<Document>& documents);

  // Null where the files have no such Secret: nor what makes one (SealedSecret, ExternalSecret, secretGenerator).
  const std::set<std::string>* SecretKeys(std::string_view ns, std::string_view name) const;
  // Null for none.
  const kube::Object* ConfigMap(std::string_view ns, std::string_view name) const;
  std::vector<const kube::Object*> ConfigMaps(std::string_view ns) const;

 private:
  struct Secret {
    std::string ns, name;
    std::set<std::string> keys;
  };
  void AddSecret(std::string ns, std::string name, std::set<std::string> keys);
  void AddGenerated(const Document& kustomization);

  std::vector<Secret> secrets_;
  std::vector<kube::Object> config_maps_;
};

}  // namespace capi::cli
