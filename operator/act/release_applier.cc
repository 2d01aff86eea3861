#include "operator/act/release_applier.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "kube/client/status_error.h"
#include "lifecycle/clusterctl_inventory.h"
#include "operator/act/certificates/certificate_secret.h"

namespace capi::ops {
namespace {

template <typename T>
struct Parts {
  std::vector<T> release, entry;
};

const kube::ObjectId& IdOf(const kube::Manifest& manifest) { return manifest.id; }
const kube::ObjectId& IdOf(const kube::ObjectId& id) { return id; }

template <typename T>
Parts<T> Split(const api::ProviderId& provider, const std::vector<T>& all) {
  const kube::ObjectId entry = lifecycle::EntryId(provider);
  Parts<T> parts;
  for (const T& one : all) (IdOf(one) == entry ? parts.entry : parts.release).push_back(one);
  return parts;
}

// Of what is to be applied: one that failed is among the changes.
Status Noted(const Certifier::Kept& kept, std::vector<kube::Change>& changes) {
  if (kept.ended.ok()) return Ok();
  changes.push_back({.id = kept.failed,
                     .action = kube::Change::Action::kFailed,
                     .error = kept.ended.error().message,
                     .refused = !kube::IsOutage(kept.ended.error())});
  return kept.ended;
}

}  // namespace

Status ReleaseApplier::Apply(const Context& ctx, const api::ProviderId& provider,
                             const std::vector<kube::Manifest>& manifests, const kube::Inventory& current,
                             std::vector<kube::Change>& changes, const kube::LeftBehind& left_behind) {
  if (certifier_ == nullptr) return ApplyAll(ctx, provider, manifests, current, changes, left_behind);
  auto noted = [&](const Certifier::Kept& kept) {
    certifier_->Tell(provider.Key(), kept.what);
    return Noted(kept, changes);
  };
  TRY(noted(certifier_->Prepare(ctx, manifests, current)));
  // What one object is refused for takes from no other the trust that it needs.
  Status applied = ApplyAll(ctx, provider, manifests, current, changes, left_behind);
  Status trusted = noted(certifier_->Trust(ctx, manifests, current));
  return applied.ok() ? trusted : applied;
}

// The entry last, as in one apply.
Status ReleaseApplier::ApplyAll(const Context& ctx, const api::ProviderId& provider,
                                const std::vector<kube::Manifest>& manifests, const kube::Inventory& current,
                                std::vector<kube::Change>& changes, const kube::LeftBehind& left_behind) {
  if (ctx.in_name_of.empty()) return applier_.Apply(ctx, manifests, current, changes, left_behind);
  const Parts<kube::Manifest> parts = Split(provider, manifests);
  TRY(applier_.Apply(ctx, parts.release, current, changes, left_behind));
  return applier_.Apply(ctx.InOwnName(), parts.entry, current, changes);
}

// Without the Secrets of certificates, which have no data yet: the certifier tries each before it writes it.
Status ReleaseApplier::DryRun(const Context& ctx, const api::ProviderId& provider,
                              const std::vector<kube::Manifest>& manifests, std::vector<kube::Change>* failed) {
  if (certifier_ != nullptr && std::any_of(manifests.begin(), manifests.end(), HoldsCertificate)) {
    std::vector<kube::Manifest> others;
    std::copy_if(manifests.begin(), manifests.end(), std::back_inserter(others), std::not_fn(HoldsCertificate));
    return DryRun(ctx, provider, others, failed);
  }
  if (ctx.in_name_of.empty()) return applier_.DryRun(ctx, manifests, failed);
  const Parts<kube::Manifest> parts = Split(provider, manifests);
  TRY(applier_.DryRun(ctx, parts.release, failed));
  return applier_.DryRun(ctx.InOwnName(), parts.entry, failed);
}

Status ReleaseApplier::Delete(const Context& ctx, const api::ProviderId& provider,
                              const std::vector<kube::ObjectId>& ids,
                              const std::function<std::string(const kube::Object& live)>& keep,
                              std::vector<kube::Change>& changes, const std::string& propagation) {
  if (ctx.in_name_of.empty()) return applier_.Delete(ctx, ids, keep, changes, propagation);
  const Parts<kube::ObjectId> parts = Split(provider, ids);
  TRY(applier_.Delete(ctx.InOwnName(), parts.entry, keep, changes, propagation));
  return applier_.Delete(ctx, parts.release, keep, changes, propagation);
}

}  // namespace capi::ops
