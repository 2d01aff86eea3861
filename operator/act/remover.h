// Carries out a Remove: what the provider brought goes, in reverse order; CRDs and Namespaces stay (behaviour.md X1).
#pragma once

#include "operator/act/release_applier.h"
#include "operator/report/status_writer.h"
#include "operator/report/summarize.h"

namespace capi::ops {

// Thread-safe.
class Remover {
 public:
  Remover(kube::Client& client, StatusWriter& writer);
  Done Remove(const Context& ctx, Observation o);

 private:
  Done Run(const Context& ctx, Observation& o);
  Status SayBegun(const Context& ctx, Observation& o);
  // In a Namespace that is going its objects go anyway (X5).
  std::vector<kube::ObjectId> Doomed(const Observation& o, bool crds) const;

  // With annotation delete-crds: the first objects that still exist of the provider's CRDs. However many there are, it
  // reads no more than it names.
  Result<std::vector<std::string>> ObjectsInUse(const Context& ctx, const std::vector<kube::ObjectId>& crds);

  kube::Client& client_;
  StatusWriter& writer_;
  ReleaseApplier applier_;
};

}  // namespace capi::ops
