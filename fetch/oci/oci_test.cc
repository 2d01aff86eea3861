#include "fetch/oci/oci.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "base/encoding.h"
#include "fetch/oci/oci_testing.h"
#include "fetch/versions_testing.h"

namespace capi::fetch {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

api::Version V(std::string_view text) { return *api::Version::Parse(text); }

std::vector<std::string> Targets(const OciStandIn& registry, std::string_view host) {
  std::vector<std::string> out;
  for (const OciRequest& request : registry.seen()) {
    if (request.host == host) out.push_back(request.method + " " + request.target);
  }
  return out;
}

OciOptions With(OciCredentials credentials) {
  OciOptions options;
  options.credentials = std::move(credentials);
  return options;
}

OciCredentials ByPassword() {
  return {.username = std::string(kOciUser) + "\n", .password = std::string(kOciPassword)};
}

// The files of several providers, each with its full name.
OciArtifact SharedArtifact() {
  return {.files = {{"infrastructure-custom-v0.0.1-metadata.yaml", "of custom"},
                    {"infrastructure-custom-v0.0.1-components.yaml", "kind: Custom\n"},
                    {"infrastructure-docker-v0.0.1-metadata.yaml", "of docker"},
                    {"infrastructure-docker-v0.0.1-components.yaml", "kind: Docker\n"},
                    {"", "no title"}}};
}

TEST(Oci, TagsAreVersionsByPages_T9_I12) {
  OciStandIn registry({{"1.9.0", {}},
                       {"latest", {}},
                       {"sha256-0123.sig", {}},
                       {"v1.10.3", {}},
                       {"v1.11.0", {}},
                       {"v1.11.0_build.5", {}},
                       {"v1.12.0-rc.0", {}},
                       {"v1.2", {}},
                       {"v1.9.0", {}}});
  EXPECT_THAT(Texts(registry.Open()->Versions({})),
              ElementsAre("v1.9.0", "v1.10.3", "v1.11.0", "v1.11.0+build.5", "v1.12.0-rc.0"));
  EXPECT_EQ(Targets(registry, "registry").size(), 5u) << "of two tags each";
}

TEST(Oci, LatestIsStableAndOfTheContract_I3) {
  OciStandIn registry({{"v1.10.2", PlainArtifact()},
                       {"v1.10.3", PlainArtifact()},
                       {"v1.11.0", PlainArtifact()},
                       {"v1.12.0-rc.0", PlainArtifact()}});
  auto repository = registry.Open();
  EXPECT_EQ(LatestVersion({}, *repository, {})->ToString(), "v1.11.0");
  EXPECT_EQ(LatestVersion({}, *repository, {"v1beta1"})->ToString(), "v1.10.3");
}

TEST(Oci, BothFilesComeFromOneManifest_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}});
  auto release = GetRelease({}, *registry.Open(), V("1.11.0"));
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->metadata, kOciMetadata);
  EXPECT_EQ(release->components, "kind: Namespace\n");
  EXPECT_EQ(release->source, registry.reference() + " v1.11.0");
  EXPECT_EQ(Targets(registry, "registry").size(), 3u);
  EXPECT_EQ(Targets(registry, "store").size(), 2u);
}

TEST(Oci, TwoManifestsAreKeptAtMost_F2) {
  OciStandIn registry({{"v1.0.0", PlainArtifact()}, {"v1.1.0", PlainArtifact()}, {"v1.2.0", PlainArtifact()}});
  auto repository = registry.Open();
  auto asked = [&](const char* version) {
    EXPECT_TRUE(repository->File({}, V(version), "metadata.yaml").ok()) << version;
    const std::vector<std::string> targets = Targets(registry, "registry");
    return std::count_if(targets.begin(), targets.end(),
                         [](const std::string& target) { return target.find("/manifests/") != std::string::npos; });
  };
  EXPECT_EQ(asked("v1.0.0"), 1);
  EXPECT_EQ(asked("v1.1.0"), 2);
  EXPECT_EQ(asked("v1.0.0"), 2);
  EXPECT_EQ(asked("v1.2.0"), 3);
  EXPECT_EQ(asked("v1.2.0"), 3);
  EXPECT_EQ(asked("v1.0.0"), 4);
}

