// What the Secret holds after a step (issue.h).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "lifecycle/certificates/bundle.h"
#include "lifecycle/certificates/held.h"
#include "lifecycle/certificates/issue.h"
#include "lifecycle/certificates/usages.h"

namespace capi::certificates {
namespace {

// A certificate, with the chain behind it, and whom to trust for it.
struct Made {
  http::Certificate pem;
  std::string root;
};

http::CertificateContent ContentOf(const Request& request, const http::Validity& validity) {
  http::CertificateContent content{.common_name = request.common_name,
                                   .organizations = request.organizations,
                                   .dns_names = request.dns_names,
                                   .addresses = request.ip_addresses,
                                   .validity = validity,
                                   .authority = request.authority,
                                   .key_usages = {},
                                   .extended_usages = {}};
  UsageNames usages = NamesOf(request.usages);
  content.key_usages = std::move(usages.simple);
  content.extended_usages = std::move(usages.extended);
  return content;
}

Result<std::string> KeyFor(const Request& request, const Held& held) {
  if (request.keep_key && http::ReadKeyKind(held.serving.pem.key_pem).ok()) return held.serving.pem.key_pem;
  return http::MakeKey(request.key);
}

Result<Made> MakeOne(const Request& request, const Held& held, const Inputs& inputs) {
  std::string key = TRY(KeyFor(request, held));
  http::Validity validity{inputs.now - kClocksDiffer, inputs.now + request.duration};
  if (request.issuer_secret.empty()) {
    std::string cert = TRY(http::IssueCertificate(ContentOf(request, validity), key, std::nullopt));
    return Made{{cert, std::move(key)}, cert};
  }
  Authority authority = TRY(ReadAuthority(request, inputs));
  validity.not_after = std::min(validity.not_after, authority.ends);
  std::string cert = TRY(http::IssueCertificate(ContentOf(request, validity), key, authority.pem));
  return Made{{cert + authority.chain, std::move(key)}, std::move(authority.root)};
}

SecretData Served(const http::Certificate& pem, std::string trusted) {
  return {{data_key::kServing, pem.cert_pem},
          {data_key::kServingKey, pem.key_pem},
          {data_key::kTrusted, std::move(trusted)}};
}

// Of what is injected: who was trusted for this request. The oldest first: what processes serve with came before those
// whose Secret was never written, and is the last that a full bundle drops.
std::vector<std::string> TrustedBefore(const Request& request, const std::vector<std::string>& live) {
  std::multimap<WallTime, std::string> by_age;
  for (const std::string& bundle : live) {
    auto split = http::SplitCertificates(bundle);
    if (!split.ok()) continue;
    for (std::string& cert : *split) {
      auto facts = http::ReadCertificate(cert);
      if (facts.ok() && IsFor(request, cert)) by_age.emplace(facts->validity.not_before, std::move(cert));
    }
  }
  std::vector<std::string> certs;
  for (auto& [since, cert] : by_age) certs.push_back(std::move(cert));
  return certs;
}

Result<SecretData> IssueAnew(const Request& request, const Held& held, const Inputs& inputs,
                             const std::vector<std::string>& live) {
  Made made = TRY(MakeOne(request, held, inputs));
  std::vector<std::string> trusted = {made.root, held.trusted};
  for (std::string& cert : TrustedBefore(request, live)) trusted.push_back(std::move(cert));
  return Served(made.pem, Combine(trusted, inputs.now));
}

// What it had, and the next certificate, in the place of one that isn't wanted.
Result<SecretData> TrustNext(const Request& request, const Held& held, const Inputs& inputs, SecretData data) {
  Made made = TRY(MakeOne(request, held, inputs));
  Held before = held;
  before.trusted = Trusted(request, held, inputs);
  std::string current = RootOf(held.serving, before.trusted);
  data[data_key::kNext] = made.pem.cert_pem;
  data[data_key::kNextKey] = made.pem.key_pem;
  data[data_key::kTrusted] = Combine({current, made.root, before.trusted}, inputs.now);
  return data;
}

SecretData ServeNext(const Held& held, const Inputs& inputs) {
  return Served(held.next->pem, Combine({RootOf(*held.next, held.trusted), held.trusted}, inputs.now));
}

SecretData Tidy(const Request& request, const Held& held, const Inputs& inputs, SecretData data) {
  data[data_key::kTrusted] = Trusted(request, held, inputs);
  data.erase(data_key::kNext);
  data.erase(data_key::kNextKey);
  return data;
}

// A list in one line, as cert-manager writes it: its pkg/util/util.go.
std::string Csv(const std::vector<std::string>& values) {
  std::vector<std::string> fields;
  for (const std::string& value : values) {
    const bool plain = value.find_first_of(",\"\r\n") == std::string::npos && !value.starts_with(' ');
    fields.push_back(plain ? value : fmt::format("\"{}\"", ReplaceAll(value, "\"", "\"\"")));
  }
  return Join(fields, ",");
}

}  // namespace

Result<SecretData> Make(Step step, const Request& request, const std::optional<LiveSecret>& secret,
                        const Inputs& inputs, const std::vector<std::string>& live) {
  const SecretData data = secret ? secret->data : SecretData();
  const Held held = Read(data, inputs.now);
  const bool served = held.serving.facts.has_value();
  switch (step) {
    case Step::kKeep: return data;
    case Step::kBlocked: break;
    case Step::kIssue: return IssueAnew(request, held, inputs, live);
    case Step::kRenew: return IssueAnew(request, held, inputs, {});
    case Step::kTrustNext:
      if (!served) break;
      return TrustNext(request, held, inputs, data);
    case Step::kServeNext:
      if (!IsNextGood(request, held, inputs)) break;
      return ServeNext(held, inputs);
    case Step::kTidyTrusted:
      if (!served) break;
      return Tidy(request, held, inputs, data);
  }
  return Error{Code::kInvalidArgument, fmt::format("nothing to make for {}", StepName(step)), {}};
}

Result<std::map<std::string, std::string>> SecretAnnotations(const Request& request, const LiveSecret& secret) {
  http::CertificateFacts facts = TRY(http::ReadCertificate(ValueOf(secret.data, data_key::kServing)));
  const IssuedFor whose = WhoseIs(request, secret.annotations);
  std::map<std::string, std::string> out = request.secret_annotations;
  out["cert-manager.io/common-name"] = facts.common_name;
  if (!facts.organizations.empty()) out["cert-manager.io/subject-organizations"] = Csv(facts.organizations);
  out["cert-manager.io/alt-names"] = Csv(facts.dns_names);
  out["cert-manager.io/ip-sans"] = Csv(facts.addresses);
  out["cert-manager.io/uri-sans"] = "";
  out[kCertificateNameAnnotation] = whose.certificate;
  out[kIssuerNameAnnotation] = whose.issuer.name;
  out[kIssuerKindAnnotation] = whose.issuer.kind;
  out[kIssuerGroupAnnotation] = whose.issuer.group;
  out[kRequestAnnotation] = ToText(request);
  return out;
}

std::map<std::string, std::string> SecretLabels(const Request& request) {
  std::map<std::string, std::string> out = request.secret_labels;
  out["controller.cert-manager.io/fao"] = "true";
  return out;
}

}  // namespace capi::certificates
