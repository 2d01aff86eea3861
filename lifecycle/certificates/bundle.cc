#include "lifecycle/certificates/bundle.h"

#include <algorithm>
#include <set>

#include "base/encoding.h"
#include "base/http/certificate.h"
#include "base/strings.h"
#include "kube/meta/kind.h"

namespace capi::certificates {
namespace {

constexpr std::string_view kPemBegins = "-----BEGIN CERTIFICATE-----";

std::vector<std::string> Split(std::string_view pem) {
  auto split = http::SplitCertificates(pem);
  return split.ok() ? *std::move(split) : std::vector<std::string>();
}

bool HasEnded(const std::string& cert_pem, WallTime now) {
  auto facts = http::ReadCertificate(cert_pem);
  return !facts.ok() || facts->validity.not_after <= now;
}

std::set<std::string> Names(const std::vector<std::string>& names) {
  std::set<std::string> out;
  for (const std::string& name : names) out.insert(ToLower(name));
  return out;
}

// The objects with a caBundle, one for each webhook; null where that has none.
std::vector<const Json*> ClientConfigs(const kube::Object& target) {
  std::vector<const Json*> configs;
  const Json& json = target.json();
  if (kube::IsCrd(target.id())) {
    if (GetString(json, {"spec", "conversion", "strategy"}) != "Webhook") return configs;
    configs.push_back(Find(json, {"spec", "conversion", "webhook", "clientConfig"}));
  } else if (kube::Is(target.id(), "apiregistration.k8s.io", "APIService")) {
    if (Find(json, {"spec", "service"}) != nullptr) configs.push_back(Find(json, {"spec"}));
  } else if (const Json* webhooks = Find(json, {"webhooks"}); webhooks != nullptr && webhooks->is_array()) {
    for (const Json& webhook : *webhooks) configs.push_back(Find(webhook, {"clientConfig"}));
  }
  return configs;
}

}  // namespace

std::string Combine(const std::vector<std::string>& pems, WallTime now) {
  std::string out;
  std::set<std::string> seen;
  for (const std::string& pem : pems) {
    for (std::string& cert : Split(pem)) {
      if (seen.size() == kMostTrusted) return out;
      if (HasEnded(cert, now) || !seen.insert(cert).second) continue;
      out += cert;
    }
  }
  return out;
}

bool Includes(std::string_view trusted_pem, std::string_view bundle_pem, WallTime now) {
  std::vector<std::string> trusted = Split(trusted_pem);
  bool any = false;
  for (const std::string& cert : Split(bundle_pem)) {
    if (HasEnded(cert, now)) continue;
    any = true;
    if (std::find(trusted.begin(), trusted.end(), cert) == trusted.end()) return false;
  }
  return any;
}

bool IsFor(const Request& request, std::string_view cert_pem) {
  auto facts = http::ReadCertificate(cert_pem);
  return facts.ok() && Names(facts->dns_names) == Names(request.dns_names) &&
         Names(facts->addresses) == Names(request.ip_addresses) && facts->common_name == request.common_name &&
         Names(facts->organizations) == Names(request.organizations) && facts->authority == request.authority;
}

BundleOwner OwnerOf(std::string_view bundle_pem, std::span<const Request> requests, std::string_view secret_pem,
                    WallTime now) {
  std::vector<std::string> bundle = Split(bundle_pem);
  if (bundle.empty()) {
    // A text of which one certificate can't be read is still somebody's.
    return bundle_pem.find(kPemBegins) == std::string_view::npos ? BundleOwner::kNobody : BundleOwner::kOther;
  }
  std::vector<std::string> held = Split(secret_pem);
  auto is_ours = [&](const std::string& cert) {
    if (HasEnded(cert, now) || std::find(held.begin(), held.end(), cert) != held.end()) return true;
    return std::any_of(requests.begin(), requests.end(), [&](const Request& request) { return IsFor(request, cert); });
  };
  return std::all_of(bundle.begin(), bundle.end(), is_ours) ? BundleOwner::kOurs : BundleOwner::kOther;
}

std::vector<std::string> LiveBundles(const kube::Object& target) {
  std::vector<std::string> bundles;
  for (const Json* config : ClientConfigs(target)) {
    auto decoded = Base64Decode(config == nullptr ? "" : GetString(*config, {"caBundle"}));
    bundles.push_back(decoded.ok() ? *std::move(decoded) : "");
  }
  return bundles;
}

}  // namespace capi::certificates
