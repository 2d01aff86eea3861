// An installation from its source to what holds it, over several looks at a provider.
#include "operator/act/install/installer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "api/reasons.h"
#include "base/encoding.h"
#include "base/http/server/server.h"
#include "fetch/github_testing.h"
#include "fetch/oci/oci_testing.h"
#include "operator/decide/testing_fleet.h"
#include "verify/keys_testing.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFile = "infrastructure-components.yaml";

constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 12, contract: v1beta2}\n";

fetch::GitHubRelease NewRelease(const std::string& components) {
  return {.tag = "v1.12.0", .assets = {{"metadata.yaml", kMetadata}, {kFile, components}}};
}

// An API server with a kind of its own that takes what is written to the provider, and has nothing else.
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
    if (std::string set = patch.ok() ? GetString(*patch, {"spec", "version"}) : ""; !set.empty()) version_ = set;
    return say(200, ToJsonText(Next()));
  }

  Mutex mu_;
  std::string version_ CAPI_GUARDED_BY(mu_);  // of the provider's spec
  int writes_ CAPI_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::string> objects_ CAPI_GUARDED_BY(mu_);  // by path
  std::vector<std::string> written_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

// When the test waits for a moment, for a newer answer of the server's say, it has passed. Threads of watches, which
// wait ever longer as this server has none, don't pass the time of others.
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
  Process(Cluster& on, const fetch::GitHubStandIn& github, Clock& clock, std::vector<std::string> allowed = {})
      : cluster(on),
        client(*on.client),
        sources(settings, {.github = github.options(), .allowed = std::move(allowed)}),
        fights(clock),
        migrations([](const auto&...) -> Result<std::string> { return std::string(); }, [](const auto&) {}, clock),
        installer({client, observer, cache, writer, settings, sources, rendered, migrations, masks, key, turns}) {
    ctx.clock = &clock;
    See("");
  }
  ~Process() { watches.Stop(); }

  void See(const std::string& version) {
    cache.OnEvent(api::ProviderType::kInfrastructure, nullptr,
                  std::make_shared<const kube::Object>(cluster.Provider(version)));
  }
  // As a pass does, with what the cache has.
  Done Install() {
    Observation o = testing::Observed();
    o.provider = *cache.Get(o.provider.id.Key())->provider;
    o.provider.spec.patches = patches;
    o.provider.spec.fetch_config->digest = digest;
    if (!oci.empty()) o.provider.spec.fetch_config->url = "";
    o.provider.spec.fetch_config->oci = oci;
    o.source_secret = source_secret;
    if (keys_secret) o.provider.spec.fetch_config->verify = api::VerifySpec{"cosign", keys_secret->ref};
    o.keys_secret = keys_secret;
    o.releases = releases;
    return installer.Install(ctx, o);
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
  std::string digest, oci;
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
  Installer installer;
};

