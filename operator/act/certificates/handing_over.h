// Carries out a HandOver: who makes a provider's certificates changes (behaviour.md I19). What asks for them (Issuers
// and Certificates) and what holds them (Secrets) goes over, with the keys; nothing else of the provider is written.
#pragma once

#include <set>
#include <vector>

#include "operator/act/release_applier.h"
#include "operator/act/rendered_cache.h"
#include "operator/decide/observation.h"
#include "operator/observe/observe.h"
#include "operator/report/status_writer.h"

namespace capi::ops {

// Thread-safe.
class HandingOver {
 public:
  struct Needs {
    kube::Client& client;
    Observer& observer;
    StatusWriter& writer;
    const RenderedCache& rendered;
    Certifier& certifier;
  };
  struct Plan;
  explicit HandingOver(Needs needs);

  // What is applied is rendered as Installer::RenderAgain does, for who is to make certificates now. The status has the
  // provider's inventory before the first write, and without what has gone over before that is let go.
  Certifier::Kept Run(const Context& ctx, const Observation& o);

 private:
  Status HandOn(const Context& ctx, api::Provider& provider, const Observation& o, Certifier::Kept& kept);
  Status Send(const Context& ctx, const api::Provider& provider, const std::vector<kube::Manifest>& manifests,
              kube::Inventory& inventory, Certifier::Kept& kept);
  Status SendEach(const Context& ctx, const api::Provider& provider, Plan& plan, kube::Inventory& inventory,
                  Certifier::Kept& kept);
  // What is let go is taken out of `ours`, the Secrets that go.
  Status LetGo(const Context& ctx, const Observation& o, const Plan& plan, const std::vector<kube::ObjectId>& taken,
               std::set<kube::ObjectId>& ours);

  Needs needs_;
  ReleaseApplier applier_;
};

// Whether a manifest asks for a certificate, of cert-manager or of the operator.
bool IsOfCertificates(const kube::Manifest& manifest);

// What has asked cert-manager for the certificates among `manifests`, and is live still: into the inventory as stale,
// so that it goes over. For an adoption, whose former tool has applied it.
Status AddLiveRequests(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests,
                       kube::Inventory& inventory);

}  // namespace capi::ops
