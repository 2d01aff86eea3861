#include "lifecycle/certificates/held.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "lifecycle/certificates/bundle.h"
#include "lifecycle/certificates/usages.h"

namespace capi::certificates {
namespace {

KeyPair ReadPair(std::string cert, std::string key, WallTime now) {
  KeyPair pair{{std::move(cert), std::move(key)}, {}, ""};
  auto facts = http::ReadCertificate(pair.pem.cert_pem);
  if (facts.ok()) pair.facts = *facts;
  Status fits = http::CheckKey(pair.pem);
  if (!fits.ok()) {
    pair.flaw = fits.error().message;
  } else if (!facts.ok()) {
    pair.flaw = facts.error().message;
  } else if (now < pair.facts->validity.not_before - kClocksDiffer) {
    pair.flaw = "the certificate counts from " + FormatTime(pair.facts->validity.not_before);
  } else if (now >= pair.facts->validity.not_after) {
    pair.flaw = "the certificate ended at " + FormatTime(pair.facts->validity.not_after);
  }
  return pair;
}

// As cert-manager compares where it has no CertificateRequest: names may stand in the subject or beside it.
std::set<std::string> AllNames(std::vector<std::string> names, const std::string& common_name) {
  std::set<std::string> all(names.begin(), names.end());
  if (!common_name.empty()) all.insert(common_name);
  return all;
}

std::set<std::string> Addresses(const std::vector<std::string>& addresses) {
  return {addresses.begin(), addresses.end()};
}

std::vector<std::string> Split(const std::string& pem) {
  auto split = http::SplitCertificates(pem);
  return split.ok() ? *std::move(split) : std::vector<std::string>();
}

std::string AnnotationOf(const std::map<std::string, std::string>& annotations, const char* name,
                         std::string_view fallback) {
  auto found = annotations.find(name);
  return found == annotations.end() || found->second.empty() ? std::string(fallback) : found->second;
}

std::string CurrentRoot(const Request& request, const Held& held, const Inputs& inputs) {
  std::string root = held.serving.facts ? RootOf(held.serving, held.trusted) : "";
  if (!root.empty() || request.issuer_secret.empty() || !held.serving.facts) return root;
  auto authority = ReadAuthority(request, inputs);
  return authority.ok() ? RootOf(held.serving, authority->root) : "";
}

// Whether it is of who issues now: the issuer may have changed since it was made.
bool IsOfIssuer(const Request& request, const KeyPair& pair, const Inputs& inputs) {
  if (request.issuer_secret.empty()) return pair.facts->self_signed;
  auto authority = ReadAuthority(request, inputs);
  return !authority.ok() || (!pair.facts->self_signed && !RootOf(pair, authority->root).empty());
}

bool IsIn(const std::string& pem, const std::string& cert) {
  const std::vector<std::string> all = Split(pem);
  return !cert.empty() && std::find(all.begin(), all.end(), cert) != all.end();
}

std::string Without(const std::string& pem, const std::string& cert) {
  std::string rest;
  for (const std::string& one : Split(pem)) rest += one == cert ? "" : one;
  return rest;
}

}  // namespace

IssuedFor WhoseIs(const Request& request, const std::map<std::string, std::string>& annotations) {
  IssuedFor out{request.issuer, AnnotationOf(annotations, kCertificateNameAnnotation, request.certificate.name)};
  bool has_issuer = false;
  for (const char* name : {kIssuerNameAnnotation, kIssuerKindAnnotation, kIssuerGroupAnnotation}) {
    has_issuer = has_issuer || annotations.contains(name);
  }
  if (!has_issuer) return out;
  out.issuer = {AnnotationOf(annotations, kIssuerNameAnnotation, ""),
                AnnotationOf(annotations, kIssuerKindAnnotation, "Issuer"),
                AnnotationOf(annotations, kIssuerGroupAnnotation, "cert-manager.io")};
  return out;
}

std::string ValueOf(const SecretData& data, std::string_view name) {
  auto found = data.find(std::string(name));
  return found == data.end() ? "" : found->second;
}

Held Read(const SecretData& data, WallTime now) {
  Held held;
  held.serving = ReadPair(ValueOf(data, data_key::kServing), ValueOf(data, data_key::kServingKey), now);
  held.trusted = ValueOf(data, data_key::kTrusted);
  if (data.contains(data_key::kNext)) {
    held.next = ReadPair(ValueOf(data, data_key::kNext), ValueOf(data, data_key::kNextKey), now);
  }
  return held;
}

Result<Authority> ReadAuthority(const Request& request, const Inputs& inputs) {
  auto refused = [&](std::string_view why) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("Secret {}/{} with the CA that is to issue {}", request.certificate.ns, request.issuer_secret, why),
        {}};
  };
  if (inputs.issuer == nullptr) return refused("isn't there");
  Held held = Read(*inputs.issuer, inputs.now);
  if (!held.serving.usable()) return refused("can't be used: " + held.serving.flaw);
  if (!held.serving.facts->authority) return refused("has a certificate that may not issue others");
  std::vector<std::string> own = Split(held.serving.pem.cert_pem);
  Authority authority{{own.front(), held.serving.pem.key_pem}, "", own.front(), held.serving.facts->validity.not_after};
  if (held.serving.facts->self_signed) return authority;
  authority.chain = Join(own, "");
  authority.root = RootOf(held.serving, held.trusted);
  if (authority.root.empty()) return refused("has no certificate in ca.crt that its CA is of");
  return authority;
}

