// Programs that are built on this machine from Go modules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/result.h"
#include "local/programs/programs.h"
#include "local/programs/turns.h"

namespace capi::local {

// A value.
struct GoPackage {
  std::string package;            // "sigs.k8s.io/cluster-api/bootstrap/kubeadm"
  std::string version;            // "v1.12.1"
  std::vector<std::string> also;  // modules that have to be of the same version: it replaces them by its own checkout
  std::string version_variables;  // the package whose variables tell the program's version; "" for none

  std::string ToString() const;  // "package@version"
};

// Of "MODULE[/PACKAGE]@VERSION"; Cluster API's own packages are built as KnownGoPackage has them. kInvalidArgument for
// anything else.
Result<GoPackage> ParseGoPackage(const std::string& text);

// The package of one of Cluster API's own images (its core, the kubeadm providers, the docker provider), of the version
// that its tag says. nullopt for any other, and where a digest is named: that is of no other file than the image's.
std::optional<GoPackage> KnownGoPackage(const api::OciReference& image);

// Builds what isn't in its folder yet with the `go` of PATH, without cgo, so that it is static. What `go` says is in a
// log beside it, once it has ended. Thread-safe; several processes may use one folder.
class GoBuilds {
 public:
  using Getenv = std::function<std::optional<std::string>(const std::string&)>;

  // `environment`: "NAME=value", of all processes that build something.
  GoBuilds(std::string folder, Getenv getenv, std::vector<std::string> environment = {}, Millis longest = Seconds(1800))
      : folder_(std::move(folder)),
        getenv_(std::move(getenv)),
        environment_(std::move(environment)),
        longest_(longest) {}

  // kNotFound where there is no `go`; kFailedPrecondition with the end of the log where it fails, or takes longer than
  // it may. With `ctx` all that builds ends at once.
  Result<Program> Find(const Context& ctx, const GoPackage& package);
  // It is there, and is found without `go`.
  bool IsBuilt(const GoPackage& package) const;

 private:
  std::string TargetOf(const GoPackage& package) const;
  Status BuildInTurn(const Context& ctx, const GoPackage& package, const std::string& target);
  Status Build(const Context& ctx, const std::string& go, const GoPackage& package, const std::string& target);
  Status Run(const Context& ctx, const std::vector<std::string>& argv, const std::string& scratch,
             const std::string& log) const;
  std::string FindGo() const;

  const std::string folder_;
  const Getenv getenv_;
  const std::vector<std::string> environment_;
  const Millis longest_;  // of a build
  Turns building_;        // one at a time: each takes all processors
};

}  // namespace capi::local
