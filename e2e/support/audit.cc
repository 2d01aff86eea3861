#include "e2e/support/audit.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace capi::e2e {

std::vector<AuditedRequest> AuditLog(const kube::ControlPlane& plane) {
  std::vector<AuditedRequest> requests;
  auto log = ReadFile(plane.audit_log());
  EXPECT_TRUE(log.ok());
  for (const std::string& line : Split(log.ok() ? *log : "", '\n')) {
    auto event = ParseJson(line);
    if (!event.ok()) continue;  // the last one, half written
    requests.push_back({.user = GetString(*event, {"impersonatedUser", "username"}),
                        .user_agent = GetString(*event, {"userAgent"}),
                        .verb = GetString(*event, {"verb"}),
                        .uri = GetString(*event, {"requestURI"}),
                        .resource = GetString(*event, {"objectRef", "resource"}),
                        .time = GetString(*event, {"requestReceivedTimestamp"})});
  }
  EXPECT_FALSE(requests.empty());
  return requests;
}

}  // namespace capi::e2e
