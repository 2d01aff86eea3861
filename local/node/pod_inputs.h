// What a Pod takes from Secrets, ConfigMaps and itself: variables, and the files of its volumes (behaviour.md G5).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/meta/object.h"
#include "local/node/command/expand.h"

namespace capi::local {

// Where a Pod's inputs come from. A value.
struct InputSource {
  // The data of a "Secret" or "ConfigMap" of the Pod's namespace; kNotFound where it isn't there.
  std::function<Result<Variables>(const std::string& kind, const std::string& name)> read;
  // A token of the Pod's ServiceAccount; "" and 0 for the API server's own audience and time.
  std::function<Result<std::string>(const std::string& audience, std::int64_t seconds)> token;
};

// A container's variables. A value.
struct ContainerEnvironment {
  Variables variables;
  std::vector<std::string> secrets;  // values that come from Secrets
};

// `below` are those that are there already: the user's, then the image's. envFrom and env go over them, in their order,
// with $(NAME) replaced. kNotFound for a Secret, ConfigMap or key that isn't there and isn't optional; kUnsupported for
// what isn't carried out. Both name the field.
Result<ContainerEnvironment> EnvironmentOf(const kube::Object& pod, const Json& container, Variables below,
                                           const InputSource& source);

// The files of a volume by their paths in it. A value.
struct VolumeFile {
  std::string content;
  bool executable = false;
};
using VolumeFiles = std::map<std::string, VolumeFile>;

// Of Secret, ConfigMap, projected, downwardAPI; none for emptyDir and hostPath. Errors as EnvironmentOf's; any other
// volume is kUnsupported.
Result<VolumeFiles> FilesOfVolume(const kube::Object& pod, const Json& volume, const InputSource& source);

// Where the container's volumes are on this machine, by their paths in it: `folder`/NAME, and a hostPath where it is.
std::map<std::string, std::string> MountsOf(const kube::Object& pod, const Json& container, const std::string& folder);

// The first volumeMount whose path neither is in `named` nor needs to be: those with the ServiceAccount's token (the
// process has a kubeconfig, but where automountServiceAccountToken is false), an emptyDir at /tmp (it has TMPDIR), a
// hostPath at its own path. "" where there is none, else words for the Pod's status.
std::string UnledMount(const kube::Object& pod, const Json& container, const std::set<std::string>& named);

}  // namespace capi::local
