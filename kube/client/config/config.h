// How to reach an API server: kubeconfig files and in-cluster configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/http/client.h"

namespace capi::kube {

// Fills the Authorization header; may read a file or run a program. Thread-safe.
class CredentialSource {
 public:
  struct Credential {
    std::string authorization;                    // "Bearer ..." or ""
    std::string client_cert_pem, client_key_pem;  // from an exec plugin; "" for none
    std::uint64_t generation = 0;                 // of a plugin's: grows with each run, so that the newer one is known
  };
  virtual ~CredentialSource() = default;
  // Cached until it expires or the file changes. `refused`: the one that a server answered with 401, null for none.
  // Where there is a newer one already, that is the answer.
  virtual Result<Credential> Get(const Context& ctx, const Credential* refused) = 0;
};

struct Config {
  std::string server;  // "https://127.0.0.1:6443"
  http::TlsOptions tls;
  http::Proxy proxy;
  std::string ns = "default";                     // of the context
  std::string context;                            // its name
  std::shared_ptr<CredentialSource> credentials;  // null: none, or client certificate alone
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
};

struct ConfigSources {
  std::string
      kubeconfig;       // --kubeconfig; "" for $KUBECONFIG (a list, merged as kubectl does), ~/.kube/config, in-cluster
  std::string context;  // --kubeconfig-context; "" for current-context
  std::function<const char*(const char*)> getenv;  // empty: the process's
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

// kInvalidArgument names file and field. Paths in a file are relative to it. Tokens from files are read again as they
// rotate; exec plugins (client.authentication.k8s.io/v1 and v1beta1) run when a credential is needed and has expired.
Result<Config> LoadConfig(const ConfigSources& sources);

}  // namespace capi::kube