// A provider whose release GitHub has.
class InstallerTest : public ::testing::Test {
 protected:
  // One process of the operator, which has seen the provider at a version of its release ("": at none).
  Process& Begin(const fetch::GitHubRelease& release, const std::string& version = "v1.12.0",
                 std::vector<std::string> allowed = {}) {
    github_.emplace(std::vector<fetch::GitHubRelease>{release});
    process_.emplace(cluster_, *github_, clock_, std::move(allowed));
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

// F6: a source limits requests, and what holds a provider back is looked at again and again.
TEST_F(InstallerTest, WhatIsHeldIsFetchedOnceInTenMinutes) {
  Process& process = Begin(
      NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n"));
  for (int look = 0; look < 3; ++look) {
    EXPECT_THAT(process.Held(), HasSubstr("MissingVariables: value for variables [MISSING]"));
    EXPECT_EQ(Downloads(), 1u) << "look " << look;
    clock_.Advance(std::chrono::minutes(3));
  }
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 2u);
  process.installer.Forget(testing::Observed().provider.id.Key());
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 3u);
}

// T9: a registry is asked once the Secret for it is there.
TEST_F(InstallerTest, AReleaseComesFromTheRegistryThatTheSpecNames) {
  const fetch::GitHubRelease release =
      NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n");
  const fetch::OciStandIn registry({{"v1.12.0",
                                     {.files = {{"metadata.yaml", release.assets.at("metadata.yaml")},
                                                {"components.yaml", release.assets.at(kFile)}}}}});
  Process& process = Begin(release, "", {registry.host()});
  process.oci = registry.reference();
  process.source_secret = Referenced{{"registry", "aws-system"}, false, ""};
  EXPECT_THAT(process.Held(), HasSubstr("SecretNotFound: Secret aws-system/registry (spec.fetchConfig.secretRef)"));
  EXPECT_TRUE(registry.seen().empty());
  process.source_secret.reset();
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables: value for variables [MISSING]"));
  EXPECT_EQ(process.cache.Get(testing::Observed().provider.id.Key())->provider->spec.version, "v1.12.0") << "picked";
  EXPECT_EQ(Downloads(), 0u);
  process.oci = registry.reference(":v1.13.0");
  process.installer.Forget(testing::Observed().provider.id.Key());  // as with another spec
  EXPECT_THAT(process.Held(), HasSubstr("VersionNotFound: " + process.oci + ": failed to get metadata.yaml"));
}

// Of three requests each takes 50 seconds; each alone would be in time.
TEST_F(InstallerTest, AllRequestsToASourceHaveTwoMinutes_T13) {
  std::map<std::string, fetch::OciArtifact> artifacts;
  for (int i = 0; i < 12; ++i) artifacts["v1.12." + std::to_string(i)] = fetch::PlainArtifact();
  fetch::OciStandIn registry(artifacts);
  registry.set_registry_fault([this](const http::ServerRequest&) {
    clock_.Advance(Seconds(50));
    return std::optional<http::Response>();
  });
  Process& process = Begin(NewRelease("a: 1\n"), "", {registry.host()});
  process.oci = registry.reference();
  EXPECT_THAT(process.Held(), HasSubstr("SourceUnreachable: choosing a version: failed to get repository versions: "));
  EXPECT_EQ(registry.seen().size(), 3u);
}

// The same where the version is named: the manifest and two files.
TEST_F(InstallerTest, AllRequestsForANamedVersionHaveTwoMinutes_T13) {
  fetch::OciStandIn registry({{"v1.12.0", fetch::PlainArtifact()}});
  registry.set_registry_fault([this](const http::ServerRequest&) {
    clock_.Advance(Seconds(50));
    return std::optional<http::Response>();
  });
  Process& process = Begin(NewRelease("a: 1\n"), "v1.12.0", {registry.host()});
  process.oci = registry.reference();
  EXPECT_THAT(process.Held(), HasSubstr("SourceUnreachable: " + process.oci + ": failed to get "));
  auto seen = registry.seen();
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), [](const auto& request) { return request.host == "registry"; }), 3);
}

