// Where the versions of a provider whose releases are in the cluster come from (L12), on an API server and a mirror of
// GitHub in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>

#include "base/encoding.h"
#include "base/http/server/server.h"
#include "base/strings.h"
#include "cli/upgrade/upgrades_testing.h"
#include "fetch/github_testing.h"
#include "fetch/gitlab_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kMap = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.0.0";
const std::string kNewMap = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.1.0";
const char kUpToDate[] = "InfrastructureProvider   v2.0.0            Already up to date\n";
const std::string kAlone = "Warning: the versions of ConfigMaps of namespace capa-system with ";

fetch::GitHubRelease OfAws(const std::string& tag) {
  return {.tag = tag,
          .assets = {{"metadata.yaml", kSeries},
                     {"infrastructure-components.yaml",
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n"}}};
}

std::string MirrorOf(const fetch::GitHubStandIn& github) {
  const fetch::GitHubOptions options = github.options();
  return "clusterctl-github-url: " + options.download_url + "\nclusterctl-github-api-url: " + options.api_url + "\n";
}

// How often it was asked for its releases.
std::ptrdiff_t ListsOf(const fetch::GitHubStandIn& github) {
  const auto seen = github.seen();
  return std::count_if(seen.begin(), seen.end(), [](const fetch::SeenRequest& one) {
    return one.host == "api" && one.target.starts_with("/repos/o/r/releases?");
  });
}

const std::string kPage = "https://github.com/o/r/releases";
const std::string kLatest = kPage + "/latest/infrastructure-components.yaml";

// The end of a configuration, whose last key is `providers`.
std::string OnGitHub(const fetch::GitHubStandIn& github) {
  return "- {name: aws, type: InfrastructureProvider, url: '" + kLatest + "'}\n" + MirrorOf(github);
}

// aws, which is built in, as init leaves it where it took it from elsewhere than the operator would: v2.0.0 is in the
// cluster. The mirror has v2.1.0, and v2.1.1 without files.
class ReleasesInTheCluster : public Upgrades {
 protected:
  ReleasesInTheCluster() {
    const Json labels = {{"provider.cluster.x-k8s.io/type", "infrastructure"},
                         {"provider.cluster.x-k8s.io/name", "aws"}};
    cluster_.Change(UpgradeCluster::PathOf(kAws),
                    [&](Json& aws) { aws["spec"]["fetchConfig"]["selector"]["matchLabels"] = labels; });
    Json stored = labels;
    stored["provider.cluster.x-k8s.io/version"] = "v2.0.0";
    cluster_.Put(
        kMap, {{"metadata", {{"name", "infrastructure-aws-v2.0.0"}, {"namespace", "capa-system"}, {"labels", stored}}},
               {"data", {{"metadata", kSeries}, {"components", "apiVersion: v1\nkind: ConfigMap\n"}}}});
    mirror_ =
        http::Server::Start({}, [this](const http::ServerRequest& request) { return Mirror(request.path); }).value();
  }
  Outcome Plan(const std::string& configuration, Variables environment = {}) {
    cluster_.folder.Put("clusterctl.yaml",
                        "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api") + configuration);
    environment["HTTPS_PROXY"] = "http://127.0.0.1:1";  // no way to GitHub
    return Run({"upgrade", "plan"}, environment);
  }
  std::string mirror_address() const { return mirror_->address(); }
  std::string OfMirror() {
    const std::string url = "http://" + mirror_->address();
    return "clusterctl-github-url: " + url + "\nclusterctl-github-api-url: " + url + "\n";
  }

  bool AskedTheApi() {
    MutexLock lock(mu_);
    return std::any_of(asked_.begin(), asked_.end(), [](const std::string& path) {
      return path == "/repos/kubernetes-sigs/cluster-api-provider-aws/releases";
    });
  }

  std::atomic<bool> away_ = false;  // the mirror is

 private:
  http::Response Mirror(const std::string& path) {
    if (away_) return {.status = 503, .headers = {}, .body = "unicorn"};
    {
      MutexLock lock(mu_);
      asked_.push_back(path);
    }
    if (path == "/github.com/kubernetes-sigs/cluster-api-provider-aws/@v/list")
      return {.status = 200, .headers = {}, .body = "v0.1.0\n"};
    if (path == "/github.com/kubernetes-sigs/cluster-api-provider-aws/v2/@v/list")
      return {.status = 200, .headers = {}, .body = "v2.1.0\nv2.1.1\n"};
    const std::string project = "/kubernetes-sigs/cluster-api-provider-aws/releases";
    if (path == "/repos" + project)
      return {.status = 200, .headers = {}, .body = R"([{"tag_name": "v2.1.1"}, {"tag_name": "v2.1.0"}])"};
    if (path == project + "/download/v2.1.0/metadata.yaml") return {.status = 200, .headers = {}, .body = kSeries};
    return {.status = 404, .headers = {}, .body = "{}"};
  }

  Mutex mu_;
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> mirror_;
};

// L12: a version whose files aren't there yet is none, and doesn't keep the others from being told.
TEST_F(ReleasesInTheCluster, AMirrorIsLookedAtToo) {
  Outcome got = Plan(OfMirror());
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr(kNewer));
  EXPECT_THAT(got.err, Not(HasSubstr("Warning")));
}

// The highest version has its metadata; a tag below it has no release. Nobody could go there.
TEST_F(Upgrades, AVersionBelowTheHighestThatHasNoReleaseIsNotOffered) {  // L12, L13, I17
  Release("infrastructure-aws", "v2.2.0-beta.0",
          "{major: 2, minor: 0, contract: v1beta1}\n- {major: 2, minor: 1, contract: v1beta1}\n"
          "- {major: 2, minor: 2, contract: v1beta1}",
          "z");
  for (const std::string version : {"v2.1.1", "v2.1.2"})
    cluster_.folder.Put("r/infrastructure-aws/" + version + "/notes.txt", "");
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr(kNewer));
  for (int patch = 3; patch < 7; ++patch)
    cluster_.folder.Put("r/infrastructure-aws/v2.1." + std::to_string(patch) + "/notes.txt", "");
  plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.out, Not(HasSubstr("v2.1.")));
  EXPECT_THAT(plan.err, Not(HasSubstr("can't be told"))) << "not even those of other contracts were";
  for (int patch = 3; patch < 7; ++patch)
    std::filesystem::remove_all(cluster_.folder / ("r/infrastructure-aws/v2.1." + std::to_string(patch)));
  Outcome apply = Run({"upgrade", "apply", "--contract", "v1beta2"}, {{"TOKEN", "a"}});
  EXPECT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

