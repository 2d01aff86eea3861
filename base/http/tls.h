// OpenSSL contexts made from TlsOptions, and its errors in words.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/http/client.h"
#include "base/result.h"

namespace capi::http {

using TlsContext = std::shared_ptr<SSL_CTX>;

// One context serves all connections of a client, so certificates are parsed and kept once. kInvalidArgument for PEM
// that is none.
Result<TlsContext> NewClientTls(const TlsOptions& options);

// For a server, with its certificate chain.
Status UseCertificate(SSL_CTX* tls, std::string_view cert_pem, std::string_view key_pem);

// Notices when the files that options name have changed. Thread-compatible.
class TlsFiles {
 public:
  explicit TlsFiles(const TlsOptions& options);
  // True when a file isn't what it was at the last call, or at the construction; and a few seconds after Unusable, in
  // case that a file was written while it was read.
  bool Changed(MonoTime now);
  // What Changed told of couldn't be used. True the first time that this is said of the files as they are.
  bool Unusable(MonoTime now);

 private:
  std::string Stamp() const;
  std::vector<std::string> paths_;
  std::string stamp_;
  std::optional<MonoTime> again_;  // when to try files that haven't changed
  bool known_unusable_ = false;
};

// A BIO over a socket that sends without SIGPIPE. Doesn't own `fd`.
BIO* NewSocketBio(int fd);

// kUnavailable, with the reason that OpenSSL gives: "TLS handshake: certificate verify failed: self-signed
// certificate".
Error TlsError(std::string_view what, const SSL* ssl);

}  // namespace capi::http
