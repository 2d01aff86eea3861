#include "operator/decide/certificates/due.h"

#include <algorithm>

#include "api/reasons.h"
#include "operator/decide/certificates/bundles.h"
#include "operator/decide/pause.h"
#include "operator/decide/rules.h"

namespace capi::ops {
namespace {

const CertificateSeen* CertificateOf(const Fleet& fleet, const std::string& ca_from) {
  for (const CertificateSeen& seen : fleet.certificates) {
    if (seen.id.ns + "/" + seen.state.certificate == ca_from) return &seen;
    if (SecretMark(seen.id.ns + "/" + seen.id.name) == ca_from) return &seen;
  }
  return nullptr;
}

bool IsWhole(const CertificateSeen& seen) { return seen.held >= kCertificateKeys; }

bool Trusts(const BundleSeen& target, const CertificateSeen& certificate) {
  return !target.came && SaysOf(target.mark, certificate.state.bundle, target.held);
}

// Of a release that was applied before: it goes, whoever makes certificates.
bool IsStale(const Observation& o, const kube::ObjectId& id) {
  const kube::InventoryEntry* entry = o.inventory.Find(id);
  return entry != nullptr && entry->stale;
}

// Who writes a later time than the end into a Secret puts off nothing.
WallTime DueAt(const CertificateState& state) {
  return state.ends == WallTime() ? state.renew : std::min(state.renew, state.ends);
}

// The next certificate is there, and not served yet.
bool IsRenewing(const CertificateSeen& seen) { return seen.next; }

// They can't be kept here: whoever else is to make them needn't wait for that.
bool KeepingFails(const Observation& o) {
  return o.certificate_trouble.error.has_value() && o.certificate_trouble.of_keeping;
}

// A pause of the user's, something that can't be read, or what isn't the provider's to write.
bool IsLeftAlone(const Observation& o) {
  if (o.spec_error || o.inventory_error || o.provider.spec.paused || o.former || o.namespace_going) return true;
  if (o.certificate_trouble.wait > Millis(0)) return true;
  return o.provider.deleting && (RemovalBegan(o) || !GuardsDeletion(o));
}

// What is applied then is the former version in part only, and the render of the new one is needed for the rest (U2).
bool IsSentInPart(const api::ProviderStatus& status) {
  if (status.history.empty()) return false;
  const api::HistoryEntry& last = status.history.front();
  const bool ended =
      last.outcome.empty() || last.outcome == api::outcome::kSucceeded || last.outcome == api::outcome::kRolledBack;
  return !ended && !last.inputs.empty() && last.inputs != status.applied;
}

}  // namespace

void SeeCertificates(const kube::ObjectId& id, const CertificateMarks& marks, Fleet& fleet) {
  if (id.group_kind() == kube::GroupKind{"", "Secret"}) {
    if (auto state = ParseState(marks.state))
      fleet.certificates.push_back({id, *std::move(state), marks.held, marks.next});
  } else if (!marks.ca_from.empty()) {
    fleet.bundles.push_back({id, marks.ca_from, marks.bundle, marks.held, marks.came});
  }
}

std::vector<kube::ObjectId> DueCertificates(const Fleet& fleet, WallTime now) {
  std::vector<kube::ObjectId> due;
  for (const CertificateSeen& seen : fleet.certificates) {
    if (!IsWhole(seen) || DueAt(seen.state) <= now) due.push_back(seen.id);
  }
  for (const BundleSeen& target : fleet.bundles) {
    const CertificateSeen* certificate = CertificateOf(fleet, target.ca_from);
    if (certificate != nullptr && !Trusts(target, *certificate)) due.push_back(target.id);
  }
  return due;
}

std::optional<Millis> NextCertificate(const Fleet& fleet, WallTime now) {
  std::optional<Millis> next;
  for (const CertificateSeen& seen : fleet.certificates) {
    const auto left = std::max(std::chrono::ceil<Millis>(DueAt(seen.state) - now), Millis(0));
    next = std::min(next.value_or(left), left);
  }
  return next;
}

bool IsCertificateRequest(const kube::ObjectId& id) { return id.group == "cert-manager.io"; }

// A Secret that is lost says nothing of who made it: what trusted it does. So does what a try that was broken off has
// left: what trusts a Secret is let go after it.
bool ToHandOver(const Observation& o) {
  const bool asks = std::any_of(o.inventory.entries().begin(), o.inventory.entries().end(),
                                [](const auto& entry) { return IsCertificateRequest(entry.first); });
  if (o.builtin_certificates) return asks;
  const auto& seen = o.fleet.certificates;
  if (std::any_of(seen.begin(), seen.end(), [&](const CertificateSeen& one) { return !IsStale(o, one.id); }))
    return true;
  return std::any_of(o.fleet.bundles.begin(), o.fleet.bundles.end(),
                     [](const BundleSeen& target) { return !target.mark.empty(); });
}

std::optional<Step> DecideCertificates(const Observation& o) {
  if (IsLeftAlone(o)) return std::nullopt;
  // Each in its turn: what fails here is due first for ever, and a hand-over that fails takes no renewal's turn.
  if (KeepingFails(o) && !o.provider.deleting && DecideHandOver(o)) return std::nullopt;
  auto due = DueCertificates(o.fleet, o.now);
  if (due.empty()) return std::nullopt;
  return Certify{std::move(due)};
}

// It needs what is applied, rendered again from the release that is kept. Otherwise the next installation does it.
std::optional<Step> DecideHandOver(const Observation& o) {
  if (IsLeftAlone(o) || !ToHandOver(o) || AppliedRelease(o) == nullptr) return std::nullopt;
  if (IsSentInPart(o.provider.status)) return std::nullopt;
  // cert-manager would serve another one at once: what calls the webhooks trusts the next one in a minute. One that
  // fails isn't waited for.
  const auto& seen = o.fleet.certificates;
  const bool renews = std::any_of(seen.begin(), seen.end(), IsRenewing);
  if (!o.builtin_certificates && renews && !KeepingFails(o)) return std::nullopt;
  return HandOver{};
}

Hold CertificatesHold(const Error& error, Millis next_try) {
  return Hold{std::string(api::condition::kReady), std::string(api::reason::kCertificateNotKept), error.message,
              Retry::kAt, next_try};
}

std::optional<Hold> CertificatesFailed(const Observation& o) {
  const CertificateTrouble& trouble = o.certificate_trouble;
  if (!trouble.error || trouble.wait <= Millis(0)) return std::nullopt;
  return CertificatesHold(*trouble.error, trouble.wait);
}

}  // namespace capi::ops
