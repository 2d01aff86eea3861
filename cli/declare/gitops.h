// Files for a GitOps repository, made of declared providers. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "templating/customise/images.h"

namespace capi::cli {

// What a provider is in git: its object, and what is needed beside it. A value.
struct GitOpsProvider {
  kube::Object object;
  std::vector<std::string> variables;  // keys of the Secret of spec.configSecret, whose values stay out of git
  bool with_images = false;            // and the key `images`, which is no secret
  std::vector<std::string> remarks;
  std::vector<kube::Object> release;  // ConfigMaps, where the operator can't fetch it
};

// A value.
struct GitOpsFile {
  std::string name, text;
};

// What a Provider object says, without what the API server, the operator and other tools keep in it.
kube::Object WithoutBookkeeping(const kube::Object& provider);

// Whether both are the same provider in two namespaces.
bool IsTwin(const kube::Object& one, const kube::Object& other);

// kustomization.yaml, namespaces.yaml, a file for each provider, and one for its release where the operator can't fetch
// that; images.yaml where one needs it. `namespaces`: their labels that are for Pod Security. kFailedPrecondition for a
// provider that is there twice: one file would take the other's place.
Result<std::vector<GitOpsFile>> GitOpsFiles(const std::vector<GitOpsProvider>& providers,
                                            const std::map<std::string, Json>& namespaces,
                                            const templating::ImageOverrides& images);

// The objects of such files in one text.
std::string AsOneText(const std::vector<GitOpsFile>& files);

}  // namespace capi::cli