// A prerelease that is a release says its series; five that are none say nothing against the stable ones.
TEST_F(Upgrades, TagsOfPrereleasesWithoutReleasesKeepNothingFromBeingTold) {  // L12, I3
  for (const std::string number : {"0", "1", "2", "3", "4"})
    cluster_.folder.Put("r/infrastructure-aws/v3.0.0-alpha." + number + "/notes.txt", "");
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr(kNewer));
  EXPECT_THAT(plan.err, Not(HasSubstr("can't be told")));
}

// The tags are of what it was made of, and newer; its own releases are all prereleases.
TEST_F(Upgrades, AForkThatHasPrereleasesAloneIsTold) {  // L12, I3
  fetch::GitHubStandIn github({OfAws("v2.1.0-rc.1")});
  std::vector<std::string> tags = {"v9.0.0"};
  for (int number = 1; number < 7; ++number) tags.push_back("v9.1.0-rc." + std::to_string(number));
  github.ServeTags(tags);
  cluster_.folder.Put("clusterctl.yaml",
                      "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api") + OnGitHub(github));
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.out, HasSubstr(kUpToDate)) << "prereleases aren't offered";
  EXPECT_THAT(plan.err, Not(HasSubstr("can't be told")));
  EXPECT_EQ(ListsOf(github), 1) << "which of the tags are releases is asked once";
}

// Those below the highest are of what it was made of, too: of v2.1.0 nobody needs to know a contract.
TEST_F(Upgrades, WhatAForkCallsNoReleaseIsNoVersionOfIt) {  // L12, I3
  fetch::GitHubRelease release = OfAws("v2.2.0");
  release.assets["metadata.yaml"] = ReplaceAll(kSeries, "minor: 1", "minor: 2");
  fetch::GitHubStandIn github({release});
  github.ServeTags({"v2.0.5", "v2.1.0", "v9.0.0", "v9.0.1", "v9.0.2", "v9.0.3", "v9.0.4"});
  cluster_.folder.Put("clusterctl.yaml",
                      "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api") + OnGitHub(github));
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.out, HasSubstr("InfrastructureProvider   v2.0.0            v2.2.0\n"));
  EXPECT_THAT(plan.err, Not(HasSubstr("isn't offered")));
  EXPECT_EQ(ListsOf(github), 1);
}

