// Releases that are to be signed: which are taken, and which are refused (behaviour.md T14).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/act/install/installer_testing.h"
#include "operator/act/install_testing.h"
#include "verify/keys_testing.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// With both files signed by `by`.
fetch::GitHubRelease Sign(fetch::GitHubRelease release, const verify::KeyPair& by) {
  for (const char* file : {"metadata.yaml", kFile})
    release.assets[std::string(file) + ".sig"] = Base64Encode(by.Sign(release.assets.at(file)));
  return release;
}

// A provider whose releases are to be signed by keys of Secret "keys".
class VerifyingTest : public InstallerTest {
 protected:
  static std::string DigestOf(const fetch::GitHubRelease& release) {
    api::Release read;
    read.components = release.assets.at(kFile);
    return read.Digest();
  }
  static fetch::GitHubRelease Signed(const verify::KeyPair& by) { return Sign(NewRelease(kUnfinished), by); }
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
  // With all variables, so that it would be stored.
  const fetch::GitHubRelease unsigned_one =
      NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
  const fetch::GitHubRelease good = Sign(unsigned_one, ours_);
  fetch::GitHubRelease half = good;
  half.assets.erase(std::string(kFile) + ".sig");
  fetch::GitHubRelease changed = good;
  changed.assets["metadata.yaml"] += "\n";
  const struct {
    fetch::GitHubRelease release;
    const char* error;
  } cases[] = {
      {unsigned_one, "has no signature of metadata.yaml: none of the files metadata.yaml.sigstore.json, "},
      {half, "has no signature of infrastructure-components.yaml"},
      {changed, "the metadata aren't verified: metadata.sig: none of the keys (cosign.pub)"},
      {Sign(unsigned_one, others_), "the metadata aren't verified: metadata.sig: none of the keys (cosign.pub)"},
  };
  for (const auto& c : cases) {
    Done done = BeginWithKeys(c.release, keys_).Install();
    ASSERT_TRUE(done.hold) << c.error;
    EXPECT_EQ(done.hold->reason, reason::kVerificationFailed);
    EXPECT_THAT(done.hold->message, HasSubstr(c.error));
    EXPECT_EQ(done.hold->retry, Retry::kRefused) << "T6";
    EXPECT_FALSE(done.loaded) << "F5: its source hasn't given it";
  }
  EXPECT_THAT(cluster_.written(), Not(Contains("POST configmaps")));
  EXPECT_TRUE(BeginWithKeys(good, keys_).Install().loaded);
  EXPECT_THAT(cluster_.written(), Contains("POST configmaps"));
}

// The metadata say which version fits: those of anybody don't.
TEST_F(VerifyingTest, NoVersionIsChosenByWhatIsNotSigned_T14) {
  EXPECT_THAT(BeginWithKeys(Signed(others_), keys_, "").Held(), HasSubstr("VerificationFailed: choosing a version: "));
  EXPECT_EQ(process_->cache.Get(testing::Observed().provider.id.Key())->provider->spec.version, "");
  EXPECT_THAT(BeginWithKeys(Signed(ours_), keys_, "").Held(), HasSubstr("MissingVariables"));
}

// U12: nor is any told of.
TEST_F(VerifyingTest, NoNewerVersionIsToldOfThatIsNotSigned_T14_U12) {
  const fetch::GitHubRelease good = Signed(ours_), bad = Signed(others_);
  EXPECT_TRUE(BeginWithKeys(good, keys_).Look("v1.11.0").ok());
  EXPECT_EQ(BeginWithKeys(bad, keys_).Look("v1.11.0").code(), Code::kFailedPrecondition);
  for (const auto& [release, told] : {std::pair(good, true), std::pair(bad, false)}) {
    Process& process = BeginWithKeys(good, keys_);
    process.selector = Json::object();
    process.releases = {InCluster(release, false)};
    EXPECT_EQ(process.Look("v1.11.0").ok(), told);
    EXPECT_TRUE(github_->seen().empty());
  }
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
    EXPECT_THAT(done.hold->message, HasSubstr("the release in ConfigMap aws-system/a: "));
    EXPECT_THAT(done.hold->message, HasSubstr("; put its signatures there, or delete it"));
    EXPECT_EQ(Downloads(), 0u);
  }
  process.releases = {InCluster(changed, true)};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 1u);

  Process& without = BeginWithKeys(good, {{"next.pub", others_.PublicPem()}});
  without.releases = {InCluster(good, true)};
  EXPECT_THAT(without.Held(), HasSubstr("VerificationFailed: the release in ConfigMap aws-system/a: "));
  EXPECT_THAT(without.Held(), HasSubstr("fetching it again: "));
}

