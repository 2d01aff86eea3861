#include "operator/options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "api/types.h"
#include "base/http/certificate.h"
#include "base/strings.h"
#include "operator/act/install/sources.h"

namespace capi::ops {
namespace {

constexpr Seconds kShortestSync{10}, kShortestCheck{10};

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

// The same, or 0 for never.
void AddCheckUpdates(CLI::App& app, Seconds& target) {
  app.add_option_function<std::string>(
         "--check-updates",
         [&target](const std::string& text) {
           auto parsed = api::ParseDuration(text);
           const bool off = parsed.ok() && *parsed == Millis(0);
           auto seconds = off ? Result<Seconds>(Seconds(0)) : ParseSeconds(text);
           if (!seconds.ok()) throw CLI::ValidationError(seconds.error().message);
           if (!off && *seconds < kShortestCheck) {
             throw CLI::ValidationError(fmt::format("must be 0 or at least {}s", kShortestCheck.count()));
           }
           target = *seconds;
         },
         "time between two looks for newer versions at a provider's source, give or take a tenth; 0: no source is "
         "asked "
         "for them, as where there is no network [12h]")
      ->type_name("DURATION");
}

// A flag of the peer's, what of it is so here anyway, and why no other value is taken.
struct PeerFlag {
  const char* name;
  std::vector<std::string> taken;
  const char* why;
};

const PeerFlag kPeerFlags[] = {
    {"--leader-elect", {"true"}, "this operator always holds its Lease, so that a second one can't write beside it"},
    {"--watch-configsecret", {"true"}, "Secrets of variables are always watched"},
    {"--watch-configmap", {"true"}, "ConfigMaps with releases are always watched"},
    {"--watch-filter", {""}, "an operator works on all providers that it sees; --namespace limits it to one namespace"},
    {"--manager-concurrency", {}, "--concurrency is the number of providers worked on at once"},
    {"--profiler-address", {"", "0"}, "there is no profiler to serve"},
    {"--contention-profiling", {"false"}, "there is no profiler"},
    {"--tls-min-version", {"VersionTLS12"}, "TLS 1.2 is the lowest version that is served"},
    {"--tls-cipher-suites", {""}, "the cipher suites are those of OpenSSL's configuration"},
    {"--vmodule", {""}, "--v is the verbosity of everything"},
};

void AddPeerFlags(CLI::App& app) {
  for (const PeerFlag& flag : kPeerFlags) {
    const bool boolean = !flag.taken.empty() && (flag.taken.front() == "true" || flag.taken.front() == "false");
    auto check = [&flag](const std::string& text) {
      if (std::find(flag.taken.begin(), flag.taken.end(), text) != flag.taken.end()) return;
      throw CLI::ValidationError(fmt::format("{}={}: {}; remove the flag", flag.name, text, flag.why));
    };
    std::string help = fmt::format("of kubernetes-sigs/cluster-api-operator; {}", flag.why);
    if (boolean) {
      app.add_flag_function(
             flag.name, [check](std::int64_t count) { check(count > 0 ? "true" : "false"); }, help)
          ->group("Compatibility");
    } else {
      app.add_option_function<std::string>(flag.name, check, help)->expected(0, 1)->group("Compatibility");
    }
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
  AddSeconds(app, "--sync-period", o.sync_period,
             "time between two looks at what is ready, give or take a tenth; what isn't is looked at more often [10h]");
}

void AddServing(CLI::App& app, Options& o) {
  app.add_option("--diagnostics-address", o.diagnostics_address,
                 "address of /metrics, and of /debug/flags/v, where the verbosity is set: HTTPS for those who may get "
                 "the one, or "
                 "put the other (token review); plain and for everybody on loopback; 0 turns both off")
      ->capture_default_str();
  app.add_flag("--insecure-diagnostics", o.insecure_diagnostics,
               "serve /metrics in plain HTTP, to anyone; then nobody sets the verbosity");
  app.add_option(
         "--ui-address", o.ui_address,
         "address of the status page: HTTPS for those who may get providers, who see these alone (token review); "
         "plain and for everybody on loopback; 0: there is none")
      ->capture_default_str();
  app.add_option("--health-addr", o.health_address, "address of /healthz and /readyz; 0 turns it off")
      ->capture_default_str();
}

void AddWebhooks(CLI::App& app, Options& o) {
  app.add_option("--webhook-port", o.webhook_port,
                 "port of the webhooks that the API server calls, HTTPS on all interfaces; 0: there are none")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  app.add_option("--webhook-cert-dir", o.webhook_cert_dir,
                 "folder with tls.crt and tls.key, read again when they change; without it the operator makes a "
                 "certificate, keeps it in a Secret, and tells the API server whom to trust");
  app.add_option("--webhook-hosts", o.webhook_hosts,
                 "names and IP addresses by which the API server calls the webhooks, for the certificate that the "
                 "operator makes [capi-operator-webhook-service.<namespace>.svc and the same with .cluster.local]")
      ->delimiter(',');
}

// Why they can't be carried out together; "" where they can. Hosts become canonical.
std::string CheckWebhooks(Options& o) {
  if (o.webhook_port == 0 && !o.webhook_cert_dir.empty()) return "--webhook-cert-dir needs --webhook-port";
  if (o.webhook_port == 0 && !o.webhook_hosts.empty()) return "--webhook-hosts needs --webhook-port";
  if (!o.webhook_cert_dir.empty() && !o.webhook_hosts.empty()) {
    return "--webhook-hosts is for a certificate that the operator makes; with --webhook-cert-dir it makes none";
  }
  for (std::string& host : o.webhook_hosts) {
    auto canonical = http::CanonicalHost(host);
    if (!canonical.ok()) return "--webhook-hosts: " + canonical.error().message;
    host = *std::move(canonical);
  }
  std::sort(o.webhook_hosts.begin(), o.webhook_hosts.end());
  o.webhook_hosts.erase(std::unique(o.webhook_hosts.begin(), o.webhook_hosts.end()), o.webhook_hosts.end());
  return "";
}

void AddReleases(CLI::App& app, Options& o) {
  AddCheckUpdates(app, o.check_updates);
  app.add_option("--environment-variables", o.environment_variables,
                 "names (with * as a wildcard) of the operator's environment variables that releases may use")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--clusterctl-config", o.clusterctl_config,
                 "clusterctl configuration file; its providers and images are used")
      ->capture_default_str();
  app.add_option("--releases-dir", o.releases_dir,
                 "take releases from this folder instead of the network: <label>/<version>/<file>");
  app.add_option(
         "--allowed-sources", o.allowed_sources,
         "hosts that spec.fetchConfig.oci and spec.fetchConfig.git, and spec.fetchConfig.url beside GitHub, may name; "
         "with a port where it isn't the scheme's own, and *.example.com for all below it; a list replaces the default "
         "[gitlab.com, for git github.com too, and no registry]")
      ->delimiter(',')
      ->allow_extra_args(false);  // or brackets around all of it would be those of a list, and not an IPv6 address's
  app.add_flag("--adopt-inventory", o.adopt_inventory,
               "create Provider objects for the providers that clusterctl installed, and take these over");
  app.add_flag(
      "--allow-cross-namespace-references", o.allow_cross_namespace_references,
      "let a provider name Secrets and ConfigMaps of other namespaces: whoever may write one provider can then "
      "have any Secret of the cluster used");
  app.add_flag("--require-service-account", o.require_service_account,
               "install, change and remove nothing in the operator's own name: every provider has to name, in "
               "spec.serviceAccountName, a ServiceAccount of its namespace, and has no other rights than that one");
  app.add_flag(
      "--require-verified", o.require_verified,
      "install and change nothing of a provider whose release isn't verified: every provider has to have "
      "spec.fetchConfig.digest or spec.fetchConfig.verify. It guards against a source that changes, not against "
      "who may write Provider objects: they choose the keys or the digest; additionalManifests isn't verified");
  app.add_option("--github-api-url", o.github_api_url, "API of GitHub or GitHub Enterprise")->capture_default_str();
  app.add_option("--github-url", o.github_url, "where release files are downloaded from")->capture_default_str();
}

void AddCertificates(CLI::App& app, Options& o) {
  static const std::map<std::string, Certificates> kNames = {
      {"auto", Certificates::kAuto}, {"cert-manager", Certificates::kCertManager}, {"builtin", Certificates::kBuiltin}};
  app.add_option_function<std::string>(
         "--certificates", [&o](const std::string& name) { o.certificates = kNames.at(name); },
         "who makes the certificates that releases ask for: cert-manager, which has to be there; builtin: the operator "
         "itself; auto: cert-manager where it serves, else the operator [cert-manager]")
      ->check(CLI::IsMember({"auto", "cert-manager", "builtin"}));
}

// "" where all are hosts, which become canonical.
std::string CheckSources(Options& o) {
  for (std::string& host : o.allowed_sources) {
    auto canonical = CanonicalSource(host);
    if (!canonical.ok()) return "--allowed-sources: " + canonical.error().message;
    host = *std::move(canonical);
  }
  return "";
}

// Scripts read the first line; the others have clusterctl's names.
std::string VersionText(const BuildInfo& build) {
  std::string text = "capi-operator " + build.version;
  for (const auto& [name, value] :
       {std::pair("GitCommit", build.commit), {"GitTreeState", build.tree_state}, {"BuildDate", build.date}}) {
    if (!value.empty()) text += fmt::format("\n{}: {}", name, value);
  }
  return text;
}

}  // namespace

ParsedOptions ParseOptions(int argc, const char* const* argv, const BuildInfo& build) {
  Options o;
  CLI::App app("Manages the life of Cluster API providers declaratively.", "capi-operator");
  int verbosity = 0;
  std::string format = "text";
  AddCluster(app, o);
  AddServing(app, o);
  AddWebhooks(app, o);
  AddReleases(app, o);
  AddCertificates(app, o);
  AddPeerFlags(app);
  app.add_option("-v,--v", verbosity, "verbosity: " + std::string(kVerbosities))->capture_default_str();
  app.add_option("--log-format", format, "text or json")->capture_default_str()->check(CLI::IsMember({"text", "json"}));
  app.set_version_flag("--version", VersionText(build));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    int code = app.exit(e, out, err);
    return {std::nullopt, {out.str() + err.str(), code == 0 ? 0 : 2}};
  }
  if (o.sync_period < kShortestSync) {
    return {std::nullopt, {fmt::format("--sync-period must be at least {}s\n", kShortestSync.count()), 2}};
  }
  if (o.renew_deadline >= o.lease_duration || o.retry_period >= o.renew_deadline) {
    return {std::nullopt,
            {"--leader-elect-retry-period must be shorter than --leader-elect-renew-deadline, and that shorter than "
             "--leader-elect-lease-duration\n",
             2}};
  }
  if (std::string wrong = CheckWebhooks(o); !wrong.empty()) return {std::nullopt, {wrong + "\n", 2}};
  if (std::string wrong = CheckSources(o); !wrong.empty()) return {std::nullopt, {wrong + "\n", 2}};
  o.log_level = LevelOf(verbosity);
  o.log_format = format == "json" ? LogFormat::kJson : LogFormat::kText;
  return {o, {}};
}

}  // namespace capi::ops