// It knows what the mirror may not have.
TEST_F(ReleasesInTheCluster, AMirrorListsItsVersionsItselfWhateverModuleProxyIsNamed_I17) {
  for (bool named : {true, false}) {
    SCOPED_TRACE(named);
    Outcome got = Plan(OfMirror(), {{"GOPROXY", named ? "http://" + mirror_address() + ",direct" : "off"}});
    EXPECT_EQ(got.code, 0) << got.err;
    EXPECT_THAT(got.out, HasSubstr(kNewer));
    EXPECT_THAT(got.err, Not(HasSubstr("Warning")));
    EXPECT_TRUE(AskedTheApi());
  }
}

TEST_F(ReleasesInTheCluster, WhatIsOutOfReachIsToldAndTheOthersCount) {  // L12
  away_ = true;
  Outcome got = Plan(OfMirror());
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("Unknown"), Not(HasSubstr(kUpToDate))));
  EXPECT_THAT(got.err, HasSubstr(kAlone));
  cluster_.Remove(kMap);
  EXPECT_THAT(
      Plan(OfMirror()).err,
      HasSubstr("Warning: capa-system/infrastructure-aws: its versions can't be told: failed to get available"));
}

// An outage is no "up to date": what is out of reach may have newer ones.
TEST_F(ReleasesInTheCluster, WhatIsKnownInPartIsNotTakenForUpToDate) {  // L12, L13
  UpgradeProvider core = kCore;
  core.version = "v1.12.0";
  cluster_.Add(core);
  Plan("");
  const std::vector<std::string> apply = {"upgrade", "apply", "--contract", "v1beta2"};
  Outcome whole = Run(apply, {{"HTTPS_PROXY", "http://127.0.0.1:1"}});
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.err, HasSubstr("You are already up to date!"));
  away_ = true;
  Plan(OfMirror());
  Outcome partly = Run(apply, {{"HTTPS_PROXY", "http://127.0.0.1:1"}});
  EXPECT_EQ(partly.code, 1);
  EXPECT_THAT(partly.err, HasSubstr(kAlone));
  EXPECT_THAT(partly.err,
              HasSubstr("nothing can be upgraded while the versions of 1 of the 2 providers can't be told"));
  EXPECT_THAT(partly.err, Not(HasSubstr("up to date")));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// Its tags may be of what it was made of: what it says are releases counts, and what is in the cluster is one.
TEST_F(ReleasesInTheCluster, AForkBesideThemSaysWhichOfItsTagsAreReleases) {  // L12, I3
  fetch::GitHubStandIn github({OfAws("v2.1.0")});
  github.ServeTags({"v9.0.0", "v9.0.1", "v9.0.2", "v9.0.3", "v9.0.4"});
  Outcome got = Plan(OnGitHub(github));
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, HasSubstr(kNewer));
  EXPECT_THAT(got.err, Not(HasSubstr("Warning")));
  fetch::GitHubStandIn older({OfAws("v1.0.0")});
  older.ServeTags({"v9.0.0", "v9.0.1", "v9.0.2", "v9.0.3", "v9.0.4"});
  got = Plan(OnGitHub(older));
  EXPECT_THAT(got.out, HasSubstr(kUpToDate)) << got.err;
}

// The folder has files of releases, and not which there are.
TEST_F(ReleasesInTheCluster, GitHubIsAskedForWhatHasOverridesAlone) {  // L12
  Outcome closed = Plan("");
  EXPECT_THAT(closed.out, HasSubstr(kUpToDate));
  EXPECT_THAT(closed.err, IsEmpty()) << "nothing but the cluster is asked";
  cluster_.folder.Put("o/infrastructure-aws/v2.0.0/cluster-template.yaml", "a: b\n");
  closed = Plan("overridesFolder: " + cluster_.folder / "o" + "\n");
  EXPECT_THAT(closed.out, HasSubstr(kUpToDate));
  EXPECT_THAT(closed.err, IsEmpty()) << "a template is no part of a release";
  cluster_.folder.Put("o/infrastructure-aws/v2.0.0/infrastructure-components.yaml", "a: b\n");
  Outcome got = Plan("overridesFolder: " + cluster_.folder / "o" + "\n");
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("Unknown"), Not(HasSubstr(kUpToDate))));
  EXPECT_THAT(got.err, HasSubstr(kAlone));
}