std::string Mismatch(const Request& request, const KeyPair& pair) {
  const http::CertificateFacts& facts = *pair.facts;
  auto kind = http::ReadKeyKind(pair.pem.key_pem);
  if (!kind.ok() || !*kind || (*kind)->algorithm != request.key.algorithm || (*kind)->bits != request.key.bits) {
    return "its key is of another algorithm or size";
  }
  if (AllNames(facts.dns_names, facts.common_name) != AllNames(request.dns_names, request.common_name) ||
      Addresses(facts.addresses) != Addresses(request.ip_addresses)) {
    return "it is for other names";
  }
  if (request.authority && !facts.authority) return "it may not issue others";
  return "";
}

std::string Difference(const Request& request, const KeyPair& pair) {
  std::string why = Mismatch(request, pair);
  if (!why.empty()) return why;
  const http::CertificateFacts& facts = *pair.facts;
  UsageNames usages = NamesOf(request.usages);
  if (request.authority) usages.simple.emplace_back("keyCertSign");
  auto as_set = [](const std::vector<std::string>& names) { return std::set<std::string>(names.begin(), names.end()); };
  if (!request.authority && facts.authority) return "it may issue others";
  if (as_set(facts.key_usages) != as_set(usages.simple) || as_set(facts.extended_usages) != as_set(usages.extended)) {
    return "it is for other usages";
  }
  const bool same_subject =
      facts.common_name == request.common_name && as_set(facts.organizations) == as_set(request.organizations);
  return same_subject ? "" : "its subject is another";
}

std::string RootOf(const KeyPair& pair, const std::string& candidates_pem) {
  std::vector<std::string> own = Split(pair.pem.cert_pem);
  if (own.empty()) return "";
  if (pair.facts->self_signed) return own.front();
  for (const std::string& candidate : Split(candidates_pem)) {
    auto facts = http::ReadCertificate(candidate);
    if (!facts.ok() || candidate == own.front()) continue;
    // Whether they count now is another question. Clocks differ: a CA may count later than what it has issued.
    const WallTime at = std::max(pair.facts->validity.not_before, facts->validity.not_before);
    if (http::VerifyChain(pair.pem.cert_pem, candidate, at).ok()) return candidate;
  }
  return "";
}

bool IsNextGood(const Request& request, const Held& held, const Inputs& inputs) {
  // Its age doesn't matter: where the time for renewal is longer than what it takes until one is trusted, each would be
  // followed by another, and none be served.
  return held.next && held.next->usable() && Difference(request, *held.next).empty() &&
         IsOfIssuer(request, *held.next, inputs) && IsIn(held.trusted, RootOf(*held.next, held.trusted));
}

bool LacksCurrent(const Request& request, const Held& held, const Inputs& inputs) {
  const std::string root = CurrentRoot(request, held, inputs);
  return !Combine({root}, inputs.now).empty() && !IsIn(held.trusted, root);
}

// Of a chain whose CA nobody knows any more, what is served next counts: that is as far as it can be mended.
bool TrustsWhatIsServed(const SecretData& data, WallTime now) {
  const Held held = Read(data, now);
  if (!held.serving.facts) return !held.trusted.empty();
  if (IsIn(held.trusted, RootOf(held.serving, held.trusted))) return true;
  const bool next = held.next && held.next->facts && !held.serving.facts->self_signed;
  return next && IsIn(held.trusted, RootOf(*held.next, held.trusted));
}

std::string Trusted(const Request& request, const Held& held, const Inputs& inputs) {
  std::string unwanted = held.next && held.next->facts ? RootOf(*held.next, "") : "";
  return Combine({CurrentRoot(request, held, inputs), Without(held.trusted, unwanted)}, inputs.now);
}

}  // namespace capi::certificates
