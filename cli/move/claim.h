// Of several runs that move one namespace at the same time, in whatever direction, the one that began last goes on.
#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <string>

#include "cli/move/record.h"
#include "kube/client/client.h"

namespace capi::cli::move {

// A ConfigMap of this name, in the namespace of both clusters, says which run it is.
inline constexpr std::string_view kClaimName = "move.operator.cluster.x-k8s.io";
// On an object of the target that was there before, for a moment: another run that is about to delete it finds it
// changed.
inline constexpr std::string_view kRunAnnotation = "operator.cluster.x-k8s.io/move-run";

// A run's claim on a namespace. What a run does after a Check() it does to what it read before: a run that took over
// since has changed that, or hasn't looked yet. So no object is deleted in both clusters. Of two that take it at once,
// the cluster whose identity is the smaller one decides, or the only one that was taken. Thread-safe after Take().
class Claim {
 public:
  Claim(kube::Client& source, kube::Client& target, const Ends& ends, std::string ns);

  // Takes the namespace over from any other run, in the clusters that have it and permit it.
  Status Take(const Context& ctx);
  // What a cluster said that lacks the namespace, or doesn't permit it. The run may go on.
  const std::optional<Error>& lacks() const { return lacks_; }
  const std::optional<Error>& denied() const { return denied_; }
  // kFailedPrecondition where another run has taken it over since. Ok for a run that never took it.
  Status Check(const Context& ctx);
  // Removes the claim in both clusters; where another run has taken over, only what is this one's still.
  Status Release(const Context& ctx);

  bool lost() const { return lost_; }  // by a Check()
  Error Lost() const;                  // what that says then

  const std::string& run() const { return run_; }

 private:
  enum class Holder { kNone, kThisRun, kSamePair, kOthers };

  Status Write(const Context& ctx, kube::Client& cluster);
  Holder HolderOf(const kube::Object& claim) const;
  bool Decides(size_t at) const;
  Status CheckAt(const Context& ctx, size_t at);
  Status ReleaseAt(const Context& ctx, size_t at);

  const Ends ends_;
  const std::string ns_, run_;
  std::array<kube::Client*, 2> clusters_;  // in the same order for a move back: the first decides
  std::array<bool, 2> taken_ = {};
  std::optional<Error> lacks_, denied_;
  std::atomic<bool> lost_ = false, ended_ = false;
};

}  // namespace capi::cli::move