// T13: who has a turn to choose the version has it until that release is fetched, and two minutes for both.
TEST_F(VerifyingTest, OneTurnIsForAllThatASourceIsAskedFor_T13_T14) {
  Process& process = BeginWithKeys(Signed(ours_), keys_, "");
  process.releases = {InCluster(Signed(others_), true)};
  auto turn = process.turns.Take("first");
  EXPECT_THAT(process.Held(), HasSubstr("its source isn't asked yet"));
  EXPECT_FALSE(process.turns.Take("last"));
  turn.reset();
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 1u);
  EXPECT_TRUE(process.turns.Take("last")) << "it was given back";
}

// The same of a digest that the spec names: a release may have been published anew, or somebody has changed the
// ConfigMap.
TEST_F(VerifyingTest, WhatLiesInTheClusterHasTheWantedDigest_T2_T6) {
  const fetch::GitHubRelease good = NewRelease(kUnfinished), changed = NewRelease(std::string(kUnfinished) + "# x\n");
  Process& process = Begin(good);
  process.digest = DigestOf(good);
  process.releases = {InCluster(good, true)};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  process.releases = {InCluster(changed, false)};
  Done done = process.Install();
  ASSERT_TRUE(done.hold);
  EXPECT_EQ(done.hold->reason, reason::kVerificationFailed);
  EXPECT_EQ(done.hold->retry, Retry::kOnChange) << "its watch wakes the provider";
  EXPECT_THAT(done.hold->message, HasSubstr("the release in ConfigMap aws-system/a: the components of "));
  EXPECT_THAT(done.hold->message, HasSubstr("; put those that are asked for there, or delete it"));
  EXPECT_EQ(Downloads(), 0u);
  process.releases = {InCluster(changed, true)};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(Downloads(), 1u);
}

// The digest in the spec is the failed version's: what is gone back to is what was applied then.
TEST_F(VerifyingTest, ARollbackHasTheDigestOfThen_T2_U5) {
  const fetch::GitHubRelease good = NewRelease(kUnfinished), changed = NewRelease(std::string(kUnfinished) + "# x\n");
  Process& process = Begin(good);
  process.rollback_to = "v1.12.0";
  process.masks.Put(testing::Observed().provider.id.Key(), SecretValues());  // all of them are known, so it is told why
  process.digest = "sha256:of-v1.13.0";
  process.good_digest = DigestOf(good);
  process.releases = {InCluster(good, true)};
  EXPECT_THAT(process.Held(), HasSubstr("value for variables [MISSING]"));
  process.releases = {InCluster(changed, true)};
  const std::string held = process.Held();
  EXPECT_THAT(held, HasSubstr("v1.12.0 can't be installed: the release in ConfigMap aws-system/a: the components of "));
  EXPECT_THAT(held, HasSubstr(", those that were applied before had " + DigestOf(good)));
  EXPECT_THAT(held, HasSubstr("; put those of then there"));
  EXPECT_EQ(held.find("asked for"), held.npos) << "the spec may ask for others";
  EXPECT_EQ(held.find("delete it"), held.npos) << "it is the way back";
  EXPECT_EQ(Downloads(), 0u);
}

// What was kept, from before there were keys, say, gives way to what was asked for.
TEST_F(VerifyingTest, WhatIsFetchedAgainIsKept_T14_T2) {
  const std::string name = "infrastructure-aws-v1.12.0";
  const std::string components = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n";
  const fetch::GitHubRelease release = Sign(NewRelease(components), ours_);
  auto data = [&](const std::string& text) {
    return Json{{"metadata", release.assets.at("metadata.yaml")}, {"components", text}};
  };
  const struct {
    bool keys;  // or a digest
    std::string kept;
  } cases[] = {{true, components}, {false, components + "# changed\n"}};
  for (const auto& c : cases) {
    Process& process = BeginWithKeys(release, keys_);
    if (!c.keys) {
      process.keys_secret.reset();
      process.digest = DigestOf(release);
    }
    StoredRelease kept = InCluster(release, true);
    kept.name = name;
    cluster_.Has(
        "/api/v1/namespaces/aws-system/configmaps/" + name,
        {{"metadata",
          {{"name", name},
           {"namespace", "aws-system"},
           {"labels",
            {{std::string(api::kLabelReleaseVersion), "v1.12.0"}, {std::string(api::kLabelManagedBy), "true"}}},
           {"annotations", {{std::string(api::kLabelReleaseSource), kept.source}}}}},
         {"data", data(c.kept)}});
    process.releases = {kept};
    process.Install();
    const Json sent = cluster_.Sent("PUT " + name);
    EXPECT_EQ(GetString(sent, {"data", "components"}), components);
    EXPECT_EQ(GetString(sent, {"data", "components.sig"}),
              c.keys ? release.assets.at(std::string(kFile) + ".sig") : "");
    EXPECT_EQ(Downloads(), 1u);
  }
}

