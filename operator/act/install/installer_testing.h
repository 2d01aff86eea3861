// An installer with what it needs, on an API server in memory and a stand-in for GitHub, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "api/reasons.h"
#include "base/encoding.h"
#include "base/http/server/server.h"
#include "fetch/github_testing.h"
#include "operator/act/install/installer.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {

inline constexpr const char* kFile = "infrastructure-components.yaml";

inline constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 12, contract: v1beta2}\n";

inline fetch::GitHubRelease NewRelease(const std::string& components) {
  return {.tag = "v1.12.0", .assets = {{"metadata.yaml", kMetadata}, {kFile, components}}};
}

// An API server with a kind of its own that takes what is written to the provider, and has nothing else. Thread-safe.
class Cluster {
 public:
  Cluster() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client = *kube::Client::Connect({.server = "http://" + server_->address()}, {.user_agent = "installer-test"});
  }
  std::vector<std::string> written() {
    MutexLock lock(mu_);
    return written_;
  }
  // The last of that, as in `written`: "PUT name".
  Json Sent(const std::string& request) {
    MutexLock lock(mu_);
    return sent_[request];
  }
  void Has(const std::string& path, const Json& object) {
    MutexLock lock(mu_);
    objects_[path] = ToJsonText(object);
  }
  // At its next version, with that in its spec.
  kube::Object Provider(const std::string& version) {
    MutexLock lock(mu_);
    version_ = version;
    return kube::Object(Next());
  }

  std::unique_ptr<kube::Client> client;

 private:
  Json Next() CAPI_REQUIRES(mu_) {
    const std::string at = std::to_string(++writes_), version = version_;
    return {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
            {"kind", "InfrastructureProvider"},
            {"metadata", {{"name", "aws"}, {"namespace", "aws-system"}, {"uid", "u"}, {"resourceVersion", at}}},
            {"spec",
             {{"version", version},
              {"fetchConfig", {{"url", std::string("https://github.com/o/r/releases/latest/") + kFile}}}}}};
  }
  http::Response Answer(const http::ServerRequest& request) {
    auto say = [](int status, std::string body) {
      return http::Response{.status = status, .headers = {}, .body = std::move(body)};
    };
    if (request.path == "/api") return say(200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
    if (request.path == "/apis") {
      return say(200, R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.example"},"versions":[
          {"version":"v1","resources":[{"resource":"pools","responseKind":{"kind":"Pool"},"scope":"Cluster",
           "verbs":["get"]}]}]}]})");
    }
    MutexLock lock(mu_);
    if (request.method == "GET") {
      auto found = objects_.find(request.path);
      return found == objects_.end() ? say(404, "") : say(200, found->second);
    }
    written_.push_back(request.method + " " + request.path.substr(request.path.rfind('/') + 1));
    auto patch = ParseJson(request.body);
    sent_[written_.back()] = patch.ok() ? *patch : Json();
    if (std::string set = patch.ok() ? GetString(*patch, {"spec", "version"}) : ""; !set.empty()) version_ = set;
    return say(200, ToJsonText(Next()));
  }

  Mutex mu_;
  std::string version_ CAPI_GUARDED_BY(mu_);  // of the provider's spec
  int writes_ CAPI_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::string> objects_ CAPI_GUARDED_BY(mu_);  // by path
  std::vector<std::string> written_ CAPI_GUARDED_BY(mu_);
  std::map<std::string, Json> sent_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

// When the test waits for a moment, for a newer answer of the server's say, it has passed. Threads of watches, which
// wait ever longer as this server has none, don't pass the time of others. Thread-safe.
class PassingClock : public FakeClock {
 public:
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    auto wait = std::chrono::duration_cast<Millis>(deadline - Monotonic());
    if (wait > Seconds(5) || std::this_thread::get_id() != test_) return cv.wait(mu, stop, ready);
    Advance(wait);
    return ready();
  }

 private:
  const std::thread::id test_ = std::this_thread::get_id();
};

// The parts of an operator that an installation needs: one process of it.
struct Process {
  Process(Cluster& on, const fetch::GitHubStandIn& github, Clock& clock, std::vector<std::string> allowed = {},
          const std::string& ca_file = "")
      : cluster(on),
        client(*on.client),
        sources(settings, {.github = github.options(), .gitlab = Trusting(ca_file), .allowed = std::move(allowed)}),
        fights(clock),
        migrations([](const auto&...) -> Result<std::string> { return std::string(); }, [](const auto&) {}, clock),
        installer(
            {client, observer, cache, writer, settings, sources, rendered, migrations, masks, key, turns, certifier}) {
    ctx.clock = &clock;
    See("");
  }
  ~Process() { watches.Stop(); }

