// What the API server says that it was asked for.
#pragma once

#include <string>
#include <vector>

#include "kube/testing/control_plane.h"

namespace capi::e2e {

// A value.
struct AuditedRequest {
  std::string user;        // as whom, where the client impersonates one
  std::string user_agent;  // "capi-operator/0.1.0"
  std::string verb, uri, resource;
  std::string time;  // MicroTime of its arrival
  bool writes() const { return verb != "get" && verb != "list" && verb != "watch"; }
  std::string ToString() const { return verb + " " + uri; }
};

// All of them so far; `plane` was started with an audit log.
std::vector<AuditedRequest> AuditLog(const kube::ControlPlane& plane);

}  // namespace capi::e2e
