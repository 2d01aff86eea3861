#include "operator/act/certificates/handing_over.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "api/certificates/names.h"
#include "kube/meta/kind.h"
#include "lifecycle/certificates/requests.h"
#include "lifecycle/deletion.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/decide/certificates/due.h"
#include "operator/report/announce.h"

namespace capi::ops {

struct HandingOver::Plan {
  std::vector<kube::Manifest> come;
  std::vector<kube::ObjectId> go;
  bool is_whole = true;  // all that was to come has come
};

namespace {

// What a Certificate keeps: null for another object.
std::optional<kube::ObjectId> SecretOf(const kube::Manifest& certificate) {
  if (!kube::Is(certificate.id, "cert-manager.io", "Certificate")) return std::nullopt;
  auto json = ParseJson(certificate.text);
  if (!json.ok()) return std::nullopt;
  return kube::ObjectId{"", "Secret", certificate.id.ns, GetString(*json, {"spec", "secretName"})};
}

// What a Secret of ours is for: null for another object.
std::optional<certificates::Request> RequestOf(const kube::Manifest& secret) {
  if (!HoldsCertificate(secret)) return std::nullopt;
  auto json = ParseJson(secret.text);
  if (!json.ok()) return std::nullopt;
  auto request = certificates::ParseRequest(kube::Object(*std::move(json)).annotation(api::kAnnotationCertificate));
  if (!request.ok()) return std::nullopt;
  return *std::move(request);
}

kube::ObjectId CertificateOf(const certificates::Request& request) {
  return {request.issuer.group, "Certificate", request.certificate.ns, request.certificate.name};
}

// What goes when that has come; null where nothing does.
std::optional<kube::ObjectId> FormerOf(const kube::Manifest& manifest) {
  if (auto secret = SecretOf(manifest)) return secret;
  auto request = RequestOf(manifest);
  if (!request) return std::nullopt;
  return CertificateOf(*request);
}

// What the render has and the inventory hasn't, and the other way round.
HandingOver::Plan PlanOf(const Observation& o, const std::vector<kube::Manifest>& rendered) {
  HandingOver::Plan plan;
  std::set<kube::ObjectId> stays;
  for (const kube::Manifest& manifest : rendered) {
    stays.insert(manifest.id);
    const kube::InventoryEntry* entry = o.inventory.Find(manifest.id);
    const bool is_applied = entry != nullptr && !entry->stale && entry->hash == manifest.hash;
    if (IsOfCertificates(manifest) && !is_applied) plan.come.push_back(manifest);
  }
  for (const auto& [id, entry] : o.inventory.entries()) {
    if (IsCertificateRequest(id) && !stays.contains(id)) plan.go.push_back(id);
  }
  std::set<kube::ObjectId> secrets;
  for (const CertificateSeen& seen : o.fleet.certificates) {
    const kube::InventoryEntry* entry = o.inventory.Find(seen.id);
    if (entry == nullptr || !entry->stale) secrets.insert(seen.id);
  }
  for (const kube::Manifest& manifest : rendered) {  // also one that nobody sees, that is lost, or let go in part
    if (auto secret = SecretOf(manifest)) secrets.insert(*std::move(secret));
  }
  for (const kube::ObjectId& secret : secrets) {
    if (!stays.contains(secret)) plan.go.push_back(secret);
  }
  return plan;
}

// Each Certificate that a Secret stands for, and its issuer.
std::set<kube::ObjectId> RequestsOf(const std::vector<kube::Manifest>& manifests) {
  std::set<kube::ObjectId> ids;
  for (const kube::Manifest& manifest : manifests) {
    auto request = RequestOf(manifest);
    if (!request) continue;
    const certificates::IssuerRef& issuer = request->issuer;
    ids.insert(CertificateOf(*request));
    ids.insert({issuer.group, issuer.kind, issuer.kind == "Issuer" ? request->certificate.ns : "", issuer.name});
  }
  return ids;
}

// Secrets that come and are the operator's from now on: their Certificates go.
std::vector<kube::ObjectId> TakenOver(const std::vector<kube::Manifest>& rendered, const HandingOver::Plan& plan) {
  std::vector<kube::ObjectId> secrets;
  for (const kube::Manifest& manifest : rendered) {
    auto request = RequestOf(manifest);
    const bool goes = request && std::find(plan.go.begin(), plan.go.end(), CertificateOf(*request)) != plan.go.end();
    if (goes) secrets.push_back(manifest.id);
  }
  return secrets;
}

std::string Told(const Observation& o) {
  return o.builtin_certificates ? "The operator makes the provider's certificates now, with the keys that there are"
                                : "cert-manager makes the provider's certificates now, with the keys that there are";
}

}  // namespace

bool IsOfCertificates(const kube::Manifest& manifest) {
  return IsCertificateRequest(manifest.id) || HoldsCertificate(manifest);
}

Status AddLiveRequests(const Context& ctx, kube::Client& client, const std::vector<kube::Manifest>& manifests,
                       kube::Inventory& inventory) {
  for (const kube::ObjectId& id : RequestsOf(manifests)) {
    auto resource = client.mapper().For(ctx, id.group_kind());
    if (!resource.ok() && resource.code() == Code::kNotFound) return Ok();
    if (!resource.ok()) return resource.error().With(id.ToString());
    auto live = client.Get(ctx, *resource, id.ns, id.name, {.metadata_only = true});
    if (!live.ok() && live.code() == Code::kNotFound) continue;
    if (!live.ok()) return live.error().With(id.ToString());
    inventory.Put(id, {"v1", "", "", true});
  }
  return Ok();
}

HandingOver::HandingOver(Needs needs)
    : needs_(needs), applier_(needs.client, TrackedApply(needs.observer.tracks()), &needs_.certifier) {}

Certifier::Kept HandingOver::Run(const Context& ctx, const Observation& o) {
  Certifier::Kept kept;
  kept.hands_over = true;
  api::Provider provider = o.provider;
  kept.ended = HandOn(ctx, provider, o, kept);
  if (kept.ended.ok()) kept.what.push_back(Told(o));
  return kept;
}

Status HandingOver::Send(const Context& ctx, const api::Provider& provider,
                         const std::vector<kube::Manifest>& manifests, kube::Inventory& inventory,
                         Certifier::Kept& kept) {
  std::vector<kube::Change> changes;
  Status applied = applier_.Apply(ctx, provider.id, manifests, inventory, changes);
  for (const kube::Change& change : changes) {
    if (change.action == kube::Change::Action::kFailed) continue;
    inventory.Put(change.id, change.entry);
    ++kept.writes;
  }
  return applied;
}

// One that is refused holds up no other, which would have two who keep it: only what stands for that one stays, with
// all who issue.
Status HandingOver::SendEach(const Context& ctx, const api::Provider& provider, Plan& plan, kube::Inventory& inventory,
                             Certifier::Kept& kept) {
  std::vector<kube::Manifest> issuers;
  std::copy_if(plan.come.begin(), plan.come.end(), std::back_inserter(issuers),
               [](const kube::Manifest& manifest) { return !FormerOf(manifest); });
  if (!issuers.empty()) TRY(Send(ctx, provider, issuers, inventory, kept));
  Status ended = Ok();
  for (const kube::Manifest& manifest : plan.come) {
    const auto former = FormerOf(manifest);
    if (!former) continue;
    Status sent = Send(ctx, provider, {manifest}, inventory, kept);
    if (sent.ok()) continue;
    std::erase(plan.go, *former);
    if (ended.ok()) ended = std::move(sent);
  }
  if (ended.ok()) return ended;
  plan.is_whole = false;
  std::erase_if(plan.go, [](const kube::ObjectId& id) { return IsCertificateRequest(id) && id.kind != "Certificate"; });
  return ended;
}

// Keys stay where they are: of cert-manager's go the requests alone, of ours nothing but that we keep it. With its
// owner a Secret would go, and its key. The owner is taken off last: of a Certificate that isn't going cert-manager
// would put it back at once, and that write may come when nobody takes it off any more.
Status HandingOver::LetGo(const Context& ctx, const Observation& o, const Plan& plan,
                          const std::vector<kube::ObjectId>& taken, std::set<kube::ObjectId>& ours) {
  const api::ProviderId& provider = o.provider.id;
  bool owned = false;
  for (const kube::ObjectId& secret : taken) {
    const bool one = TRY(needs_.certifier.IsOwned(ctx, secret));
    owned = owned || one;
  }
  Status ended = Ok();
  auto note = [&](Status one) {  // the first that failed is told, and nothing else waits for it
    if (ended.ok()) ended = std::move(one);
  };
  for (const kube::ObjectId& id : std::vector<kube::ObjectId>(ours.begin(), ours.end())) {
    Status left = needs_.certifier.Leave(ctx, id);
    if (left.ok()) ours.erase(id);
    note(std::move(left));
  }
  // Their marks last: while there is one, what has failed is done again (ToHandOver).
  for (const BundleSeen& target : o.fleet.bundles) {
    const bool goes = plan.is_whole && ours.empty() && !o.builtin_certificates && !target.mark.empty();
    if (goes) note(needs_.certifier.LeaveBundles(ctx, target.id));
  }
  std::vector<kube::ObjectId> requests;
  std::copy_if(plan.go.begin(), plan.go.end(), std::back_inserter(requests), IsCertificateRequest);
  std::vector<kube::Change> changes;
  const std::string propagation = owned ? "Orphan" : kube::DeleteOptions().propagation;
  TRY(applier_.Delete(ctx, provider, requests, lifecycle::KeepsOthers(provider), changes, propagation));
  for (const kube::ObjectId& secret : taken) note(needs_.certifier.Disown(ctx, secret));
  return ended;
}

Status HandingOver::HandOn(const Context& ctx, api::Provider& provider, const Observation& o, Certifier::Kept& kept) {
  auto rendered = needs_.rendered.All(provider.id.Key(), provider.status.applied);
  if (!rendered) return Error{Code::kUnavailable, "the render had to make room for another one", {}};
  Plan plan = PlanOf(o, *rendered);
  kube::Inventory inventory = o.inventory;
  for (const kube::Manifest& manifest : plan.come) {
    inventory.Put(manifest.id, {kube::GroupVersion::Parse(manifest.api_version).version, "", "", false});
  }
  if (!(inventory == o.inventory)) TRY(AnnounceInventory(ctx, needs_.writer, provider, inventory));
  Status sent = SendEach(ctx, provider, plan, inventory, kept);
  if (!sent.ok() && plan.is_whole) return sent;
  // Before a Secret of ours is let go: what no inventory has any more is never pruned, and keeps its key (U4).
  kube::Inventory left = inventory;
  std::set<kube::ObjectId> ours;
  std::copy_if(plan.go.begin(), plan.go.end(), std::inserter(ours, ours.end()), std::not_fn(IsCertificateRequest));
  for (const kube::ObjectId& id : ours) left.Remove(id);
  TRY(AnnounceInventory(ctx, needs_.writer, provider, left));
  Status let_go = LetGo(ctx, o, plan, TakenOver(*rendered, plan), ours);
  if (!let_go.ok()) {  // those that are ours still are the provider's, and go over with the next try (ToHandOver)
    for (const kube::ObjectId& id : ours) {
      // One whose answer was lost may be cert-manager's by now, and would be pruned.
      const auto is_kept = needs_.certifier.IsKept(ctx, id);
      if (!is_kept.ok() || !*is_kept) continue;
      if (const kube::InventoryEntry* entry = inventory.Find(id)) left.Put(id, *entry);
    }
    TRY(AnnounceInventory(ctx, needs_.writer, provider, left));
    return sent.ok() ? let_go : sent;
  }
  if (o.builtin_certificates && !plan.go.empty()) {
    for (const kube::ObjectId& id : plan.go) left.Remove(id);
    TRY(AnnounceInventory(ctx, needs_.writer, provider, left));
  }
  kept.writes += 1;
  return sent;
}

}  // namespace capi::ops
