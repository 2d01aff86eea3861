// The operator's flags. Names are the peer's where it has one. What is accepted is carried out; a flag of the peer's
// that asks for something else than what happens here is refused, with the reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/this_build.h"
#include "operator/observe/settings.h"

namespace capi::ops {

struct Options {
  std::string kubeconfig, context;
  std::string ns;  // --namespace: watch only this one
  std::string lease_namespace;
  Seconds lease_duration{15}, renew_deadline{10}, retry_period{2};
  int concurrency = 4;
  Seconds sync_period = std::chrono::hours(10);
  Seconds check_updates = std::chrono::hours(12);  // 0: never
  std::string diagnostics_address = ":8443";
  bool insecure_diagnostics = false;
  std::string health_address = ":9440";
  std::string ui_address = "0";
  int webhook_port = 0;  // 0: no webhooks
  // Sorted, as certificates write them; without any, the names of the Service that manifests/ has.
  std::vector<std::string> webhook_hosts;
  std::string webhook_cert_dir;  // "": a certificate of our own
  std::vector<std::string> environment_variables = {"EXP_*", "CLUSTER_TOPOLOGY"};
  std::string clusterctl_config = "/config/clusterctl.yaml";
  std::string releases_dir;
  std::vector<std::string> allowed_sources;  // as CanonicalSource gives them
  Certificates certificates = Certificates::kCertManager;
  bool adopt_inventory = false;
  bool allow_cross_namespace_references = false;
  bool require_service_account = false;
  bool require_verified = false;
  std::string github_api_url = "https://api.github.com";
  std::string github_url = "https://github.com";
  LogLevel log_level = LogLevel::kInfo;  // LevelOf(--v)
  LogFormat log_format = LogFormat::kText;
};

// Of --v, and of what is put at /debug/flags/v.
inline constexpr std::string_view kVerbosities = "0 to 3 for what is done, 4 and more for details";
inline LogLevel LevelOf(int verbosity) { return verbosity >= 4 ? LogLevel::kDebug : LogLevel::kInfo; }

// What Main does when the arguments ask for no run: print `text` to standard output (exit 0) or error (exit 2).
struct EarlyExit {
  std::string text;
  int code = 0;
};

struct ParsedOptions {
  std::optional<Options> options;
  EarlyExit exit;  // when there are none
};

// `build`: what --version tells.
ParsedOptions ParseOptions(int argc, const char* const* argv, const BuildInfo& build);

}  // namespace capi::ops
