// A Certificate, its Secret over time, and who calls what serves with it: for tests.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/testing/value_or_abort.h"
#include "lifecycle/certificates/bundle.h"
#include "lifecycle/certificates/issue.h"

namespace capi::certificates {

inline constexpr auto kDay = std::chrono::hours(24);
inline const WallTime kStart{Seconds(1'800'000'000)};
inline const char* const kHost = "a.ns.svc";

inline Request Wanted() {
  Request request;
  request.certificate = {"ns", "serving"};
  request.secret_name = "a-cert";
  request.dns_names = {kHost, "a.ns.svc.cluster.local"};
  request.key = {.algorithm = http::KeyKind::Algorithm::kEcdsa, .bits = 256};
  request.usages = {"digital signature", "key encipherment"};
  request.issuer.name = "self";
  return request;
}

inline Request OfAuthority() {
  Request request = Wanted();
  request.issuer.name = "by-ca";
  request.issuer_secret = "ca";
  return request;
}

inline Request TheAuthority() {
  Request request = Wanted();
  request.certificate.name = "root";
  request.secret_name = "ca";
  request.dns_names = {};
  request.common_name = "a CA";
  request.authority = true;
  return request;
}

// A Secret over time, and who calls the webhook: trusts what was injected last.
struct World {
  Request request = Wanted();
  std::optional<LiveSecret> secret;
  Inputs inputs = {.now = kStart};

  Decision Look() const { return Decide(request, secret, inputs); }
  void Do(Step step) {
    LiveSecret made;
    made.data = ValueOrAbort(Make(step, request, secret, inputs, {}), StepName(step));
    if (secret && !ServesAnew(step)) made.annotations = secret->annotations;
    made.annotations = ValueOrAbort(SecretAnnotations(request, made), "annotations");
    secret = std::move(made);
  }
  const std::string& At(const char* key) const { return secret->data.at(key); }
  bool Trusts(const std::string& bundle) const {
    return http::VerifyServing(At(data_key::kServing), bundle, kHost, inputs.now).ok();
  }
  size_t Trusted() const { return http::SplitCertificates(At(data_key::kTrusted))->size(); }
};

inline World Issued(Request request = Wanted()) {
  World world;
  world.request = std::move(request);
  world.Do(Step::kIssue);
  return world;
}

}  // namespace capi::certificates