// What is fetched in the place of a ConfigMap that has another name than the operator's counts from then on, though the
// other one is still there, and goes first by its name: or it would be fetched and applied at each look.
TEST_F(InstallingActorTest, WhatIsFetchedAgainCountsWhateverItIsInThePlaceOf_T14_U1) {
  const verify::KeyPair ours("P-256");
  const std::string maps = "/api/v1/namespaces/aws-system/configmaps/", own = o_.releases.front().name;
  std::string components;
  {
    MutexLock lock(mu_);
    components = GetString(*ParseJson(objects_.extract(maps + own).mapped()), {"data", "components"});
    o_.releases = {{"aws-system", "a", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1", "", /*fetched=*/true}};
    Store(o_.releases.front());
    objects_["/api/v1/namespaces/aws-system/secrets/keys"] =
        ToJsonText({{"metadata", {{"name", "keys"}}}, {"data", {{"a.pub", Base64Encode(ours.PublicPem())}}}});
  }
  o_.keys_secret = Referenced{{"keys", "aws-system"}, true, "u/1"};
  api::FetchConfig& fetch = o_.provider.spec.fetch_config.emplace();
  fetch.url = std::string("https://github.com/o/r/releases/latest/") + kFile;
  fetch.verify = api::VerifySpec{"cosign", o_.keys_secret->ref};
  const fetch::GitHubStandIn github({Sign(NewRelease(components), ours)});
  const Sources sources(settings_, {.github = github.options(), .allowed = {}});
  Start(sources);

  ASSERT_EQ(testing::StepName(Decide(o_)), "Install");
  ASSERT_FALSE(Look().hold);
  ASSERT_EQ(Written("configmaps"), 1u) << "it is stored";
  {
    // As the watch shows it: the version is the number of the write (ActorTest::Written).
    MutexLock lock(mu_);
    auto stored = std::find(written_.begin(), written_.end(), "configmaps");
    StoredRelease& seen = o_.releases.emplace_back(o_.releases.front());
    seen.name = own;
    seen.stamp = "/" + std::to_string(stored - written_.begin() + 1);
  }
  o_.rendered = InputsDigest(o_);
  EXPECT_EQ(o_.provider.status.applied, InputsDigest(o_));
  for (int looks = 0; looks < 2; ++looks) Look();
  EXPECT_EQ(testing::StepName(Decide(o_)), "Steady");
  EXPECT_EQ(Written("configmaps"), 1u);
  const auto seen = github.seen();
  auto is_download = [](const auto& request) { return request.host == "web" && request.target.ends_with(kFile); };
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(), is_download), 1);
}

