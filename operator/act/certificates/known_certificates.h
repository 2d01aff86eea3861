// What a Certifier knows of a provider while it keeps its certificates (behaviour.md I19): what was read, and what has
// been written since.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lifecycle/certificates/bundle.h"
#include "operator/act/certificates/certifier.h"
#include "operator/decide/certificates/bundles.h"
#include "operator/decide/certificates/marks.h"

namespace capi::ops {

// A value. Thread-compatible.
struct Certifier::Known {
  CertificateSecret::All secrets;
  std::vector<kube::ObjectId> targets;
  std::optional<std::map<kube::ObjectId, kube::Object>> live;  // of the targets, once they are read
  std::set<kube::ObjectId> written;                            // what they serve, or whom they trust, is another now
  std::set<kube::ObjectId> uncertain;                          // an answer was lost: nobody knows what they serve
  std::map<kube::ObjectId, std::string> unsure;  // targets that may not trust theirs: CertificateMarks::ca_from, or ""

  // Whether everything that is to trust that Secret does.
  bool IsTrusted(const CertificateSecret& secret) const {
    return std::none_of(unsure.begin(), unsure.end(),
                        [&](const auto& one) { return one.second.empty() || secret.IsNamedBy(one.second); });
  }
  const CertificateSecret* Of(const std::string& ca_from) const {
    for (const auto& [id, secret] : secrets) {
      if (!ca_from.empty() && secret.IsNamedBy(ca_from)) return &secret;
    }
    return nullptr;
  }
  // CA bundles in what is to trust that Secret.
  std::vector<std::string> BundlesOf(const CertificateSecret& secret) const {
    std::vector<std::string> all;
    for (const auto& [id, target] : live.value_or(std::map<kube::ObjectId, kube::Object>())) {
      if (!secret.IsNamedBy(MarksIn(target).ca_from)) continue;
      for (std::string& bundle : certificates::LiveBundles(target)) all.push_back(std::move(bundle));
    }
    return all;
  }
  // Of a target, for each of its bundles: whether it is, be it in part, of certificates that nobody of these has, or
  // asks for. Where all were filled in they are the operator's, whoever has changed them since; as many are not
  // all, where one is among them that wasn't.
  std::vector<bool> OthersIn(const kube::Object& target, const CertificateMarks& marks, WallTime now) const {
    const std::vector<std::string> bundles = certificates::LiveBundles(target);
    std::vector<bool> others(bundles.size(), false);
    const Json* webhooks = Find(target.json(), {"webhooks"});
    auto place = [&](size_t i) { return webhooks == nullptr ? kOnlyPlace : GetString((*webhooks)[i], {"name"}); };
    const std::set<std::string> left = NotFilledIn(marks.bundle);
    bool all = FilledIn(marks.bundle) >= static_cast<int>(bundles.size());
    for (size_t i = 0; i < bundles.size(); ++i) all = all && !left.contains(place(i));
    if (all) return others;
    std::vector<certificates::Request> requests;
    std::string held;
    for (const auto& [id, secret] : secrets) {
      if (secret.request() != nullptr) requests.push_back(*secret.request());
      for (const auto& [name, value] : secret.data()) {
        if (name.ends_with(".crt")) held += value;
      }
    }
    const std::set<std::string> as_written = HeldPlaces(target);
    for (size_t i = 0; i < bundles.size(); ++i) {
      if (webhooks != nullptr && as_written.contains(place(i))) continue;
      others[i] = certificates::OwnerOf(bundles[i], requests, held, now) == certificates::BundleOwner::kOther;
    }
    return others;
  }
  bool IsIssuerWritten(const kube::ObjectId& id) const {
    const std::string issuer = secrets.at(id).issuer_secret();
    return !issuer.empty() && written.contains({"", "Secret", id.ns, issuer});
  }
};

}  // namespace capi::ops
