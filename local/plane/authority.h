// The certificates of a plane: an authority of its own, which nothing else trusts (behaviour.md G1).
#pragma once

#include <string>

#include "base/clock.h"
#include "base/http/certificate.h"
#include "kube/client/client.h"
#include "local/plane/plane_folder.h"

namespace capi::local {

// What the programs and their clients need. A value.
struct Credentials {
  std::string ca_pem;
  http::Certificate administrator;
};

// Makes what is missing in the folder, doesn't fit together, is of another authority or ends within a month: the
// authority (ten years), the API server's certificate, the key of ServiceAccounts, the administrator's
// certificate. kInternal where a file can't be written.
Result<Credentials> EnsureCredentials(const PlaneFolder& folder, WallTime now);

// What the plane's context and its cluster are called in a kubeconfig.
inline constexpr char kContext[] = "capi-local";

// For the administrator, at "https://127.0.0.1:PORT". Whoever reads it may do everything in the plane.
std::string KubeconfigText(const Credentials& credentials, int port);

// The same for a client of ours.
kube::Config ClientConfig(const Credentials& credentials, int port);

}  // namespace capi::local