// Who has no turn leaves its worker to others, and what lies in the cluster needs none.
TEST_F(InstallerTest, WhatIsInTheClusterNeedsNoTurnToAskTheNetwork_T13) {
  Process& process = Begin(
      NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n"));
  auto turn = process.turns.Take("other");
  ASSERT_TRUE(turn);
  Done waits = process.Install();
  ASSERT_TRUE(waits.hold);
  EXPECT_THAT(waits.hold->message, HasSubstr("its source isn't asked yet"));
  EXPECT_EQ(waits.hold->reason, reason::kWaitingForSource);
  EXPECT_EQ(waits.hold->retry, Retry::kTurn);
  EXPECT_EQ(waits.hold->after, Seconds(5));
  EXPECT_EQ(Downloads(), 0u);
  process.releases = {{"aws-system", "gone", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1"}};
  EXPECT_THAT(process.Held(), HasSubstr("aws-system/gone"));
  process.releases.clear();
  turn.reset();
  EXPECT_THAT(process.woken, ElementsAre(testing::Observed().provider.id.Key()));
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_TRUE(process.turns.Take("other")) << "it was given back";
}

// I14: what lies in the cluster of another source isn't what the registry is named for.
TEST_F(InstallerTest, AReleaseOfAnotherSourceIsFetchedAgain_T12) {
  const fetch::GitHubRelease release =
      NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n");
  const fetch::OciStandIn registry({{"v1.12.0",
                                     {.files = {{"metadata.yaml", release.assets.at("metadata.yaml")},
                                                {"components.yaml", release.assets.at(kFile)}}}}});
  Process& process = Begin(release, "v1.12.0", {registry.host()});
  process.oci = registry.reference();
  process.releases = {
      {"aws-system", "a", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1", "github.com/o/r v1.12.0", true}};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_FALSE(registry.seen().empty());
  const size_t before = registry.seen().size();
  process.releases.front().source = registry.reference() + " v1.12.0";
  EXPECT_THAT(process.Held(), HasSubstr("aws-system/a"));
  EXPECT_EQ(registry.seen().size(), before);
}

// T6: a file that was refused isn't taken by the next look, which has a version and lists none; nor where GitHub's API
// doesn't answer by then; nor by another process.
TEST_F(InstallerTest, AFileWithAnotherDigestStaysRefused) {
  fetch::GitHubRelease release = NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
  release.digest = "sha256:0";
  release.digest_of = kFile;
  Process& process = Begin(release, "");
  EXPECT_THAT(process.Held(), HasSubstr("VerificationFailed"));
  EXPECT_EQ(process.cache.Get(testing::Observed().provider.id.Key())->provider->spec.version, "v1.12.0") << "picked";
  EXPECT_THAT(process.Held(), HasSubstr("VerificationFailed"));
  github_->AnswerApiWith(fetch::TextResponse(503, "{}"));
  EXPECT_THAT(process.Held(), HasSubstr("VerificationFailed"));
  github_->AnswerApi();
  Process restarted(cluster_, *github_, clock_);
  restarted.See("v1.12.0");
  EXPECT_THAT(restarted.Held(), HasSubstr("VerificationFailed"));
  EXPECT_THAT(cluster_.written(), Not(Contains("POST configmaps")));
}

// T6, T2: a file that isn't the one that the spec asks for is asked for again at its source: it may be put right there.
TEST_F(InstallerTest, AFileWithoutTheWantedDigestIsAskedForAgain) {
  const std::string components = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n";
  Process& process = Begin(NewRelease(components));
  process.digest = "sha256:0";
  for (size_t look = 1; look < 4; ++look) {
    Done done = process.Install();
    ASSERT_TRUE(done.hold);
    EXPECT_EQ(done.hold->reason, reason::kVerificationFailed);
    EXPECT_EQ(done.hold->retry, Retry::kRefused) << "F5";
    EXPECT_EQ(Downloads(), look);
  }
  EXPECT_THAT(cluster_.written(), Not(Contains("POST configmaps")));
}

constexpr const char* kUnfinished =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n";

// A provider whose releases are to be signed by keys of Secret "keys".
class VerifyingTest : public InstallerTest {
 protected:
  // Both files signed by `by`.
  static fetch::GitHubRelease Signed(const verify::KeyPair& by) {
    fetch::GitHubRelease release = NewRelease(kUnfinished);
    for (const char* file : {"metadata.yaml", kFile})
      release.assets[std::string(file) + ".sig"] = Base64Encode(by.Sign(release.assets.at(file)));
    return release;
  }
  Process& BeginWithKeys(const fetch::GitHubRelease& release, const std::map<std::string, std::string>& keys,
                         const std::string& version = "v1.12.0") {
    Process& process = Begin(release, version);
    process.keys_secret = Referenced{{"keys", "aws-system"}, true, "u/1"};
    Json data = Json::object();
    for (const auto& [name, text] : keys) data[name] = Base64Encode(text);
    cluster_.Has("/api/v1/namespaces/aws-system/secrets/keys", {{"metadata", {{"name", "keys"}}}, {"data", data}});
    return process;
  }
  // One that lies in the cluster as the release of a provider: fetched by the operator, or put there by somebody.
  StoredRelease InCluster(const fetch::GitHubRelease& release, bool fetched) {
    Json data = {{"metadata", release.assets.at("metadata.yaml")}, {"components", release.assets.at(kFile)}};
    for (const auto& [file, key] : {std::pair(std::string("metadata.yaml.sig"), "metadata.sig"),
                                    std::pair(std::string(kFile) + ".sig", "components.sig")}) {
      if (release.assets.contains(file)) data[key] = release.assets.at(file);
    }
    cluster_.Has("/api/v1/namespaces/aws-system/configmaps/a",
                 {{"metadata",
                   {{"name", "a"},
                    {"namespace", "aws-system"},
                    {"labels", {{std::string(api::kLabelReleaseVersion), "v1.12.0"}}}}},
                  {"data", data}});
    return {"aws-system", "a", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1", "github.com/o/r v1.12.0", fetched};
  }

  const verify::KeyPair ours_{"P-256"}, others_{"P-256"};
  const std::map<std::string, std::string> keys_{{"cosign.pub", ours_.PublicPem()}};
};

TEST_F(VerifyingTest, OnlyWhatIsSignedIsTaken_T14) {
  EXPECT_THAT(BeginWithKeys(Signed(ours_), keys_).Held(), HasSubstr("MissingVariables"));
  fetch::GitHubRelease half = Signed(ours_);
  half.assets.erase(std::string(kFile) + ".sig");
  fetch::GitHubRelease changed = Signed(ours_);
  changed.assets["metadata.yaml"] += "\n";
  const struct {
    fetch::GitHubRelease release;
    const char* error;
  } cases[] = {
      {NewRelease(kUnfinished), "has no signature of metadata.yaml: none of the files metadata.yaml.sigstore.json, "},
      {half, "has no signature of infrastructure-components.yaml"},
      {changed, "the metadata aren't verified: metadata.sig: none of the keys (cosign.pub)"},
      {Signed(others_), "the metadata aren't verified: metadata.sig: none of the keys (cosign.pub)"},
  };
  for (const auto& c : cases) {
    Done done = BeginWithKeys(c.release, keys_).Install();
    ASSERT_TRUE(done.hold) << c.error;
    EXPECT_EQ(done.hold->reason, reason::kVerificationFailed);
    EXPECT_THAT(done.hold->message, HasSubstr(c.error));
    EXPECT_EQ(done.hold->retry, Retry::kRefused) << "T6";
  }
  EXPECT_THAT(cluster_.written(), Not(Contains("POST configmaps")));
}

// The metadata say which version fits: those of anybody don't.
TEST_F(VerifyingTest, NoVersionIsChosenByWhatIsNotSigned_T14) {
  EXPECT_THAT(BeginWithKeys(Signed(others_), keys_, "").Held(), HasSubstr("VerificationFailed: choosing a version: "));
  EXPECT_EQ(process_->cache.Get(testing::Observed().provider.id.Key())->provider->spec.version, "");
  EXPECT_THAT(BeginWithKeys(Signed(ours_), keys_, "").Held(), HasSubstr("MissingVariables"));
}

TEST_F(VerifyingTest, TheKeysAreThereAndAreKeys_T14) {
  EXPECT_THAT(BeginWithKeys(Signed(ours_), {{"cosign.key", "x"}}).Held(),
              HasSubstr("VerificationFailed: Secret aws-system/keys "
                        "(spec.fetchConfig.verify.secretRef): it has no key *.pub"));
  EXPECT_THAT(BeginWithKeys(Signed(ours_), {{"a.pub", ours_.PublicPem()}, {"b.pub", "x"}}).Held(),
              HasSubstr("(spec.fetchConfig.verify.secretRef): key b.pub: it is no PEM"));
  process_->keys_secret->exists = false;
  EXPECT_THAT(process_->Held(),
              HasSubstr("SecretNotFound: Secret aws-system/keys (spec.fetchConfig.verify.secretRef)"));
  EXPECT_EQ(Downloads(), 0u);
}

// Who may write ConfigMaps gets nothing past it, and a key that is taken away doesn't count any more.
TEST_F(VerifyingTest, WhatLiesInTheClusterIsVerifiedAtEachLoad_T14) {
  const fetch::GitHubRelease good = Signed(ours_);
  Process& process = BeginWithKeys(good, keys_);
  process.releases = {InCluster(good, true)};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 0u) << "what is kept is signed";

  // Somebody's own is refused, ours is fetched again: it was before there were keys, or is somebody's by now.
  fetch::GitHubRelease changed = good;
  changed.assets[kFile] += "# changed\n";
  for (const fetch::GitHubRelease& kept : {NewRelease(kUnfinished), changed, Signed(others_)}) {
    process.releases = {InCluster(kept, false)};
    Done done = process.Install();
    ASSERT_TRUE(done.hold);
    EXPECT_EQ(done.hold->reason, reason::kVerificationFailed);
    EXPECT_THAT(done.hold->message, HasSubstr("the release that lies in the cluster: "));
    EXPECT_EQ(Downloads(), 0u);
  }
  process.releases = {InCluster(changed, true)};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 1u);

  Process& without = BeginWithKeys(good, {{"next.pub", others_.PublicPem()}});
  without.releases = {InCluster(good, true)};
  EXPECT_THAT(without.Held(), HasSubstr("VerificationFailed: the release that lies in the cluster: "));
  EXPECT_THAT(without.Held(), HasSubstr("fetching it again: "));
}

// I8: what a render says that took an unknown kind for one with a namespace isn't told.
TEST_F(InstallerTest, ARenderThatFailedForWhatItAssumedIsMadeAgain) {
  Process& process = Begin(NewRelease("apiVersion: x.example/v1\nkind: Pool\nmetadata: {name: p}\n"));
  process.patches = {{"- {op: remove, path: /nothing}", api::PatchTarget{.kind = "Pool", .ns = "aws-system"}}};
  EXPECT_THAT(process.Held(), Not(HasSubstr(std::string(reason::kComponentsPatchError))));
  process.patches = {{"- {op: remove, path: /nothing}", api::PatchTarget{.kind = "Pool"}}};
  EXPECT_THAT(process.Held(), HasSubstr(std::string(reason::kComponentsPatchError)));
}

// I7, D1: in the middle of a rollout what is applied was rendered again to restore from it. That counted as an apply
// that never ends: what was secret before the rollout stayed so after its end.
TEST_F(InstallerTest, WhatIsRenderedToRestoreFromItBeginsNoApply) {
  Process& process = Begin(NewRelease(""));
  Observation o = testing::Observed();
  const StoredRelease& stored = o.releases.front();
  cluster_.Has("/api/v1/namespaces/aws-system/configmaps/" + stored.name,
               {{"metadata",
                 {{"name", stored.name},
                  {"namespace", stored.ns},
                  {"labels", {{std::string(api::kLabelReleaseVersion), stored.version_text}}}}},
                {"data",
                 {{"metadata", kMetadata},
                  {"components", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n"}}}});
  o.provider.status.applied = InputsDigest(o, *stored.version, stored.stamp);
  const std::string key = o.provider.id.Key();
  for (const char* value : {"token-one", "token-two"}) {
    auto values = std::make_shared<SecretValues>();
    values->Add(value);
    process.masks.Add(key, *values);
    process.masks.ApplyBegins(key, values);
    process.masks.ApplyEnds(key);
  }
  PhaseTimes times;
  auto failed = process.installer.RenderAgain(process.ctx, o, times);
  ASSERT_FALSE(failed) << failed->message;
  EXPECT_EQ(process.rendered.InputsOf(key), o.provider.status.applied) << "it is at hand";
  EXPECT_TRUE(process.masks.Knows(key));
  EXPECT_EQ(process.masks.Hide(key, "token-one token-two"), "*** ***");
  process.masks.RolloutEnds(key);
  EXPECT_EQ(process.masks.Hide(key, "token-one token-two"), "token-one ***");
}

}  // namespace
}  // namespace capi::ops
