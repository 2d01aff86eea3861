// caBundles: whom API servers trust as a webhook; what is in those that are live, and whose it is. Pure and
// thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/meta/object.h"
#include "lifecycle/certificates/requests.h"

namespace capi::certificates {

// The most certificates in a bundle: what a Secret or a CRD takes, and more than renewals ever leave at once.
inline constexpr size_t kMostTrusted = 16;

// Certificates of several PEM texts in their order, each once, those that have ended by `now` left out; of more than
// kMostTrusted the first are kept. A text that isn't PEM counts as none.
std::string Combine(const std::vector<std::string>& pems, WallTime now);

// Whether all certificates of `bundle_pem` that count at `now` are in `trusted_pem` too, and one at least is.
bool Includes(std::string_view trusted_pem, std::string_view bundle_pem, WallTime now);

// Whether a certificate was made for this request, be it by us or by cert-manager, before or after a Secret was lost:
// it has the request's names and subject. False for what can't be read.
bool IsFor(const Request& request, std::string_view cert_pem);

// Whose a live caBundle is.
enum class BundleOwner {
  kNobody,  // empty, or a placeholder that isn't PEM: to be filled in
  kOurs,    // every certificate in it is in the Secret's ca.crt, next.crt or tls.crt, or was made for one of the
            // requests, or has ended: to be written over
  kOther,   // somebody else's, be it in part: neither written over nor extended
};
// `requests`: the Secret's, and those of who issues for it. `secret_pem`: the certificates that their Secrets hold, one
// text after another; "" where they are gone.
BundleOwner OwnerOf(std::string_view bundle_pem, std::span<const Request> requests, std::string_view secret_pem,
                    WallTime now);

// The caBundles of a live object as PEM, one for each webhook that it calls; empty texts for those that have none, and
// for what is no base64. None for an object that calls no webhook: a CRD without conversion by webhook.
std::vector<std::string> LiveBundles(const kube::Object& target);

}  // namespace capi::certificates
