#include "local/plane/authority.h"

#include <fmt/format.h>

#include <functional>

#include "base/encoding.h"
#include "base/files.h"

namespace capi::local {
namespace {

using Hours = std::chrono::hours;

constexpr Hours kDay{24};
constexpr Hours kLife = 3650 * kDay;
constexpr Hours kMargin = 30 * kDay;
constexpr char kUser[] = "capi-local-admin";
constexpr char kGroup[] = "system:masters";
const std::vector<std::string> kHosts = {"127.0.0.1",
                                         "localhost",
                                         "kubernetes",
                                         "kubernetes.default",
                                         "kubernetes.default.svc",
                                         "kubernetes.default.svc.cluster.local"};

http::Validity From(WallTime now) { return {now - Hours(1), now + kLife}; }

// `issuer_pem`: of the authority that it has to be of; "" for none.
bool IsFit(const http::Certificate& certificate, const std::string& issuer_pem, WallTime now) {
  auto facts = http::ReadCertificate(certificate.cert_pem);
  return facts.ok() && http::CheckKey(certificate).ok() && facts->validity.not_before <= now &&
         now + kMargin < facts->validity.not_after &&
         (issuer_pem.empty() || http::VerifyChain(certificate.cert_pem, issuer_pem, now).ok());
}

// A certificate in two files, and how it is made where it isn't fit.
struct Kept {
  const char* name;
  std::string issuer_pem;
  std::function<Result<http::Certificate>()> make;
};

Result<http::Certificate> Ensure(const PlaneFolder& folder, const Kept& kept, WallTime now) {
  const std::string cert = folder.Pki(fmt::format("{}.crt", kept.name));
  const std::string key = folder.Pki(fmt::format("{}.key", kept.name));
  auto cert_pem = ReadFile(cert, 1u << 20), key_pem = ReadFile(key, 1u << 20);
  if (cert_pem.ok() && key_pem.ok()) {
    http::Certificate there{*cert_pem, *key_pem};
    if (IsFit(there, kept.issuer_pem, now)) return there;
  }
  http::Certificate fresh = TRY(kept.make());
  TRY(WriteFile(key, fresh.key_pem, 0600));
  TRY(WriteFile(cert, fresh.cert_pem, 0600));
  return fresh;
}

}  // namespace

Result<Credentials> EnsureCredentials(const PlaneFolder& folder, WallTime now) {
  const http::Validity validity = From(now);
  auto another = [&] { return http::MakeAuthority("capi-local", validity); };
  const http::Certificate authority = TRY(Ensure(folder, {"ca", "", another}, now));
  const std::string& issuer = authority.cert_pem;
  auto serving = [&] { return http::IssueServing(authority, kHosts, validity); };
  auto client = [&] { return http::IssueClient(authority, kUser, kGroup, validity); };
  // The API server takes the public key of ServiceAccounts out of a certificate, too. With another one no token that
  // it gave out counts any more.
  auto accounts = [&] { return http::MakeAuthority("capi-local-service-accounts", validity); };
  TRY(Ensure(folder, {"apiserver", issuer, serving}, now));
  TRY(Ensure(folder, {"service-accounts", "", accounts}, now));
  Credentials out;
  out.administrator = TRY(Ensure(folder, {"administrator", issuer, client}, now));
  out.ca_pem = authority.cert_pem;
  return out;
}

std::string KubeconfigText(const Credentials& credentials, int port) {
  return fmt::format(R"(apiVersion: v1
kind: Config
clusters:
- name: {0}
  cluster:
    server: https://127.0.0.1:{1}
    certificate-authority-data: {2}
users:
- name: capi-local-admin
  user:
    client-certificate-data: {3}
    client-key-data: {4}
contexts:
- name: {0}
  context:
    cluster: {0}
    user: capi-local-admin
current-context: {0}
)",
                     kContext, port, Base64Encode(credentials.ca_pem), Base64Encode(credentials.administrator.cert_pem),
                     Base64Encode(credentials.administrator.key_pem));
}

kube::Config ClientConfig(const Credentials& credentials, int port) {
  kube::Config config;
  config.server = fmt::format("https://127.0.0.1:{}", port);
  config.tls.ca_pem = credentials.ca_pem;
  config.tls.cert_pem = credentials.administrator.cert_pem;
  config.tls.key_pem = credentials.administrator.key_pem;
  config.context = kContext;
  return config;
}

}  // namespace capi::local
