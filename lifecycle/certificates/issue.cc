#include "lifecycle/certificates/issue.h"

#include <fmt/format.h>

#include <algorithm>

#include "lifecycle/certificates/bundle.h"
#include "lifecycle/certificates/held.h"

namespace capi::certificates {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

// Where only a change elsewhere, of which the caller is told, can help.
constexpr Seconds kLookInVain = minutes(10);

// Whose the Secret says it is. What it doesn't say isn't held against it: cert-manager's policies.
std::string WrongOwner(const Request& request, const LiveSecret& secret) {
  const IssuedFor said = WhoseIs(request, secret.annotations);
  if (said.issuer != request.issuer) return "another issuer issued it";
  if (said.certificate != request.certificate.name) return "it was issued for another Certificate";
  return "";
}

bool IsDue(const Request& request, const KeyPair& pair, WallTime now) {
  return now >= RenewalTime(request, pair.facts->validity);
}

// What stands against a new certificate; "" where nothing does. `authority`: set where one issues.
std::string Obstacle(const Request& request, const Held* held, const Inputs& inputs,
                     std::optional<Authority>& authority) {
  if (!request.issuer_secret.empty()) {
    auto read = ReadAuthority(request, inputs);
    if (!read.ok()) return read.error().message;
    authority = *std::move(read);
  }
  if (!request.keep_key || held == nullptr) return "";
  auto kind = http::ReadKeyKind(held->serving.pem.key_pem);
  if (!kind.ok()) return "";  // none that could be kept
  const bool fits = *kind && (*kind)->algorithm == request.key.algorithm && (*kind)->bits == request.key.bits;
  return fits ? "" : "its key is of another algorithm or size, and rotationPolicy Never keeps it: delete the Secret";
}

bool Settled(const Injected& injected, WallTime now) {
  return !injected.targets || (injected.since && now - *injected.since >= kBundleSettles);
}

std::vector<std::string> SplitOrNone(const std::string& pem) {
  auto split = http::SplitCertificates(pem);
  return split.ok() ? *std::move(split) : std::vector<std::string>();
}

WallTime FirstEnd(const std::string& trusted, WallTime latest) {
  for (const std::string& cert : SplitOrNone(trusted)) {
    auto facts = http::ReadCertificate(cert);
    if (facts.ok()) latest = std::min(latest, facts->validity.not_after);
  }
  return latest;
}

// Why a certificate that can be served is to be followed by another, whatever its age; "" where it isn't.
std::string Fault(const Request& request, const LiveSecret& secret, const Held& held, const Inputs& inputs) {
  std::string why = WrongOwner(request, secret);
  const bool is_kept = secret.annotations.contains(kRequestAnnotation);
  if (why.empty()) why = is_kept ? Difference(request, held.serving) : Mismatch(request, held.serving);
  if (!why.empty() || !RootOf(held.serving, held.trusted).empty()) return why;
  auto authority = ReadAuthority(request, inputs);
  const bool mends = authority.ok() && !RootOf(held.serving, authority->root).empty();
  return mends ? "" : "ca.crt has nobody who issued it";
}

// A certificate that would end no later gains nothing: its CA is renewed first.
bool Gains(const Request& request, const Held& held, const std::optional<Authority>& authority, WallTime now) {
  if (!authority) return true;
  return std::min<WallTime>(now + request.duration, authority->ends) > held.serving.facts->validity.not_after;
}

Decision Replace(const Request& request, const Held& held, const Inputs& inputs, const std::string& fault) {
  std::string why = fault.empty() ? "it ends at " + FormatTime(held.serving.facts->validity.not_after) : fault;
  std::optional<Authority> authority;
  std::string obstacle = Obstacle(request, &held, inputs, authority);
  const bool lacks_current = LacksCurrent(request, held, inputs);
  const bool gains = !fault.empty() || Gains(request, held, authority, inputs.now);
  // What is served is to be trusted, also where nothing can follow it.
  if (lacks_current && (!obstacle.empty() || !gains)) {
    return {Step::kTidyTrusted, "ca.crt isn't what is to be trusted now", inputs.now};
  }
  if (!obstacle.empty()) return {Step::kBlocked, fmt::format("{}; {}", why, obstacle), inputs.now + kLookInVain};
  if (!gains) return {Step::kKeep, "", inputs.now + kLookInVain};
  const bool trusted = !lacks_current && authority && Includes(held.trusted, authority->root, inputs.now);
  if (trusted && Settled(inputs.injected, inputs.now)) return {Step::kRenew, std::move(why), inputs.now};
  return {Step::kTrustNext, std::move(why), inputs.now};
}

Decision IssueNow(const Request& request, const Held* held, const Inputs& inputs, const std::string& why) {
  std::optional<Authority> authority;
  std::string obstacle = Obstacle(request, held, inputs, authority);
  if (!obstacle.empty()) return {Step::kBlocked, fmt::format("{}; {}", why, obstacle), inputs.now + kLookInVain};
  return {Step::kIssue, why, inputs.now};
}

Decision WithNext(const Held& held, const Inputs& inputs) {
  if (Settled(inputs.injected, inputs.now)) {
    return {Step::kServeNext, "what calls the webhooks trusts the next certificate", inputs.now};
  }
  WallTime settled = inputs.injected.since.value_or(inputs.now) + kBundleSettles;
  return {Step::kKeep, "the next certificate waits until it is trusted",
          std::min(settled, held.serving.facts->validity.not_after)};
}

}  // namespace