// What this machine has in the place of a release that lies there counts, or is refused.
TEST_F(ReleasesInTheCluster, AnotherOverrideOfWhatIsThereIsNotMixedUpWithIt) {  // L13
  Json map = cluster_.Get(kMap);
  map["metadata"]["name"] = "infrastructure-aws-v2.1.0";
  map["metadata"]["labels"]["provider.cluster.x-k8s.io/version"] = "v2.1.0";
  cluster_.Put(kNewMap, map);
  const std::string folder = "o/infrastructure-aws/v2.1.0/";
  cluster_.folder.Put(folder + "infrastructure-components.yaml",
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: n}\n");
  cluster_.folder.Put(folder + "metadata.yaml", kSeries);
  Plan("overridesFolder: " + cluster_.folder / "o" + "\n");
  auto apply = [&] { return Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, {{"HTTPS_PROXY", "http://127.0.0.1:1"}}); };
  Outcome refused = apply();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("ConfigMap capa-system/infrastructure-aws-v2.1.0 holds another v2.1.0 than the "
                                     "folder of overrides"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "capi-operator";
  cluster_.Put(kNewMap, map);
  Outcome got = apply();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(GetString(cluster_.Get(kNewMap), {"data", "components"}), HasSubstr("name: mine"));
}

// What lies there was made of them, and is whole: its other file isn't asked for anew, be the source out of reach.
TEST_F(ReleasesInTheCluster, WhatIsThereOfTheseOverridesNeedsNoSource) {  // L13, L14
  const std::string mine = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: n}\n";
  Json map = cluster_.Get(kMap);
  map["metadata"]["name"] = "infrastructure-aws-v2.1.0";
  map["metadata"]["labels"]["provider.cluster.x-k8s.io/version"] = "v2.1.0";
  map["data"]["components"] = mine;
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/infrastructure-components.yaml", mine);
  Plan("overridesFolder: " + cluster_.folder / "o" + "\n");
  for (const bool kept : {true, false}) {
    SCOPED_TRACE(kept);
    if (!kept) map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "capi-operator";
    cluster_.Put(kNewMap, map);
    const Variables nowhere = {{"HTTPS_PROXY", "http://127.0.0.1:1"}};
    Outcome apply = Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, nowhere);
    EXPECT_EQ(apply.code, 0) << apply.err;
    EXPECT_EQ(VersionOf(kAws), "v2.1.0");
    cluster_.Change(UpgradeCluster::PathOf(kAws),
                    [](Json& aws) { aws["spec"]["version"] = aws["status"]["installedVersion"] = "v2.1.1"; });
    Outcome back = Run({"rollback", "aws", "--to-version", "v2.1.0", "--yes"}, nowhere);
    EXPECT_EQ(back.code, 0) << back.err;
    EXPECT_EQ(VersionOf(kAws), "v2.1.0");
    cluster_.Add(kAws);
    cluster_.Change(UpgradeCluster::PathOf(kAws), [](Json& aws) {
      aws["spec"]["fetchConfig"]["selector"]["matchLabels"] = {{"provider.cluster.x-k8s.io/name", "aws"}};
    });
  }
  for (const std::string& write : cluster_.writes()) EXPECT_THAT(write, Not(HasSubstr("configmaps")));
}

