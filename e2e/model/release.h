// The model's providers as Kubernetes sees them: names, releases, specs, and what their objects must look like.
#pragma once

#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/json.h"
#include "e2e/model/fleet.h"
#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::e2e::model {

struct Names {
  api::ProviderType type;
  std::string ns, name;  // of the Provider object
  std::string own;       // "core": begins the names of all its objects
  std::string label;     // cluster.x-k8s.io/provider
};
const Names& NamesOf(int who);

inline constexpr const char* kUsersNamespace = "model-users";
inline constexpr const char* kLabelOurs = "clusterctl.cluster.x-k8s.io";

std::string Metadata();
// The release `version` of provider `who`, as edited `revision` times; kBrokenRelease is no YAML.
std::string Components(int who, int version, int revision);
Json SpecOf(int who, const Spec& spec);

// Objects of the release. kOnly has another name in every other release, so that an upgrade prunes it.
kube::ObjectId IdOf(int who, Part part, int version);
const kube::Resource& ResourceOf(Part part);
kube::ObjectId IdOf(int who, Place place);
// Of its CRD, at a version that is served.
kube::Resource ThingOf(int who, const std::string& version);

// "" where `live` is as content, replicas and marks of `m` demand, else what isn't.
std::string Differs(int who, Part part, const Member& m, const kube::Object& live);

}  // namespace capi::e2e::model
