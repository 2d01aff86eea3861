// Waits for workload clusters, and shows meanwhile how they are.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/live_lines.h"
#include "cli/local_clusters/progress.h"
#include "cli/local_clusters/references.h"
#include "kube/client/client.h"

namespace capi::cli::local_clusters {

// A value.
struct ClusterName {
  std::string ns, name;
  auto operator<=>(const ClusterName&) const = default;
};

// Between two looks at what a command waits for.
inline constexpr Millis kPause{500};
// Of what is drawn meanwhile: more push what was said before out of the terminal.
inline constexpr size_t kMostLines = 20;

using Judge = std::function<Verdict(const ClusterState&)>;

// Hears why a look at what `what` waits for has failed, and is tried again.
using OnTrouble = std::function<void(const std::string& what, const Error& error)>;

// Of a management cluster. Thread-compatible.
class ClusterWatch {
 public:
  // `client` and `lines` must outlive it. `live`: whether `lines` are on a terminal, so that trees are read at all.
  ClusterWatch(kube::Client& client, LiveLines& lines, bool live) : client_(client), lines_(lines), live_(live) {}

  // What else belongs to the clusters: objects of their manifests.
  void Also(std::vector<kube::ObjectId> others) { others_ = std::move(others); }

  // What isn't drawn, nor in the words of a tree: values that objects of the clusters may repeat.
  void Without(Hider hider) { hider_ = std::move(hider); }

  // Objects, by uid, whose failures don't count: they are older than what was changed since.
  void Forgive(std::set<std::string> uids) { forgiven_ = std::move(uids); }

  // Is told of each reason once, until it changes or is over.
  void OnTrouble(local_clusters::OnTrouble on_trouble) { on_trouble_ = std::move(on_trouble); }

  // A Cluster that isn't there is no error: the state has what else belongs to it then.
  Result<ClusterState> Read(const Context& ctx, const ClusterName& name);

  // Until `judge` says of all that they are done. Outages are waited out. kFailedPrecondition at once for what is
  // terminal; kDeadlineExceeded names what is waited for; kCancelled.
  Status Await(const Context& ctx, const std::vector<ClusterName>& clusters, const Judge& judge,
               const std::string& what);

  // The tree of a cluster in plain lines, the reason of its Ready or Available condition behind each. `missing` gets a
  // line for each part that couldn't be read.
  Result<std::vector<std::string>> Tree(const Context& ctx, const ClusterName& name, std::vector<std::string>& missing);

 private:
  // What makes its machines, whatever made that.
  Status ReadMakers(const Context& ctx, const ClusterName& name, std::vector<kube::Object>& out);
  // Of a namespace alone: what belongs to the whole cluster isn't looked at.
  Status ReadOther(const Context& ctx, const kube::ObjectId& id, std::vector<kube::Object>& out);
  void Draw(const Context& ctx, const std::vector<ClusterName>& clusters, const std::string& what,
            const std::string& waits_for);

  kube::Client& client_;
  LiveLines& lines_;
  const bool live_;
  std::vector<kube::ObjectId> others_;
  Hider hider_;
  std::set<std::string> forgiven_;
  local_clusters::OnTrouble on_trouble_;
};

// The Clusters' own kind and that of their Machines, at the contract that this program works with.
const kube::Resource& ClusterResource();
const kube::Resource& MachineResource();
// Selects what belongs to a Cluster of that name.
std::string ByCluster(const std::string& name);
// All kinds of Cluster API and its providers that can be listed, each once, at the version that the server prefers.
Result<std::vector<kube::Resource>> KindsOfClusterApi(const Context& ctx, kube::Client& client);

}  // namespace capi::cli::local_clusters