// What the peer's `publish` writes, and an artifact manifest with blobs; a tag without "v", with build metadata.
TEST(Oci, EveryLayoutIsRead_T9_I12) {
  OciArtifact blobs = PlainArtifact();
  blobs.as_blobs = true;
  const std::pair<std::string, OciArtifact> cases[] = {
      {"v1.11.0", PlainArtifact()}, {"1.11.0", PlainArtifact()}, {"v1.11.0", blobs}};
  for (const auto& [tag, artifact] : cases) {
    OciStandIn registry({{tag, artifact}});
    auto text = registry.Open()->File({}, V("v1.11.0"), "infrastructure-components.yaml");
    ASSERT_TRUE(text.ok()) << tag << ": " << text.error().message;
    EXPECT_EQ(*text, "kind: Namespace\n");
  }
  OciStandIn built({{"v1.11.0_b.1", PlainArtifact()}});
  EXPECT_TRUE(built.Open()->File({}, V("v1.11.0+b.1"), "metadata.yaml").ok());
}

// L8 to L10 of the peer's tests: one artifact under a tag of any name has the files of many providers.
TEST(Oci, ATagOrADigestNamesOneArtifact_T9) {
  OciStandIn registry({{"5m", SharedArtifact()}, {"v2.0.0", PlainArtifact()}});
  for (const std::string& which :
       {std::string(":5m"), "@" + registry.digest("5m"), ":v2.0.0@" + registry.digest("5m")}) {
    SCOPED_TRACE(which);
    auto repository = registry.Open(which);
    EXPECT_EQ(repository->Describe(), registry.reference(which));
    auto release = GetRelease({}, *repository, V("v0.0.1"));
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_EQ(release->metadata, "of custom");
    EXPECT_EQ(release->components, "kind: Custom\n");
  }
  EXPECT_THAT(Texts(registry.Open(":5m")->Versions({})), ElementsAre("v0.0.1"));
  EXPECT_THAT(Texts(registry.Open(":v2.0.0")->Versions({})), ElementsAre("v2.0.0"));
  EXPECT_THAT(Targets(registry, "registry"), Each(Not(HasSubstr("tags/list"))));
}

TEST(Oci, AnArtifactOfAnotherVersionIsNotTaken_T9) {
  const OciArtifact built = {.files = {{"infrastructure-custom-v1.0.0+b1-metadata.yaml", "of b1"},
                                       {"infrastructure-custom-v1.0.0+b1-components.yaml", "kind: Namespace\n"}}};
  OciStandIn registry(
      {{"nightly", PlainArtifact()}, {"v1.0.0_b1", PlainArtifact()}, {"v2.0.0", PlainArtifact()}, {"v3.0.0", built}});
  const std::tuple<const char*, const char*, const char*> others[] = {{":v2.0.0", "v1.0.0", "v2.0.0"},
                                                                      {":v1.0.0_b1", "v1.0.0+b2", "v1.0.0+b1"},
                                                                      {":v1.0.0_b1", "v1.0.0", "v1.0.0+b1"},
                                                                      {":v3.0.0", "v1.0.0+b2", "v3.0.0"}};
  for (const auto& [which, version, says] : others) {
    auto other = registry.Open(which)->File({}, V(version), "metadata.yaml");
    ASSERT_FALSE(other.ok()) << which << " " << version;
    EXPECT_EQ(other.code(), Code::kNotFound);
    EXPECT_THAT(other.error().message, HasSubstr(std::string("its tag says that it is ") + says));
  }
  EXPECT_TRUE(registry.Open(":v1.0.0_b1")->File({}, V("v1.0.0+b1"), "metadata.yaml").ok());
  EXPECT_EQ(*registry.Open(":v3.0.0")->File({}, V("v1.0.0+b1"), "metadata.yaml"), "of b1");
  // A tag that is no version says nothing: the spec does.
  EXPECT_TRUE(registry.Open(":nightly")->File({}, V("v1.0.0"), "metadata.yaml").ok());
  auto versions = registry.Open(":nightly")->Versions({});
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kNotFound);
  EXPECT_THAT(versions.error().message, HasSubstr("name the version"));
}