  void See(const std::string& version) {
    cache.OnEvent(api::ProviderType::kInfrastructure, nullptr,
                  std::make_shared<const kube::Object>(cluster.Provider(version)));
  }
  // As a pass does, with what the cache has.
  Done Install() { return installer.Install(ctx, Observe(), rollback_to); }
  // U12, where that is installed.
  auto Look(const std::string& installed) {
    Observation o = Observe();
    o.provider.status.installed_version = installed;
    return installer.NewerVersions(ctx, o);
  }
  // Servers with certificates of that file, and not of the machine's, are asked.
  static fetch::GitLabOptions Trusting(const std::string& ca_file) {
    fetch::GitLabOptions options;
    options.ca_file = ca_file;
    return options;
  }
  Observation Observe() {
    Observation o = testing::Observed();
    o.provider = *cache.Get(o.provider.id.Key())->provider;
    o.provider.spec.patches = patches;
    if (!reconcile_at.empty()) o.provider.annotations[std::string(api::kAnnotationReconcileAt)] = reconcile_at;
    o.provider.spec.fetch_config->digest = digest;
    if (!oci.empty()) o.provider.spec.fetch_config->url = "";
    o.provider.spec.fetch_config->oci = oci;
    o.source_secret = source_secret;
    if (keys_secret) o.provider.spec.fetch_config->verify = api::VerifySpec{"cosign", keys_secret->ref};
    o.keys_secret = keys_secret;
    o.releases = releases;
    if (selector) o.provider.spec.fetch_config->url = "";
    o.provider.spec.fetch_config->selector = selector;
    if (!rollback_to.empty()) {
      o.provider.spec.rollout.on_failure = api::OnFailure::kRollback;
      o.provider.status.installed_version = rollback_to;
      o.provider.status.history = {{.version = "v1.13.0"}, {.version = rollback_to, .digest = good_digest}};
    }
    return o;
  }
  std::string Held() {
    Done done = Install();
    return done.hold ? done.hold->reason + ": " + done.hold->message : "";
  }

  Cluster& cluster;
  kube::Client& client;
  Context ctx;
  Settings settings;
  Sources sources;
  Fights fights;
  std::vector<api::PatchSpec> patches;
  std::string digest, oci, rollback_to, good_digest, reconcile_at;  // good_digest: of rollback_to, as it was applied
  std::optional<Json> selector;
  std::optional<Referenced> source_secret, keys_secret;
  std::vector<StoredRelease> releases;
  ProviderCache cache{[](const ProviderCache::Change&) {}};
  Watches watches{client, [](const auto&...) {}};
  UseFinder use{client, watches};
  Observer observer{{client, cache, watches, settings, fights, use, SystemClock(),
                     [](const std::string&) { return MigrationProgress{}; },
                     [](const std::string&) { return std::string(); }, [] { return std::vector<std::string>(); },
                     nullptr}};
  SecretMasks masks;
  StatusWriter writer{client, cache, masks};
  RenderedCache rendered;
  InventoryKey key{client, "own"};
  std::vector<std::string> woken;
  SourceTurns turns{1, [this](const std::string& provider) { woken.push_back(provider); }};
  Migrations migrations;
  Certifier certifier{client, observer.tracks()};
  Installer installer;
};

// A provider whose release GitHub has.
class InstallerTest : public ::testing::Test {
 protected:
  // One process of the operator, which has seen the provider at a version of its release ("": at none).
  Process& Begin(const fetch::GitHubRelease& release, const std::string& version = "v1.12.0",
                 std::vector<std::string> allowed = {}, const std::string& ca_file = "") {
    github_.emplace(std::vector<fetch::GitHubRelease>{release});
    process_.emplace(cluster_, *github_, clock_, std::move(allowed), ca_file);
    if (!version.empty()) process_->See(version);
    return *process_;
  }
  size_t Downloads() const {
    auto seen = github_->seen();
    return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [](const auto& request) {
      return request.host == "web" && request.target.ends_with(kFile);
    }));
  }

  PassingClock clock_;
  Cluster cluster_;
  std::optional<fetch::GitHubStandIn> github_;
  std::optional<Process> process_;
};

inline constexpr const char* kUnfinished =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n";

}  // namespace capi::ops
