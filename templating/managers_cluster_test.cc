// I9a: every field of spec.manager on Cluster API's own managers, as processes, with the arguments that we render from
// their release: they start, become ready and do what the field says, or the field is refused with its path.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/length.h"
#include "base/testing/releases.h"
#include "base/yaml/yaml.h"
#include "kube/testing/ports.h"
#include "templating/customise/known_managers.h"
#include "templating/render.h"
#include "templating/testing/managers_testing.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

// Addresses of one run, for the spec and for the checks.
struct Place {
  explicit Place(const std::string& folder) : certificates(folder), ports(kube::FreePorts(4)) {
    kube::CertificateOptions options;
    options.alt_names = {"IP:127.0.0.1"};
    options.authority = true;
    certificate = kube::MakeCertificate(options).value();
    EXPECT_TRUE(WriteFile(folder + "/tls.crt", certificate.cert_pem).ok());
    EXPECT_TRUE(WriteFile(folder + "/tls.key", certificate.key_pem).ok());
  }
  std::string Address(size_t which) const { return fmt::format("127.0.0.1:{}", ports[which]); }
  std::string diagnostics() const { return Address(0); }
  std::string health() const { return Address(1); }
  std::string webhook() const { return Address(2); }
  std::string profiler() const { return Address(3); }
  std::string certificates;
  kube::KeyPair certificate;
  std::vector<int> ports;
};

// What every run needs beside the field under test: places to listen at, and no certificate of the API server's.
Json BaseSpec(const Place& place) {
  return {{"manager",
           {{"metrics", {{"diagnosticsAddress", place.diagnostics()}, {"insecureDiagnostics", true}}},
            {"health", {{"healthProbeBindAddress", place.health()}}},
            {"webhook", {{"port", place.ports[2]}, {"certDir", place.certificates}}},
            {"leaderElection", {{"leaderElect", false}}}}}};
}

struct Running {
  const RealManager& manager;
  const Place& place;
  const RenderedManager& rendered;
  const ManagerRun& run;
  kube::ControlPlane& plane;

  std::string Metrics() const {
    std::string body;
    GetUrl("http://" + place.diagnostics() + "/metrics", &body);
    return body;
  }
  bool MetricComes(std::string_view line) const {
    return kube::Eventually([&] { return Metrics().find(line) != std::string::npos; }, Seconds(30), Millis(100));
  }
};

std::string Workers(std::string_view controller, int count) {
  return fmt::format("controller_runtime_max_concurrent_reconciles{{controller=\"{}\"}} {}\n", controller, count);
}

struct Field {
  std::string_view name;
  std::string_view spec;  // YAML, merged over BaseSpec; KIND stands for the manager's kind
  bool (*works)(const Running&);
  bool alone = false;  // contradicts another row
};

const Field kFields[] = {
    {"metrics.insecureDiagnostics", "{}",
     [](const Running& r) { return GetUrl("http://" + r.place.diagnostics() + "/metrics") == 200; }},
    {"metrics.diagnosticsAddress", "{manager: {metrics: {insecureDiagnostics: null}}}",
     [](const Running& r) { return GetUrl("https://" + r.place.diagnostics() + "/metrics") == 401; }, true},
    {"metrics.bindAddress", "{manager: {metrics: {diagnosticsAddress: null, bindAddress: DIAGNOSTICS}}}",
     [](const Running& r) { return GetUrl("http://" + r.place.diagnostics() + "/metrics") == 200; }, true},
    {"health.*EndpointName",
     "{manager: {health: {readinessEndpointName: healthz, livenessEndpointName: readyz/webhook}}}",
     [](const Running& r) {
       std::string url = "http://" + r.place.health();
       std::string ready = GetString(r.rendered.container, {"readinessProbe", "httpGet", "path"});
       std::string live = GetString(r.rendered.container, {"livenessProbe", "httpGet", "path"});
       return ready == "/healthz" && GetUrl(url + ready) == 200 && live == "/readyz/webhook" &&
              GetUrl(url + live) == 200;
     }},
    {"webhook.port, webhook.certDir", "{}",
     [](const Running& r) {
       return GetUrl("https://" + r.place.webhook() + "/", nullptr, r.place.certificate.cert_pem) == 404;
     }},
    {"profilerAddress", "{manager: {profilerAddress: PROFILER}}",
     [](const Running& r) { return GetUrl("http://" + r.place.profiler() + "/debug/pprof/") == 200; }},
    {"leaderElection",
     "{manager: {leaderElection: {leaderElect: true, leaseDuration: 21s, renewDeadline: 17s, retryPeriod: 3s, "
     "resourceLock: leases}}}",
     [](const Running& r) {
       auto client = r.plane.NewClient();
       auto lease = client->Get({}, kube::Builtin("Lease"), "default", r.manager.lease);
       return lease.ok() && lease->json()["spec"]["leaseDurationSeconds"] == 21;
     }},
    {"controller.groupKindConcurrency", "{manager: {controller: {groupKindConcurrency: {KIND: 7}}}}",
     [](const Running& r) { return r.manager.kind.empty() || r.MetricComes(Workers(r.manager.controller, 7)); }},
    {"maxConcurrentReconciles", "{manager: {maxConcurrentReconciles: 6}}",
     [](const Running& r) { return r.MetricComes(Workers(r.manager.controller, 6)); }, true},
    {"cacheNamespace", "{manager: {cacheNamespace: only-PROGRAM}}",
     [](const Running& r) {
       std::string path = fmt::format("/namespaces/only-{}/", r.manager.program);
       return kube::Eventually([&] { return ReadFile(r.plane.audit_log()).value().find(path) != std::string::npos; },
                               Seconds(30));
     }},
    {"featureGates", "{manager: {featureGates: {ClusterTopology: true, PriorityQueue: true}}}",
     [](const Running& r) {
       return r.manager.kind != "Machine" || r.Metrics().find("controller=\"topology/cluster\"") != std::string::npos;
     }},
    {"verbosity", "{manager: {verbosity: 5}}",
     [](const Running& r) {
       return kube::Eventually([&] { return r.run.Log().find("Caches populated") != std::string::npos; });
     }},
    {"syncPeriod", "{manager: {syncPeriod: 7m}}", [](const Running& r) { return r.run.running(); }},
    {"additionalArgs", "{manager: {additionalArgs: {'--kube-api-qps': '50'}}}",
     [](const Running& r) { return r.run.running(); }},
    {"deployment.containers[]",
     "{deployment: {containers: [{name: manager, args: {'--kube-api-burst': '60'}, env: [{name: GOGC, value: "
     "'77'}]}]}}",
     [](const Running& r) { return r.run.Environment().find("GOGC=77") != std::string::npos; }},
};