// Where titles say of what a file is, no other one is taken for it, whatever its title; a tag that is the version does.
TEST(Oci, FilesOfOtherProvidersOrVersionsAreNotTaken_T9) {
  OciArtifact mixed = SharedArtifact();
  for (const auto& [title, text] : PlainArtifact().files) mixed.files.emplace_back(title, text);
  OciArtifact half = mixed;  // without the components of custom
  std::erase_if(half.files, [](const auto& file) { return file.first.find("custom-v0.0.1-c") != std::string::npos; });
  OciStandIn registry({{"half", half}, {"mixed", mixed}, {"v0.0.2", mixed}, {"v3.0.0", mixed}});
  for (const std::string& which : {std::string(":mixed"), "@" + registry.digest("mixed")}) {
    EXPECT_EQ(*registry.Open(which)->File({}, V("v0.0.1"), "metadata.yaml"), "of custom");
    auto other = registry.Open(which)->File({}, V("v0.0.2"), "metadata.yaml");
    ASSERT_FALSE(other.ok()) << which;
    EXPECT_EQ(other.code(), Code::kNotFound);
    EXPECT_THAT(other.error().message,
                HasSubstr("of other providers or versions, by their titles; of this one they name v0.0.1"));
  }
  EXPECT_TRUE(registry.Open(":half")->File({}, V("v0.0.1"), "metadata.yaml").ok());
  auto components = registry.Open(":half")->File({}, V("v0.0.1"), "infrastructure-components.yaml");
  ASSERT_FALSE(components.ok());
  EXPECT_EQ(components.code(), Code::kNotFound);
  EXPECT_EQ(*registry.Open(":v0.0.2")->File({}, V("v0.0.1"), "metadata.yaml"), "of custom");
  EXPECT_EQ(*registry.Open(":v3.0.0")->File({}, V("v3.0.0"), "metadata.yaml"), kOciMetadata);
}