// U2: the rest of a change that has begun comes out of what its first part was rendered from, and so does the rest of
// one whose release was verified with a key that is gone by now.
TEST_F(InstallingActorTest, AKeyThatIsTakenAwayCountsNoMoreInTheMiddleOfAChange_T14_U2) {
  const verify::KeyPair ours("P-256"), next("P-256");
  const std::string release = "/api/v1/namespaces/aws-system/configmaps/" + o_.releases.front().name;
  const std::string keys = "/api/v1/namespaces/aws-system/secrets/keys";
  auto secret = [](const verify::KeyPair& key) {
    return ToJsonText({{"metadata", {{"name", "keys"}}}, {"data", {{"a.pub", Base64Encode(key.PublicPem())}}}});
  };
  {
    MutexLock lock(mu_);
    Json map = *ParseJson(objects_.at(release));
    for (const char* file : {"metadata", "components"}) {
      map["data"][std::string(file) + ".sig"] = Base64Encode(ours.Sign(GetString(map, {"data", file})));
    }
    objects_[release] = ToJsonText(map);
    objects_[keys] = secret(ours);
  }
  o_.keys_secret = Referenced{{"keys", "aws-system"}, true, "u/1"};
  o_.provider.spec.fetch_config.emplace().verify = api::VerifySpec{"cosign", o_.keys_secret->ref};
  auto change = [&] {
    o_.inventory.Put(kSettings, {"v1", "of the former release", "fields", false});
    return Install({InputsDigest(o_)});
  };
  ASSERT_FALSE(change().hold);
  api::HistoryEntry& rollout = o_.provider.status.history.front();
  ASSERT_EQ(rollout.inputs, InputsDigest(o_));
  rollout.outcome = api::outcome::kRollingOut;
  {
    MutexLock lock(mu_);
    asked_.clear();
  }
  const Done rest = change();
  ASSERT_FALSE(rest.hold);
  EXPECT_TRUE(rest.loaded) << "F5";
  EXPECT_EQ(Asked("keys"), 0u) << "it is at hand";
  EXPECT_EQ(Written("settings"), 2u);

  {
    MutexLock lock(mu_);
    objects_[keys] = secret(next);
  }
  o_.keys_secret->stamp = "u/2";
  const Done done = change();
  ASSERT_TRUE(done.hold);
  EXPECT_EQ(done.hold->reason, reason::kVerificationFailed);
  EXPECT_EQ(Written("settings"), 2u);
}

// D1: after a restart nothing is restored out of a release whose signer's key is gone.
TEST_F(VerifyingTest, WhatIsRenderedAgainIsVerified_T14_D1) {
  Process& process = BeginWithKeys(Signed(ours_), keys_);
  Observation o = testing::Observed();
  o.keys_secret = process.keys_secret;
  o.provider.spec.fetch_config.emplace().verify = api::VerifySpec{"cosign", process.keys_secret->ref};
  for (const auto& [signer, words] :
       {std::pair(&others_, "none of the keys (cosign.pub)"), std::pair(&ours_, "MISSING")}) {
    o.releases = {InCluster(Signed(*signer), true)};
    o.provider.status.applied = InputsDigest(o, *o.releases.front().version, o.releases.front().stamp);
    PhaseTimes times;
    auto held = process.installer.RenderAgain(process.ctx, o, times);
    ASSERT_TRUE(held);
    EXPECT_THAT(held->message, HasSubstr(words));
  }
  EXPECT_EQ(Downloads(), 0u);
}

// Of ConfigMaps that a selector finds, too, the metadata say which version fits.
TEST_F(VerifyingTest, NoVersionIsChosenByAConfigMapThatIsNotSigned_T14) {
  Process& process = BeginWithKeys(Signed(ours_), keys_, "");
  process.selector = {{"matchLabels", {{"a", "b"}}}};
  process.releases = {InCluster(Signed(others_), false)};
  EXPECT_THAT(process.Held(), HasSubstr("VerificationFailed: choosing a version: "));
  EXPECT_EQ(process.cache.Get(testing::Observed().provider.id.Key())->provider->spec.version, "");
  process.releases = {InCluster(Signed(ours_), false)};
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(process.cache.Get(testing::Observed().provider.id.Key())->provider->spec.version, "v1.12.0");
  EXPECT_EQ(Downloads(), 0u);
}

// What ran before there were keys, or is somebody's by now, isn't gone back to.
TEST_F(VerifyingTest, ARollbackIsVerified_T14_U5) {
  Process& process = BeginWithKeys(Signed(ours_), keys_);
  process.rollback_to = "v1.12.0";
  process.masks.Put(testing::Observed().provider.id.Key(), SecretValues());  // all of them are known, so it is told why
  process.releases = {InCluster(NewRelease(kUnfinished), true)};
  const std::string held = process.Held();
  EXPECT_THAT(held, HasSubstr("v1.12.0 can't be installed: the release in ConfigMap aws-system/a: "));
  EXPECT_EQ(held.find("delete it"), held.npos) << "it is the way back";
  process.releases = {InCluster(Signed(ours_), true)};
  EXPECT_THAT(process.Held(), HasSubstr("value for variables [MISSING]"));
  EXPECT_EQ(Downloads(), 0u);
}

}  // namespace
}  // namespace capi::ops