Json SpecOf(const Field& field, const RealManager& manager, const Place& place) {
  if (manager.kind.empty() && field.spec.find("KIND") != std::string_view::npos) return Json::object();
  std::string text = ReplaceAll(std::string(field.spec), "KIND", manager.kind);
  text = ReplaceAll(text, "PROGRAM", manager.program);
  text = ReplaceAll(text, "DIAGNOSTICS", place.diagnostics());
  return ParseYaml(ReplaceAll(text, "PROFILER", place.profiler())).value();
}

// One run with all of `fields`; each has to do what it says.
void Try(kube::ControlPlane& plane, const RealManager& manager, const std::vector<const Field*>& fields) {
  TemporaryFolder folder;
  Place place(folder.path());
  Json spec = BaseSpec(place);
  for (const Field* field : fields) spec.merge_patch(SpecOf(*field, manager, place));
  RenderedManager rendered = RenderManager(manager, ToJsonText(spec));
  ASSERT_EQ(rendered.error, "");
  SCOPED_TRACE(fmt::format("{} {}", manager.program, Join(rendered.args(), " ")));
  ManagerRun run(plane, manager, rendered);
  ASSERT_TRUE(run.AwaitReady("http://" + place.health())) << run.Log();
  Running running{manager, place, rendered, run, plane};
  for (const Field* field : fields) {
    EXPECT_TRUE(kube::Eventually([&] { return field->works(running); }, Seconds(30), Millis(100)))
        << field->name << "\n"
        << run.Log().substr(0, 5000);
  }
  EXPECT_TRUE(run.running()) << run.Log();
}

class Managers : public testing::Test {
 protected:
  void SetUp() override {
    if (GetReleaseSet() == ReleaseSet::kTree) {
      GTEST_SKIP() << "the managers need all kinds of their releases: CAPI_RELEASES=built, or vendors";
    }
    CAPI_NEED_RELEASES("cluster-api/v1.12.0", "bootstrap-kubeadm/v1.12.0", "control-plane-kubeadm/v1.12.0",
                       "infrastructure-docker/v1.12.0");
  }
  // The control plane, with the CRDs of all four.
  static kube::ControlPlane& Plane() {
    static kube::ControlPlane& plane = [&]() -> kube::ControlPlane& {
      kube::ControlPlane& shared = kube::ControlPlane::Shared(false);
      auto client = shared.NewClient();
      for (const RealManager& manager : kRealManagers) ApplyCrds(*client, manager);
      return shared;
    }();
    return plane;
  }

 private:
  static void ApplyCrds(kube::Client& client, const RealManager& manager) {
    api::Release release;
    release.components = ComponentsOf(manager);
    RenderInput input;
    input.type = manager.type;
    input.name = manager.name;
    input.release = &release;
    input.variables = [](const std::string&) { return std::nullopt; };
    RenderResult rendered = Render(input);
    for (kube::Object& object : rendered.output->objects) {
      if (object.kind() != "CustomResourceDefinition") continue;
      object.json()["spec"].erase("conversion");  // no manager is up yet to convert
      kube::ApplyYaml(client, ToJsonText(object.json()));
    }
  }
};

