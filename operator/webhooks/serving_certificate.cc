#include "operator/webhooks/serving_certificate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "base/http/certificate.h"

namespace capi::ops {
namespace {

using std::chrono::hours;
namespace key = certificate_key;

constexpr hours kAuthorityLife{24 * 365 * 3};
constexpr hours kServingLife{24 * 90};
// Clocks of others may be behind by that much.
constexpr hours kClocksDiffer{1};

// Of an authority, with its key where the Secret has it.
struct Authority {
  http::Certificate pem;
  http::Validity validity;
};

// The Secret as read: what can't be used is left out.
struct Held {
  std::vector<Authority> bundle;
  std::optional<Authority> issuer, next;  // of the bundle, with their keys
  http::Certificate serving;
  std::optional<http::CertificateFacts> facts;  // of the serving certificate
  std::optional<WallTime> others_until;
};

std::string ValueOf(const SecretData& data, const char* name) {
  auto found = data.find(name);
  return found == data.end() ? "" : found->second;
}

bool In(const http::Validity& validity, WallTime now) { return validity.not_before <= now && now < validity.not_after; }

bool IsDue(const http::Validity& validity, WallTime now) {
  return now >= validity.not_before + (validity.not_after - validity.not_before) / 3 * 2;
}

std::vector<Authority> ReadBundle(const std::string& pem, WallTime now) {
  std::vector<Authority> bundle;
  auto split = http::SplitCertificates(pem);
  if (!split.ok()) return bundle;
  for (std::string& cert : *split) {
    auto facts = http::ReadCertificate(cert);
    if (facts.ok() && facts->authority && In(facts->validity, now)) {
      bundle.push_back({{std::move(cert), ""}, facts->validity});
    }
  }
  return bundle;
}

std::optional<Authority> WithKey(const std::vector<Authority>& bundle, const std::string& key_pem) {
  if (key_pem.empty()) return std::nullopt;
  for (const Authority& authority : bundle) {
    Authority with_key{{authority.pem.cert_pem, key_pem}, authority.validity};
    if (http::CheckKey(with_key.pem).ok()) return with_key;
  }
  return std::nullopt;
}

std::string ToPem(const std::vector<Authority>& bundle) {
  std::string pem;
  for (const Authority& authority : bundle) pem += authority.pem.cert_pem;
  return pem;
}

Held Read(const SecretData& data, WallTime now) {
  Held held;
  held.bundle = ReadBundle(ValueOf(data, key::kBundle), now);
  held.issuer = WithKey(held.bundle, ValueOf(data, key::kAuthorityKey));
  held.next = WithKey(held.bundle, ValueOf(data, key::kNextAuthorityKey));
  held.serving = {ValueOf(data, key::kServing), ValueOf(data, key::kServingKey)};
  auto facts = http::ReadCertificate(held.serving.cert_pem);
  if (facts.ok()) held.facts = *std::move(facts);
  auto until = ParseTime(ValueOf(data, key::kOthersTrustedUntil));
  if (until.ok()) held.others_until = *until;
  return held;
}

// Why the serving certificate can't be served; "" where it can.
std::string Flaw(const Held& held, const CertificateInputs& inputs) {
  Status fits = http::CheckKey(held.serving);
  if (!fits.ok()) return fits.error().message;
  for (const std::string& host : inputs.hosts) {
    Status verified = http::VerifyServing(held.serving.cert_pem, ToPem(held.bundle), host, inputs.now);
    if (!verified.ok()) return verified.error().message;
  }
  return "";
}

bool HasOthers(const Held& held) {
  size_t used = (held.issuer ? 1u : 0u) + (held.next ? 1u : 0u);
  return held.bundle.size() > used;
}

CertificatePlan Replace(const Held& held, const std::string& flaw) {
  if (held.issuer) return {CertificateStep::kRenew, flaw};
  if (held.next) return {CertificateStep::kIssueByNext, flaw};
  return {CertificateStep::kMakeAll, flaw};
}

// No longer than its CA: nobody would take it.
WallTime EndOfServing(const Authority& authority, WallTime now) {
  return std::min<WallTime>(now + kServingLife, authority.validity.not_after);
}

std::string Until(const http::Validity& validity) { return FormatTime(validity.not_after); }

// With a serving certificate that can be served.
CertificatePlan Advance(const Held& held, const CertificateInputs& inputs) {
  if (held.next) {
    if (inputs.injected_since && inputs.now - *inputs.injected_since >= kBundleSettles) {
      return {CertificateStep::kIssueByNext, "all trust the next CA"};
    }
  } else if (!held.issuer) {
    return {CertificateStep::kTrustNext, "there is no CA with its key"};
  } else if (IsDue(held.issuer->validity, inputs.now)) {
    return {CertificateStep::kTrustNext, fmt::format("the CA ends at {}", Until(held.issuer->validity))};
  }
  // One that ends with its CA is followed by none that would end later.
  const bool gains = held.issuer && EndOfServing(*held.issuer, inputs.now) > held.facts->validity.not_after;
  if (gains && IsDue(held.facts->validity, inputs.now)) {
    return {CertificateStep::kRenew, fmt::format("the certificate ends at {}", Until(held.facts->validity))};
  }
  if (held.issuer && HasOthers(held) && held.others_until && inputs.now >= *held.others_until) {
    return {CertificateStep::kDropOthers, "no certificate of the former CA can be served any more"};
  }
  return {};
}

Result<Authority> NewAuthority(WallTime now) {
  http::Validity validity{now - kClocksDiffer, now + kAuthorityLife};
  // A name of its own: some clients look for an issuer by name alone.
  std::string name = "capi-operator webhooks CA " + Sha256Hex(RandomBytes(16)).substr(0, 8);
  return Authority{TRY(http::MakeAuthority(name, validity)), validity};
}

Status Issue(const Authority& authority, const CertificateInputs& inputs, SecretData& data) {
  WallTime from = std::max<WallTime>(inputs.now - kClocksDiffer, authority.validity.not_before);
  auto serving = TRY(http::IssueServing(authority.pem, inputs.hosts, {from, EndOfServing(authority, inputs.now)}));
  data[key::kServing] = serving.cert_pem;
  data[key::kServingKey] = serving.key_pem;
  return Ok();
}

Result<SecretData> MakeAll(const CertificateInputs& inputs) {
  Authority authority = TRY(NewAuthority(inputs.now));
  SecretData data = {{key::kBundle, authority.pem.cert_pem}, {key::kAuthorityKey, authority.pem.key_pem}};
  TRY(Issue(authority, inputs, data));
  return data;
}

// The bundle as it was, and the next CA.
Result<SecretData> TrustNext(const Held& held, SecretData data, WallTime now) {
  Authority next = TRY(NewAuthority(now));
  data[key::kBundle] = ToPem(held.bundle) + next.pem.cert_pem;
  data[key::kNextAuthorityKey] = next.pem.key_pem;
  return data;
}

// The former CA's key goes: nobody issues by it any more. What it has issued, and replicas may serve for a while, ends
// within the life of a certificate from now, whatever the Secret says of it.
Result<SecretData> IssueByNext(const Held& held, SecretData data, const CertificateInputs& inputs) {
  TRY(Issue(*held.next, inputs, data));
  data[key::kAuthorityKey] = held.next->pem.key_pem;
  data.erase(key::kNextAuthorityKey);
  data[key::kOthersTrustedUntil] = FormatTime(inputs.now + kServingLife);
  return data;
}

SecretData DropOthers(const Held& held, SecretData data) {
  std::vector<Authority> kept = {*held.issuer};
  if (held.next) kept.push_back(*held.next);
  data[key::kBundle] = ToPem(kept);
  data.erase(key::kOthersTrustedUntil);
  return data;
}

}  // namespace

std::string_view StepName(CertificateStep step) {
  switch (step) {
    case CertificateStep::kKeep: return "Kept";
    case CertificateStep::kMakeAll: return "Made";
    case CertificateStep::kRenew: return "Renewed";
    case CertificateStep::kTrustNext: return "NextAuthorityTrusted";
    case CertificateStep::kIssueByNext: return "AuthorityReplaced";
    case CertificateStep::kDropOthers: return "FormerAuthorityDropped";
  }
  return "";
}

CertificatePlan PlanCertificate(const std::optional<SecretData>& data, const CertificateInputs& inputs) {
  if (!data) return {CertificateStep::kMakeAll, "there is none"};
  Held held = Read(*data, inputs.now);
  if (held.bundle.empty()) return {CertificateStep::kMakeAll, "ca.crt holds no CA that counts now"};
  std::string flaw = Flaw(held, inputs);
  if (!flaw.empty()) return Replace(held, flaw);
  if (held.issuer && held.facts->hosts != inputs.hosts) return {CertificateStep::kRenew, "it is for other hosts"};
  return Advance(held, inputs);
}

Result<SecretData> MakeCertificate(CertificateStep step, const SecretData& data, const CertificateInputs& inputs) {
  Held held = Read(data, inputs.now);
  switch (step) {
    case CertificateStep::kKeep: return data;
    case CertificateStep::kMakeAll: return MakeAll(inputs);
    case CertificateStep::kTrustNext: return TrustNext(held, data, inputs.now);
    case CertificateStep::kRenew: {
      if (!held.issuer) break;
      SecretData renewed = data;
      TRY(Issue(*held.issuer, inputs, renewed));
      return renewed;
    }
    case CertificateStep::kIssueByNext:
      if (!held.next) break;
      return IssueByNext(held, data, inputs);
    case CertificateStep::kDropOthers:
      if (!held.issuer) break;
      return DropOthers(held, data);
  }
  return Error{Code::kInvalidArgument, fmt::format("nothing to make for {}", StepName(step)), {}};
}

}  // namespace capi::ops
