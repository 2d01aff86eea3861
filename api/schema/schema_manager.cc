// spec.manager: what the flags of a provider's manager are to be. An unset field leaves the release's flag alone.
#include "api/schema/schema.h"

namespace capi::api::schema {
namespace {

Json LeaderElection(ApiVersion version) {
  return Object(
      "Leader election of the manager.",
      {{"leaderElect", Flag("Whether managers elect a leader, so that several replicas can run.")},
       {"leaseDuration", Duration("How long a lease is good for when it is not renewed.", version)},
       {"renewDeadline", Duration("How long the leader tries to renew its lease before it gives up.", version)},
       {"retryPeriod", Duration("How long to wait between two tries to get or renew the lease.", version)},
       {"resourceLock", Text("Type of the lock: leases, which every manager uses.")},
       {"resourceName", Text("Name of the Lease that the managers share.")},
       {"resourceNamespace", Text("Namespace of that Lease.")}});
}

Json Controller() {
  return Object("Settings of all controllers of the manager.",
                {{"groupKindConcurrency",
                  MapOf("How many objects of a kind are reconciled at a time, by kind; becomes --<kind>-concurrency.",
                        Integer("How many objects of that kind are reconciled at a time."))},
                 {"cacheSyncTimeout", Long("Nanoseconds to wait for caches. No manager has a flag for it.")},
                 {"recoverPanic", Flag("Whether to recover from panics. No manager has a flag for it.")}});
}

Json Metrics() {
  return Object("Where metrics are served.",
                {{"bindAddress",
                  Text("Address of metrics without TLS, like \"localhost:8080\". Deprecated: use diagnosticsAddress.")},
                 {"diagnosticsAddress", Text("Address of metrics and other diagnostics, like \":8443\".")},
                 {"insecureDiagnostics", Flag("Serve diagnostics without TLS and without authorization.")}});
}

Json Health() {
  return Object("Where the manager says whether it lives and is ready.",
                {{"healthProbeBindAddress", Text("Address of the probes, like \":9440\".")},
                 {"readinessEndpointName", Text("Path of the readiness probe, without the leading slash.")},
                 {"livenessEndpointName", Text("Path of the liveness probe, without the leading slash.")}});
}

Json Webhook() {
  return Object("The webhook server of the manager.",
                {{"port", Integer("Port it listens on, up to 65535; the release's Service has to lead there.")},
                 {"host", Text("Address it listens on; all when not set.")},
                 {"certDir", Text("Folder with its certificate, tls.crt and tls.key.")}});
}

}  // namespace

Json Manager(ApiVersion version) {
  Json manager = Object(
      "Settings of the provider's manager. They become flags and probes of its container; a field that is not set "
      "leaves what the release says.",
      {{"syncPeriod", Duration("How often all objects are reconciled again.", version)},
       {"leaderElection", LeaderElection(version)},
       {"cacheNamespace", Text("The only namespace that the manager watches; all when not set.")},
       {"gracefulShutDown",
        Duration("How long to wait for workers at shutdown. No manager has a flag for it.", version)},
       {"controller", Controller()},
       {"metrics", Metrics()},
       {"health", Health()},
       {"webhook", Webhook()},
       {"profilerAddress", Text("Address of the profiler, like \"localhost:6060\".")},
       {"maxConcurrentReconciles",
        With(Integer("How many objects each controller reconciles at a time."), {{"minimum", 1}})},
       {"verbosity", With(Integer("How much the manager logs: 0 little, 5 for debugging, 10 everything."),
                          {{"default", 1}, {"minimum", 0}})},
       {"featureGates",
        MapOf("Features to turn on or off; merged into those of the release.", Flag("Whether the feature is on."))},
       {"additionalArgs", Arguments("More arguments of the container, keys with their dashes; an argument that is "
                                    "there already is an error.",
                                    version)},
       {"debug", Flag("Debug the manager: verbosity 5 and a profiler at localhost:6060. The other fields of manager "
                      "can not change while this is true.")}});
  if (version == ApiVersion::kV1Alpha1) {
    manager["properties"]["metricsAddress"] = Text("The same as metrics.bindAddress.");
    manager =
        Rule(std::move(manager), "!(has(self.metricsAddress) && has(self.metrics) && has(self.metrics.bindAddress))",
             "metricsAddress and metrics.bindAddress are the same field: set one of them");
  }
  return Rule(std::move(manager),
              "!(has(oldSelf.debug) && oldSelf.debug && has(self.debug) && self.debug) || self == oldSelf",
              "manager can not change while debug is true; set debug to false first");
}

}  // namespace capi::api::schema