TEST_F(Managers, DoWhatEachFieldSays) {
  for (const RealManager& manager : kRealManagers) {
    std::vector<const Field*> together;
    for (const Field& field : kFields) {
      if (!field.alone) together.push_back(&field);
    }
    Try(Plane(), manager, together);
    // One at a time too: each row in the long mode, else those that can't go with the others, on one manager each.
    size_t row = 0;
    for (const Field& field : kFields) {
      bool mine = row++ % std::size(kRealManagers) == static_cast<size_t>(&manager - kRealManagers);
      if (TestLength() == Length::kLong || (field.alone && mine)) Try(Plane(), manager, {&field});
    }
  }
}

// Fields that these managers have no flag for, and the flags that the peer's mapping gives them.
struct Refused {
  std::string_view spec, field, flag;
};

TEST_F(Managers, WhatWouldEndThemIsRefused) {
  const Refused rows[] = {
      {"{webhook: {host: 127.0.0.1}}", "webhook.host", "--webhook-host=127.0.0.1"},
      {"{leaderElection: {leaderElect: true, resourceName: a, resourceNamespace: b}}", "leaderElection.resourceName",
       "--leader-election-id=b/a"},
      {"{controller: {groupKindConcurrency: {Nope: 2}}}", "controller.groupKindConcurrency[\"Nope\"]",
       "--nope-concurrency=2"},
      {"{featureGates: {Nope: true}}", "featureGates[\"Nope\"]", "--feature-gates=Nope=true"},
      {"", "", "--max-concurrent-reconciles=2"},  // these two become other flags
      {"", "", "--metrics-bind-addr=:1"},
  };
  for (const RealManager& manager : kRealManagers) {
    for (const Refused& row : rows) {
      SCOPED_TRACE(fmt::format("{} {}", manager.program, row.flag));
      std::string said = OutputOf(std::string(manager.program), {std::string(row.flag)});
      EXPECT_TRUE(said.find("unknown flag") != std::string::npos || said.find("unrecognized") != std::string::npos)
          << said.substr(0, 1000);
      if (row.spec.empty()) continue;
      EXPECT_THAT(RenderManager(manager, fmt::format("{{manager: {}}}", row.spec)).error,
                  HasSubstr(fmt::format("spec.manager.{}: the manager of", row.field)));
    }
  }
}

// The flags that a manager's help names.
std::set<std::string> FlagsOf(const std::string& help) {
  std::set<std::string> flags;
  for (const std::string& line : Split(help, '\n')) {
    std::string text(Trim(line));
    if (text.starts_with("-v, ")) text = text.substr(4);
    if (text.starts_with("--")) flags.insert(text.substr(2, text.find(' ') - 2));
  }
  return flags;
}

// I9a: templating/customise/known_managers.inc against what the managers say of themselves.
TEST_F(Managers, TheTableIsWhatTheyPrint) {
  for (const RealManager& manager : kRealManagers) {
    SCOPED_TRACE(manager.program);
    std::string help = OutputOf(std::string(manager.program), {"--help"});
    std::set<std::string> flags = FlagsOf(help);
    auto known = FindKnownManager(manager.type, manager.name, api::Version::Parse("v1.12.1").value());
    ASSERT_TRUE(known.has_value());
    EXPECT_TRUE(known->verified());
    std::set<std::string> gates;
    for (const std::string& line : Split(help, '\n')) {
      size_t end = line.find("=true|false");
      if (end != std::string::npos) gates.emplace(Trim(line.substr(0, end)));
    }
    for (const std::string& gate : gates) EXPECT_TRUE(known->HasGate(gate)) << gate;
    for (const std::string& flag : flags) {
      if (flag.ends_with("-concurrency")) EXPECT_TRUE(known->HasFlag(flag)) << flag;
    }
    for (const std::string& flag : known->ConcurrencyFlags()) EXPECT_TRUE(flags.contains(flag.substr(2))) << flag;
    // What fields become, and what the peer would set and these don't have.
    for (const char* flag :
         {"diagnostics-address", "feature-gates", "health-addr", "insecure-diagnostics", "leader-elect",
          "leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period", "namespace",
          "profiler-address", "sync-period", "v", "webhook-cert-dir", "webhook-port", "concurrency",
          "metrics-bind-addr", "webhook-host", "leader-election-id", "max-concurrent-reconciles"}) {
      EXPECT_EQ(flags.contains(flag), known->HasFlag(flag)) << flag;
    }
  }
}

}  // namespace
}  // namespace capi::templating