TEST(Oci, TellsAMissingTagFromAMissingFile_F1) {
  OciStandIn registry({{"v1.11.0", {.files = {{"metadata.yaml", "a"}, {"other.yaml", "b"}}}}});
  auto repository = registry.Open();
  auto file = repository->File({}, V("v1.11.0"), "infrastructure-components.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kNotFound);
  EXPECT_THAT(file.error().message, AllOf(HasSubstr("infrastructure-custom-v1.11.0-components.yaml"),
                                          HasSubstr("metadata.yaml, other.yaml")));
  auto tag = repository->File({}, V("v1.11.7"), "metadata.yaml");
  ASSERT_FALSE(tag.ok());
  EXPECT_EQ(tag.code(), Code::kNotFound);
  EXPECT_THAT(tag.error().message, HasSubstr("there is no tag v1.11.7"));
}

struct AuthCase {
  const char* name;
  OciAuth auth;
  OciCredentials credentials;
  std::string sent;  // to the registry
  size_t tokens;     // requests for one
};

std::vector<AuthCase> AuthCases() {
  const std::string basic = "Basic " + Base64Encode("robot:s3cret");
  return {
      {"none asked for", OciAuth::kNone, ByPassword(), "", 0},
      {"basic", OciAuth::kBasic, ByPassword(), basic, 0},
      {"a token by password", OciAuth::kBearer, ByPassword(), "Bearer token-1", 1},
      {"a token by refresh token", OciAuth::kBearer, {.refresh_token = "r3fresh\n"}, "Bearer token-1", 1},
      {"an own token", OciAuth::kBearer, {.access_token = "token-1\n"}, "Bearer token-1", 0},
  };
}

// The registry is asked once without, as one doesn't know what it wants; the store behind a redirect never gets any.
TEST(Oci, AuthenticatesAsTheRegistryAsksForIt_T9) {
  for (const AuthCase& c : AuthCases()) {
    SCOPED_TRACE(c.name);
    OciStandIn registry({{"v1.11.0", PlainArtifact()}}, c.auth);
    auto release = GetRelease({}, *registry.Open("", With(c.credentials)), V("v1.11.0"));
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_EQ(Targets(registry, "tokens").size(), c.tokens);
    std::vector<std::string> sent;
    for (const OciRequest& request : registry.seen()) {
      if (request.host == "registry") sent.push_back(request.authorization);
      if (request.host == "store") EXPECT_EQ(request.authorization, "");
    }
    ASSERT_FALSE(sent.empty());
    EXPECT_EQ(sent.front(), "");
    EXPECT_EQ(sent.back(), c.sent);
    EXPECT_EQ(sent.size(), c.auth == OciAuth::kNone ? 3u : 4u) << "asked for credentials once";
  }
}

// As public registries want it: a token that anybody gets.
TEST(Oci, ATokenWithoutCredentials_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBearer);
  registry.set_token_fault([](const http::ServerRequest& request) {
    const bool asked_for_some = request.headers.Has("Authorization");
    return std::optional(OciAnswer(asked_for_some ? 500 : 200, R"({"access_token":"token-1"})"));
  });
  auto file = registry.Open()->File({}, V("v1.11.0"), "metadata.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
}

TEST(Oci, ATokenIsForThisRepositoryAlone_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBearer);
  ASSERT_TRUE(registry.Open("", With(ByPassword()))->File({}, V("v1.11.0"), "metadata.yaml").ok());
  EXPECT_THAT(Targets(registry, "tokens"),
              ElementsAre("GET /token?a=b&service=registry%20%22one%22&scope=repository%3Aorg%2Fprovider%3Apull"));
  OciStandIn other({{"v1.11.0", PlainArtifact()}}, OciAuth::kBearer);
  ASSERT_TRUE(other.Open("", With({.refresh_token = "r3fresh"}))->File({}, V("v1.11.0"), "metadata.yaml").ok());
  for (const OciRequest& request : other.seen()) {
    if (request.host != "tokens") continue;
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.authorization, "");
    EXPECT_EQ(request.body,
              "grant_type=refresh_token&service=registry%20%22one%22&client_id=capi-operator&"
              "scope=repository%3Aorg%2Fprovider%3Apull&refresh_token=r3fresh");
  }
}

TEST(Oci, ATokenThatExpiredIsAskedForAgain_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}}, OciAuth::kBearer);
  auto repository = registry.Open("", With(ByPassword()));
  ASSERT_TRUE(repository->File({}, V("v1.11.0"), "metadata.yaml").ok());
  registry.ExpireTokens();
  ASSERT_TRUE(repository->File({}, V("v1.11.0"), "infrastructure-components.yaml").ok());
  EXPECT_EQ(Targets(registry, "tokens").size(), 2u);
}

TEST(Oci, AReferenceThatIsNoneIsRefused_F1) {
  for (const char* wrong : {"", "image", "registry/", "registry/A", "registry/a@sha256:12", "user:pw@registry/a"}) {
    auto repository = OpenOci(wrong, api::ProviderType::kCore, "x", {});
    ASSERT_FALSE(repository.ok()) << wrong;
    EXPECT_EQ(repository.code(), Code::kInvalidArgument);
  }
}

// T9: without http:// nothing is sent in the clear.
TEST(Oci, PlainHttpIsNamed_T9) {
  OciStandIn registry({{"v1.11.0", PlainArtifact()}});
  const std::string reference = registry.reference().substr(std::string_view("http://").size());
  for (const std::string& named : {reference, "oci://" + reference, "https://" + reference}) {
    auto repository = OpenOci(named, api::ProviderType::kInfrastructure, "custom", {});
    ASSERT_TRUE(repository.ok());
    EXPECT_EQ((*repository)->Describe(), "oci://" + reference);
    auto file = (*repository)->File({}, V("v1.11.0"), "metadata.yaml");
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.code(), Code::kUnavailable) << file.error().message;
  }
  EXPECT_THAT(registry.seen(), IsEmpty());
}

}  // namespace
}  // namespace capi::fetch
