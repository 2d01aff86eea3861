// Writes of a release's objects.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/types.h"
#include "kube/apply/apply.h"
#include "operator/act/certificates/certifier.h"

namespace capi::ops {

// kube::Applier for the objects of one provider: they are written in the context's name, but for its entry in
// clusterctl's inventory, which is the operator's own (behaviour.md T8). Thread-safe.
class ReleaseApplier {
 public:
  // `certifier`, which outlives it, sees to certificates before and after an apply (I19); null: nobody does.
  ReleaseApplier(kube::Client& client, kube::ApplyOptions options, Certifier* certifier = nullptr)
      : applier_(client, std::move(options)), certifier_(certifier) {}

  Status Apply(const Context& ctx, const api::ProviderId& provider, const std::vector<kube::Manifest>& manifests,
               const kube::Inventory& current, std::vector<kube::Change>& changes,
               const kube::LeftBehind& left_behind = nullptr);
  Status DryRun(const Context& ctx, const api::ProviderId& provider, const std::vector<kube::Manifest>& manifests,
                std::vector<kube::Change>* failed);
  Status Delete(const Context& ctx, const api::ProviderId& provider, const std::vector<kube::ObjectId>& ids,
                const std::function<std::string(const kube::Object& live)>& keep, std::vector<kube::Change>& changes,
                const std::string& propagation = kube::DeleteOptions().propagation);
  Result<std::vector<std::string>> MissingKinds(const Context& ctx, const std::vector<kube::Manifest>& manifests) {
    return applier_.MissingKinds(ctx, manifests);
  }

 private:
  Status ApplyAll(const Context& ctx, const api::ProviderId& provider, const std::vector<kube::Manifest>& manifests,
                  const kube::Inventory& current, std::vector<kube::Change>& changes,
                  const kube::LeftBehind& left_behind);

  kube::Applier applier_;
  Certifier* const certifier_;
};

}  // namespace capi::ops
