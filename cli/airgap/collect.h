// The releases that a command line asks for, from wherever they are.
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

#include "api/types.h"
#include "cli/frame/management_cluster.h"
#include "cli/install/candidate.h"

namespace capi::cli {

// Which providers. A value.
struct CollectOptions {
  ProviderFlags providers;         // by flags
  std::vector<std::string> files;  // or Provider objects of files,
  bool existing = false;           // or those of the cluster
  std::string artifact_url;        // where they are, instead of each one's own source; without the defaults then
  std::string ns;                  // into which they go; of objects: in which they are
  bool with_defaults = false;      // by flags: those of init's first time, too
};

// Whose the objects of files may be: of one cluster two that want two releases of one object are refused.
enum class Clusters { kOne, kAny };

// What --artifact-url names. A value.
struct ArtifactSource {
  std::string url;      // "": each provider's own source
  bool shared = false;  // by several providers: files whose titles have a provider in them count alone
};

// A value.
struct CollectedRelease {
  Candidate candidate;
  api::Provider provider;  // the object that asks for it; of flags, one that would
  std::string where = {};  // of an object in a file: that, and the line

  std::string Name() const;                           // for messages: files may have an object several times
  std::map<std::string, std::string> Labels() const;  // that it gets in the cluster
};

// kInvalidArgument for options that say nothing together. Sends no request.
Status CheckOptions(const CollectOptions& options);

// Each once; of an object that files have several times, each release that it asks for. `cluster`: where `existing`
// looks, and where what objects of files name for their sources is taken from; null where no cluster is asked. Errors
// name the provider; one that fails, fails all.
Result<std::vector<CollectedRelease>> Collect(const Context& ctx, const Config& config, const CollectOptions& options,
                                              Clusters clusters, ManagementCluster* cluster, std::istream& in,
                                              Notes& notes);

// Of one provider that flags name.
Result<ProviderRelease> CollectOne(const Context& ctx, const Config& config, const ProviderChoice& choice,
                                   const ArtifactSource& artifact, Notes& notes);

// As the operator finds a release that somebody puts there for this provider, whether a selector asks for it or not.
CollectedRelease WithOwnLabels(Candidate candidate);

// Whether the object names no version, nor releases to choose it from: the operator asks the source for one then,
// before it looks at what lies in the cluster.
bool AsksItsSource(const CollectedRelease& one);

// Its ConfigMaps, the first one last.
std::vector<kube::Object> MapsOf(const CollectedRelease& release);

}  // namespace capi::cli