// Nobody knows what they would go before.
TEST_F(ReleasesInTheCluster, OverridesOfAProviderWithoutASourceAreRefused) {  // L13
  cluster_.Add(kMine);
  cluster_.Change(UpgradeCluster::PathOf(kMine), [](Json& mine) {
    mine["spec"]["fetchConfig"]["selector"]["matchLabels"] = {{"of", "mine"}};
  });
  Json map = cluster_.Get(kMap);
  map["metadata"] = {{"name", "v1.1.0"}, {"namespace", "mine-system"}, {"labels", {{"of", "mine"}}}};
  map["data"]["metadata"] = ReplaceAll(kSeries, "major: 2", "major: 1");
  map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "capi-operator";
  cluster_.Put("/api/v1/namespaces/mine-system/configmaps/v1.1.0", map);
  cluster_.folder.Put("o/infrastructure-mine/v1.1.0/infrastructure-components.yaml", "a: b\n");
  Plan("overridesFolder: " + cluster_.folder / "o" + "\n");
  Outcome got = Run({"upgrade", "apply", "-i", "mine-system/mine:v1.1.0"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("don't count for a provider without a source in the configuration"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// The same ConfigMap has none again, whoever is asked beside it. Nor does one count that has those of one file.
TEST_F(ReleasesInTheCluster, SignaturesThatLackThereAreOfTheSourceBesideThem) {  // L13, T14
  const std::string path = "/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-v2.1.0";
  Json map = cluster_.Get(kMap);
  map["metadata"]["name"] = "infrastructure-aws-v2.1.0";
  map["metadata"]["labels"]["provider.cluster.x-k8s.io/version"] = "v2.1.0";
  map["data"]["metadata.sig"] = "bWV0YQ==";
  cluster_.Put(path, map);
  cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
    aws["spec"]["fetchConfig"]["verify"] = {{"provider", "cosign"}, {"secretRef", {{"name", "keys"}}}};
  });
  Plan("");
  auto apply = [&] {
    return Run({"upgrade", "apply", "-i", "aws:v2.1.0"}, {{"TOKEN", "a"}, {"HTTPS_PROXY", "http://127.0.0.1:1"}});
  };
  const std::string lacks = "ConfigMap capa-system/infrastructure-aws-v2.1.0 has no signatures of both its files";
  EXPECT_THAT(apply().err, HasSubstr(lacks)) << "somebody put it there";
  map["metadata"]["labels"][std::string(api::kLabelManagedBy)] = "capi-operator";
  cluster_.Put(path, map);
  EXPECT_THAT(apply().err, HasSubstr(lacks)) << "nobody else has it";
  Plan(Source("aws", "InfrastructureProvider", "infrastructure-aws"));
  EXPECT_THAT(apply().err, HasSubstr("has no signature of metadata.yaml"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
  const std::string folder = "r/infrastructure-aws/v2.1.0/";
  cluster_.folder.Put(folder + "metadata.yaml.sig", "c291cmNl");
  cluster_.folder.Put(folder + "c.yaml.sig", "Y29tcG9uZW50cw==");
  Outcome got = apply();
  ASSERT_EQ(got.code, 0) << got.err;
  map = cluster_.Get(path);
  EXPECT_EQ(GetString(map, {"data", "metadata.sig"}), "c291cmNl");
  EXPECT_EQ(GetString(map, {"data", "components.sig"}), "Y29tcG9uZW50cw==");
  EXPECT_THAT(GetString(map, {"data", "components"}), HasSubstr("name: c")) << "what they are of";
}

// L12, T10: an object that leads to a private project on GitLab. Its Secret's token goes there; that of another
// namespace doesn't, and nor does this machine's.
TEST_F(Upgrades, APrivateProjectIsAskedWithTheTokenOfTheProvidersSecret) {
  std::map<std::string, std::string> files = {{"metadata.yaml", kSeries}};
  fetch::GitLabStandIn gitlab({{.version = "v2.1.0", .files = files}, {.version = "v2.0.0", .files = files}});
  gitlab.MakePrivate("glpat-secret");
  const fetch::TrustedCa trusted(gitlab.ca_file());
  cluster_.folder.Put("clusterctl.yaml", "providers:\n" + Source("cluster-api", "CoreProvider", "cluster-api"));
  for (const std::string ns : {"capa-system", "other"}) {
    cluster_.PutSecret(ns, "tokens", {{"gitlab-access-token", "glpat-secret"}});
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws["spec"]["fetchConfig"] = {{"url", gitlab.url()}};
      aws["spec"]["configSecret"] = {{"name", "tokens"}, {"namespace", ns}};
    });
    const size_t before = gitlab.seen().size();
    Outcome got = Run({"upgrade", "plan"}, {{"GITLAB_ACCESS_TOKEN", "glpat-secret"}});
    const bool own = ns == "capa-system";
    EXPECT_EQ(got.out.find(kNewer) != std::string::npos, own) << got.out << got.err;
    if (!own) {
      EXPECT_THAT(got.err, HasSubstr("GITLAB_ACCESS_TOKEN isn't sent to "));
    }
    const auto seen = gitlab.seen();
    for (size_t i = before; i < seen.size(); ++i)
      EXPECT_EQ(seen[i].authorization, own && seen[i].host == "gitlab" ? "Bearer glpat-secret" : "") << seen[i].target;
    EXPECT_GT(seen.size(), before);
  }
}

// A repository on GitHub with v2.0.0 and v2.1.0 of aws. It is a private one.
class ReleasesOnGitHub : public Upgrades {
 protected:
  ReleasesOnGitHub() { github_.MakePrivate(); }
  void SetUp() override {
    Configure("");
    for (const char* ns : {"capa-system", "other"})
      cluster_.PutSecret(ns, "tokens", {{"github-token", std::string(fetch::kToken)}});
  }
  void Configure(const std::string& more) {
    cluster_.folder.Put("clusterctl.yaml", MirrorOf(github_) + "providers:\n" +
                                               Source("cluster-api", "CoreProvider", "cluster-api") + more);
  }
  void LeadTo(const std::string& url, const std::string& ns) {
    cluster_.Change(UpgradeCluster::PathOf(kAws), [&](Json& aws) {
      aws["spec"].erase("fetchConfig");
      if (!url.empty()) aws["spec"]["fetchConfig"] = {{"url", url}};
      aws["spec"]["configSecret"] = {{"name", "tokens"}, {"namespace", ns}};
    });
  }

  fetch::GitHubStandIn github_{{OfAws("v2.1.0"), OfAws("v2.0.0")}};
};

// Whoever names the repository; that of another namespace doesn't go there.
TEST_F(ReleasesOnGitHub, APrivateOneIsAskedWithTheTokenOfTheProvidersSecret) {  // L12, L13, T1
  for (bool own_url : {true, false}) {
    for (const std::string ns : {"other", "capa-system"}) {
      SCOPED_TRACE(ns + (own_url ? " by its object" : " by the configuration"));
      if (!own_url) Configure("- {name: aws, type: InfrastructureProvider, url: '" + kLatest + "'}\n");
      LeadTo(own_url ? kLatest : "", ns);
      const size_t before = github_.seen().size();
      const bool own = ns == "capa-system";
      // It goes before this machine's, with which that server would answer, too.
      Outcome got = Run({"upgrade", "plan"}, own ? Variables{{"GITHUB_TOKEN", "of-this-machine"}} : Variables());
      EXPECT_EQ(got.out.find(kNewer) != std::string::npos, own) << got.out << got.err;
      const auto seen = github_.seen();
      for (size_t i = before; i < seen.size(); ++i)
        EXPECT_EQ(seen[i].authorization.find(fetch::kToken) != std::string::npos, own && seen[i].host == "api");
      EXPECT_GT(seen.size(), before);
    }
  }
  Outcome apply = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
}

TEST_F(ReleasesOnGitHub, OneThatRefusesSaysWhichSecretWasNotRead) {  // L12
  LeadTo(kLatest, "capa-system");
  cluster_.forbidden = "/secrets/";
  EXPECT_THAT(Run({"upgrade", "plan"}).err,
              HasSubstr("; you may not read Secret capa-system/tokens, which may have credentials for it"));
}

// The proposal's way to name a repository, as the operator and `diff` take it.
TEST_F(ReleasesOnGitHub, ARepositoryMayBeNamedByItsPageOfReleases) {  // I2, L12, L13
  LeadTo(kPage, "capa-system");
  Outcome plan = Run({"upgrade", "plan"});
  EXPECT_THAT(plan.out, HasSubstr(kNewer)) << plan.err;
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/infrastructure-components.yaml",
                      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: n}\n");
  Configure("overridesFolder: " + cluster_.folder / "o" + "\n");
  Outcome apply = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(apply.code, 0) << apply.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
  EXPECT_THAT(ToJsonText(cluster_.Get(kNewMap)), HasSubstr("name: mine")) << "the operator doesn't see that folder";
}

// The operator reaches such a release by itself: `generate cluster` alone reads what lies there.
TEST_F(ReleasesOnGitHub, ATemplateOfOnesOwnPutsNoReleaseIntoTheCluster) {  // L13
  LeadTo(kLatest, "capa-system");
  cluster_.folder.Put("o/infrastructure-aws/v2.1.0/cluster-template.yaml", "a: b\n");
  cluster_.folder.Put("o/infrastructure-aws/v1.0.0/infrastructure-components.yaml", "a: b\n");
  Configure("overridesFolder: " + cluster_.folder / "o" + "\n");
  Outcome got = Run({"upgrade", "apply", "-i", "aws:v2.1.0"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_EQ(VersionOf(kAws), "v2.1.0");
  EXPECT_TRUE(cluster_.Get(kNewMap).is_null()) << "what lies there isn't of that release";
}

}  // namespace
}  // namespace capi::cli