std::string_view StepName(Step step) {
  switch (step) {
    case Step::kKeep: return "Kept";
    case Step::kBlocked: return "Blocked";
    case Step::kIssue: return "Issued";
    case Step::kRenew: return "Renewed";
    case Step::kTrustNext: return "NextTrusted";
    case Step::kServeNext: return "NextServed";
    case Step::kTidyTrusted: return "TrustTidied";
  }
  return "";
}

bool ServesAnew(Step step) { return step == Step::kIssue || step == Step::kRenew || step == Step::kServeNext; }

WallTime RenewalTime(const Request& request, const http::Validity& validity) {
  const auto life = std::chrono::duration_cast<Seconds>(validity.not_after - validity.not_before);
  Seconds before = life / 3;
  if (request.renew_before && *request.renew_before < life) {
    before = *request.renew_before;
  } else if (request.renew_before_percentage) {
    before = life * *request.renew_before_percentage / 100;
  }
  return validity.not_after - before;
}

std::optional<WallTime> EndOf(const SecretData& data) {
  auto facts = http::ReadCertificate(ValueOf(data, data_key::kServing));
  if (!facts.ok()) return std::nullopt;
  return facts->validity.not_after;
}

Decision Decide(const Request& request, const std::optional<LiveSecret>& secret, const Inputs& inputs) {
  if (!secret) return IssueNow(request, nullptr, inputs, "the Secret isn't there");
  Held held = Read(secret->data, inputs.now);
  const bool next = IsNextGood(request, held, inputs);
  if (!held.serving.usable()) {
    if (next) return {Step::kServeNext, held.serving.flaw, inputs.now};
    return IssueNow(request, &held, inputs, held.serving.flaw);
  }
  std::string fault = Fault(request, *secret, held, inputs);
  if (!fault.empty() || IsDue(request, held.serving, inputs.now)) {
    // Somebody may have changed ca.crt since: then the next one and all that it needs begin anew.
    const bool goes_on = next && !LacksCurrent(request, held, inputs);
    return goes_on ? WithNext(held, inputs) : Replace(request, held, inputs, fault);
  }
  if (held.next) return {Step::kTidyTrusted, "the next certificate isn't needed any more", inputs.now};
  if (SplitOrNone(Trusted(request, held, inputs)) != SplitOrNone(held.trusted)) {
    return {Step::kTidyTrusted, "ca.crt isn't what is to be trusted now", inputs.now};
  }
  WallTime renewal = RenewalTime(request, held.serving.facts->validity);
  return {Step::kKeep, "", FirstEnd(held.trusted, renewal)};
}

}  // namespace capi::certificates
