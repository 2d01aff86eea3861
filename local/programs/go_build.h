// Programs that are built on this machine from Go modules.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/mutex.h"
#include "base/result.h"
#include "local/programs/programs.h"

namespace capi::local {

// A value.
struct GoPackage {
  std::string package;            // "sigs.k8s.io/cluster-api/bootstrap/kubeadm"
  std::string version;            // "v1.12.1"
  std::vector<std::string> also;  // modules that have to be of the same version: it replaces them by its own checkout
  std::string version_variables;  // the package whose variables tell the program's version; "" for none

  std::string ToString() const;  // "package@version"
};

// Of "MODULE[/PACKAGE]@VERSION". kInvalidArgument for anything else.
Result<GoPackage> ParseGoPackage(const std::string& text);

// The package of one of Cluster API's own images (its core, the kubeadm providers, the docker provider), of the version
// that its tag says. nullopt for any other.
std::optional<GoPackage> KnownGoPackage(const api::OciReference& image);

// Builds what isn't in its folder yet with the `go` of PATH, without cgo, so that it is static. What `go` says is in a
// log beside it. Thread-safe; several processes may use one folder.
class GoBuilds {
 public:
  using Getenv = std::function<std::optional<std::string>(const std::string&)>;

  GoBuilds(std::string folder, Getenv getenv) : folder_(std::move(folder)), getenv_(std::move(getenv)) {}

  // kNotFound where there is no `go`; kFailedPrecondition with the end of the log where it fails.
  Result<Program> Find(const Context& ctx, const GoPackage& package);

 private:
  Status Build(const Context& ctx, const std::string& go, const GoPackage& package, const std::string& target);
  Status Run(const Context& ctx, const std::vector<std::string>& argv, const std::string& folder,
             const std::string& log);
  std::string FindGo() const;

  const std::string folder_;
  const Getenv getenv_;
  Mutex building_;  // one at a time: each takes all processors
};

}  // namespace capi::local
