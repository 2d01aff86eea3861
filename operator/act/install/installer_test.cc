// An installation from its source to what holds it, over several looks at a provider.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/oci/oci_testing.h"
#include "operator/act/install/installer_testing.h"

namespace capi::ops {
namespace {

namespace reason = api::reason;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_EQ(waits.hold->after, Seconds(60)) << "each look reads Secrets, and its turn wakes it";
  EXPECT_EQ(Downloads(), 0u);
  process.releases = {{"aws-system", "gone", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1"}};
  EXPECT_THAT(process.Held(), HasSubstr("aws-system/gone"));
  process.releases.clear();
  turn.reset();
  EXPECT_THAT(process.woken, ElementsAre(testing::Observed().provider.id.Key()));
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_TRUE(process.turns.Take("other")) << "it was given back";
}

// U8, I6: what was fetched is fetched again, and what somebody put there read again; the source's was applied, and
// theirs noted as applied.
TEST_F(InstallerTest, WhatSomebodyPutThereIsNotFetchedOnRequest_U8) {
  Process& process = Begin(
      NewRelease("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\ndata: {a: '${MISSING}'}\n"));
  process.reconcile_at = "now";
  for (bool fetched : {false, true}) {
    process.releases = {{"aws-system", "gone", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1", "", fetched}};
    EXPECT_THAT(process.Held(), HasSubstr(fetched ? "MissingVariables" : "aws-system/gone"));
    EXPECT_EQ(Downloads(), fetched ? 1u : 0u);
  }
}

// U8: so are a selector's ConfigMaps, whoever made them. The object is as `init` makes it, beside a release of its own.
TEST_F(InstallerTest, WhatASelectorFindsIsReadAgainOnRequest_U8) {
  Process& process = Begin(NewRelease("a: 1\n"));
  process.selector = Json{{"matchLabels", api::ReleaseSelector(testing::Observed().provider.id)}};
  process.reconcile_at = "now";
  for (bool fetched : {false, true}) {
    process.releases = {{"aws-system", "gone", "v1.12.0", *api::Version::Parse("v1.12.0"), "u/1", "", fetched}};
    EXPECT_THAT(process.Held(), HasSubstr("aws-system/gone"));
  }
  EXPECT_EQ(Downloads(), 0u);
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
