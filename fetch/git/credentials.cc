#include "fetch/git/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/encoding.h"
#include "base/http/pem.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

using Secret = std::map<std::string, std::string>;

// As Flux names them, and as the Secrets of other sources do here.
const std::set<std::string, std::less<>> kOfHttp = {"username", "password",     "bearerToken",        "caFile",
                                                    "ca.crt",   "github-token", "gitlab-access-token"};
const std::set<std::string, std::less<>> kOfSsh = {"identity", "identity.pub", "known_hosts", "password"};

Error Wrong(std::string message) { return Error{Code::kUnauthenticated, std::move(message), {}}; }

std::string ValueOf(const Secret& secret, std::string_view key) {
  auto found = secret.find(std::string(key));
  return found == secret.end() ? std::string() : found->second;
}

std::string NamesOf(const std::set<std::string, std::less<>>& keys) {
  return Join(std::vector<std::string>(keys.begin(), keys.end()), ", ");
}

Status CheckKeys(const Secret& secret, bool ssh) {
  const auto &known = ssh ? kOfSsh : kOfHttp, &other = ssh ? kOfHttp : kOfSsh;
  for (const auto& [key, value] : secret) {
    if (!known.contains(key)) {
      return Wrong(fmt::format("the Secret's key {:.80} is {}: of {} the keys are {}", key,
                               other.contains(key) ? "of the other way to a repository" : "none that is known",
                               ssh ? "ssh" : "https", NamesOf(known)));
    }
    if (Trim(value).empty()) return Wrong(fmt::format("the Secret's key {} is empty", key));
  }
  return Ok();
}

// It goes into a header.
Status CheckLine(const std::string& value, std::string_view key) {
  const bool fits = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
  if (fits) return Ok();
  return Wrong(
      fmt::format("the Secret's key {} has more than one line, or a character that doesn't belong there", key));
}

// A CA that can't be read is told as what it is, and not as a server without a right certificate.
Status CheckCa(const std::string& pem, std::string_view key) {
  const auto certificates = http::ReadCertificates(pem, key);
  if (certificates.ok() && !certificates->empty()) return Ok();
  return Wrong(fmt::format("the Secret's key {} has no certificate in PEM, or one that can't be read", key));
}

// The first of them that is there.
Result<std::string> TokenIn(const Secret& secret, GitCredentials& out) {
  std::string used;
  for (std::string_view key : {"password", "bearerToken", "github-token", "gitlab-access-token"}) {
    std::string value(Trim(ValueOf(secret, key)));
    if (value.empty()) continue;
    TRY(CheckLine(value, key));
    if (!used.empty()) return Wrong(fmt::format("the Secret has both {} and {}: leave one out", used, key));
    used = key;
    (key == "bearerToken" ? out.bearer_token : out.password) = std::move(value);
  }
  return used;
}

Result<GitCredentials> OfHttp(const Secret& secret) {
  GitCredentials out;
  out.username = Trim(ValueOf(secret, "username"));
  TRY(CheckLine(out.username, "username"));
  const std::string used = TRY(TokenIn(secret, out));
  if (used == "password" && out.username.empty()) return Wrong("the Secret has password, and no key username");
  if (!out.username.empty() && used.empty()) return Wrong("the Secret has username, and no key password");
  if (!out.username.empty() && used == "bearerToken")
    return Wrong("the Secret has both username and bearerToken: leave one out");
  if (out.username.find(':') != out.username.npos) return Wrong("the Secret's key username has a colon");
  // The name that these services want beside a token.
  if (out.username.empty() && used == "github-token") out.username = "x-access-token";
  if (out.username.empty() && used == "gitlab-access-token") out.username = "oauth2";
  for (const char* key : {"caFile", "ca.crt"}) {
    if (!secret.contains(key)) continue;
    out.ca = ValueOf(secret, key);
    TRY(CheckCa(out.ca, key));
  }
  return out;
}

}  // namespace

std::string GitCredentials::Authorization() const {
  if (!bearer_token.empty()) return "Bearer " + bearer_token;
  if (password.empty()) return "";
  return "Basic " + Base64Encode(username + ":" + password);
}

Result<GitCredentials> ReadGitCredentials(const api::GitReference& reference, const Secret& secret) {
  const bool ssh = reference.scheme == api::GitReference::Scheme::kSsh;
  TRY(CheckKeys(secret, ssh));
  if (!ssh) return OfHttp(secret);
  GitCredentials out;
  for (std::string_view key : {"identity", "known_hosts"}) {
    if (secret.contains(std::string(key))) continue;
    return Wrong(fmt::format("over ssh the Secret of secretRef needs the key {}: {}", key,
                             key == "identity" ? "a private key that the server knows"
                                               : "what ssh-keyscan says of the server, once you know that it is so"));
  }
  out.identity = ValueOf(secret, "identity");
  out.passphrase = ValueOf(secret, "password");
  out.known_hosts = ValueOf(secret, "known_hosts");
  return out;
}

}  // namespace capi::fetch
