#include "operator/options.h"

#include <CLI/CLI.hpp>

#include "api/types.h"
#include "base/strings.h"
#include "base/version.h"

namespace capi::ops {
namespace {

// "15s", "1m30s": whole seconds, one at least.
Result<Seconds> ParseSeconds(const std::string& text) {
  auto parsed = api::ParseDuration(text);
  if (parsed.ok() && *parsed >= Seconds(1) && *parsed % Seconds(1) == Millis(0)) {
    return std::chrono::duration_cast<Seconds>(*parsed);
  }
  return Error{Code::kInvalidArgument, "\"" + text + "\" is no duration like 15s or 1m30s", {}};
}

void AddSeconds(CLI::App& app, const std::string& name, Seconds& target, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&target](const std::string& text) {
           auto parsed = ParseSeconds(text);
           if (!parsed.ok()) throw CLI::ValidationError(parsed.error().message);
           target = *parsed;
         },
         help)
      ->type_name("DURATION");
}

// Flags of the peer that have no meaning here: accepted, so that its Deployment starts this operator too.
void AddIgnored(CLI::App& app) {
  static std::string text;
  static bool flag;
  for (const char* name :
       {"--watch-filter", "--profiler-address", "--sync-period", "--manager-concurrency", "--tls-min-version",
        "--tls-cipher-suites", "--vmodule", "--webhook-port", "--webhook-cert-dir"}) {
    app.add_option(name, text, "accepted for compatibility, without effect")->group("Compatibility");
  }
  for (const char* name : {"--leader-elect", "--watch-configsecret", "--watch-configmap", "--contention-profiling"}) {
    app.add_flag(name, flag, "accepted for compatibility, without effect")->group("Compatibility");
  }
}

void AddCluster(CLI::App& app, Options& o) {
  app.add_option(
      "--kubeconfig", o.kubeconfig,
      "file to reach the cluster with; without it: $KUBECONFIG, ~/.kube/config, then the Pod's service account");
  app.add_option("--kubeconfig-context", o.context, "context of that file; without it the current one");
  app.add_option("--namespace", o.ns, "watch providers in this namespace alone; without it in all");
  app.add_option("--leader-elect-namespace", o.lease_namespace,
                 "namespace of the Lease controller-leader-election-capi-operator; without it the operator's own");
  AddSeconds(app, "--leader-elect-lease-duration", o.lease_duration, "others wait that long for a silent leader [15s]");
  AddSeconds(app, "--leader-elect-renew-deadline", o.renew_deadline, "the leader gives up after that long [10s]");
  AddSeconds(app, "--leader-elect-retry-period", o.retry_period, "time between two tries [2s]");
  app.add_option("--concurrency", o.concurrency, "providers worked on at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
}

void AddServing(CLI::App& app, Options& o) {
  app.add_option(
         "--diagnostics-address", o.diagnostics_address,
         "address of /metrics: HTTPS for those who may get /metrics (token review); plain on loopback; 0 turns it off")
      ->capture_default_str();
  app.add_flag("--insecure-diagnostics", o.insecure_diagnostics, "serve /metrics in plain HTTP, to anyone");
  app.add_option("--health-addr", o.health_address, "address of /healthz and /readyz; 0 turns it off")
      ->capture_default_str();
}

void AddReleases(CLI::App& app, Options& o) {
  app.add_option("--environment-variables", o.environment_variables,
                 "names (with * as a wildcard) of the operator's environment variables that releases may use")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--clusterctl-config", o.clusterctl_config,
                 "clusterctl configuration file; its providers and images are used")
      ->capture_default_str();
  app.add_option("--releases-dir", o.releases_dir,
                 "take releases from this folder instead of the network: <label>/<version>/<file>");
  app.add_flag("--adopt-inventory", o.adopt_inventory,
               "create Provider objects for the providers that clusterctl installed, and take these over");
  app.add_option("--github-api-url", o.github_api_url, "API of GitHub or GitHub Enterprise")->capture_default_str();
  app.add_option("--github-url", o.github_url, "where release files are downloaded from")->capture_default_str();
}

}  // namespace

ParsedOptions ParseOptions(int argc, const char* const* argv) {
  Options o;
  CLI::App app("Manages the life of Cluster API providers declaratively.", "capi-operator");
  int verbosity = 0;
  std::string format = "text";
  AddCluster(app, o);
  AddServing(app, o);
  AddReleases(app, o);
  AddIgnored(app);
  app.add_option("-v,--v", verbosity, "verbosity: 0 to 3 for what is done, 4 and more for details")
      ->capture_default_str();
  app.add_option("--log-format", format, "text or json")->capture_default_str()->check(CLI::IsMember({"text", "json"}));
  app.set_version_flag("--version", "capi-operator " + std::string(kProjectVersion));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    int code = app.exit(e, out, err);
    return {std::nullopt, {out.str() + err.str(), code == 0 ? 0 : 2}};
  }
  if (o.renew_deadline >= o.lease_duration || o.retry_period >= o.renew_deadline) {
    return {std::nullopt,
            {"--leader-elect-retry-period must be shorter than --leader-elect-renew-deadline, and that shorter than "
             "--leader-elect-lease-duration\n",
             2}};
  }
  o.log_level = verbosity >= 4 ? LogLevel::kDebug : LogLevel::kInfo;
  o.log_format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  return {o, {}};
}

}  // namespace capi::ops
