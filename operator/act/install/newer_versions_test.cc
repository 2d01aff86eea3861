// Installer::NewerVersions: what a look at a source asks, and what it tells (behaviour.md U12).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "fetch/git/git_testing.h"
#include "fetch/gitlab_testing.h"
#include "operator/act/install/installer_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const api::AvailableUpgrade kNewer{"v1.12.0", "v1beta2"};

class LookTest : public InstallerTest {
 protected:
  size_t AskedOfTheApi() const {
    auto seen = github_->seen();
    return static_cast<size_t>(
        std::count_if(seen.begin(), seen.end(), [](const auto& request) { return request.host == "api"; }));
  }
};

// A look leaves GitHub's few requests to those who install something, whose files are checked (T6).
TEST_F(LookTest, TakesNoRequestOfTheApi_U12_I17_T6) {
  Process& process = Begin(NewRelease(kUnfinished));
  github_->ServeTags();
  auto newer = process.Look("v1.11.0");
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_THAT(*newer, ElementsAre(kNewer));
  EXPECT_EQ(AskedOfTheApi(), 0u);
  EXPECT_THAT(process.Held(), HasSubstr("MissingVariables"));
  EXPECT_EQ(AskedOfTheApi(), 1u) << "an installation asks for the digests";
}

// T13: those who install something have the turns, and a look waits for none.
TEST_F(LookTest, TakesNoTurn_U12_T13) {
  Process& process = Begin(NewRelease(kUnfinished));
  auto turn = process.turns.Take("another");
  EXPECT_TRUE(process.Look("v1.11.0").ok());
  turn.reset();
  EXPECT_TRUE(process.turns.Take("a third")) << "nor does it stand in line";
}

// T9: with the source's credentials, or not at all.
TEST_F(LookTest, NeedsTheSecretOfTheSource_U12_T9) {
  Process& process = Begin(NewRelease(kUnfinished));
  process.source_secret = Referenced{{"access", "aws-system"}, false, ""};
  auto newer = process.Look("v1.11.0");
  ASSERT_FALSE(newer.ok());
  EXPECT_THAT(newer.error().message, HasSubstr("Secret aws-system/access (spec.fetchConfig.secretRef) doesn't exist"));
}

// An outage of the API server is one that time mends: it isn't waited for as for who corrects something.
TEST_F(LookTest, AnAPIServerThatDoesNotAnswerIsAnOutage_U12) {
  Process& process = Begin(NewRelease(kUnfinished));
  process.source_secret = Referenced{{"access", "aws-system"}, true, "u/1"};
  process.ctx = process.ctx.WithTimeout(Millis(0));
  EXPECT_EQ(process.Look("v1.11.0").code(), Code::kUnavailable);
  process.source_secret->exists = false;
  EXPECT_EQ(process.Look("v1.11.0").code(), Code::kFailedPrecondition);
}

// A look at that, which gets nothing of the Secret with variables, in the place of GitHub's.
Result<std::vector<api::AvailableUpgrade>> LookAt(Process& process, const api::FetchConfig& source) {
  Observation o = process.Observe();
  o.provider.spec.fetch_config = source;
  o.provider.status.installed_version = "v1.11.0";
  o.source = process.sources.PlaceOf(o.provider);
  o.config_secret = Referenced{{"variables", "aws-system"}, true, "u/1"};  // which can't be read, nor has to be
  return process.installer.NewerVersions(process.ctx, o);
}

// As an installation would: with the Secret of git.secretRef, and a server that the operator may ask.
TEST_F(LookTest, AsksGitWithItsSecretAndWhereItMayAlone_U12_T15_T2) {
  fetch::GitStandIn server({.authorization = "Bearer s3cret"});
  for (const char* tag : {"v1.12.0", "v1.12.1"}) server.Release(tag, {{"metadata.yaml", kMetadata}, {kFile, tag}});
  const std::string host = server.url().substr(7, server.url().find("/org") - 7);
  cluster_.Has("/api/v1/namespaces/aws-system/secrets/access", {{"data", {{"bearerToken", Base64Encode("s3cret")}}}});
  api::FetchConfig source;
  source.git = api::GitSource{server.url(), "", {}};
  Process& forbidden = Begin(NewRelease(kUnfinished), "v1.11.0");
  EXPECT_THAT(LookAt(forbidden, source).error().message, HasSubstr("isn't asked: the operator was started without"));
  EXPECT_TRUE(server.seen().empty());
  Process& process = Begin(NewRelease(kUnfinished), "v1.11.0", {host});
  EXPECT_THAT(LookAt(process, source).error().message, HasSubstr("it asks for credentials"));
  process.source_secret = Referenced{{"access", "aws-system"}, true, "u/1"};
  auto newer = LookAt(process, source);
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_THAT(*newer, ElementsAre(api::AvailableUpgrade{"v1.12.1", "v1beta2"}));
}

TEST_F(LookTest, AsksAFolderOnAServerWhereItMayAlone_U12_I18_T2) {
  fetch::LoopbackCertificate certificate;
  http::ServerOptions options;
  options.cert_pem = certificate.cert_pem;
  options.key_pem = certificate.key_pem;
  std::atomic<int> asked = 0;
  auto server = http::Server::Start(std::move(options), [&](const http::ServerRequest& request) {
    ++asked;
    const bool list = request.path == "/capi/aws/versions.txt",
               file = request.path == "/capi/aws/v1.12.0/metadata.yaml";
    return http::Response{
        .status = list || file ? 200 : 404, .headers = {}, .body = list ? "v1.12.0\n" : std::string(kMetadata)};
  });
  ASSERT_TRUE(server.ok());
  const std::string host = (*server)->address();
  api::FetchConfig source;
  source.url = "https://" + host + "/capi/aws/latest/" + kFile;
  Process& forbidden = Begin(NewRelease(kUnfinished), "v1.11.0");
  EXPECT_THAT(LookAt(forbidden, source).error().message, HasSubstr("isn't asked: the operator was started without"));
  EXPECT_EQ(asked, 0);
  auto newer = LookAt(Begin(NewRelease(kUnfinished), "v1.11.0", {host}, certificate.ca_file()), source);
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  EXPECT_THAT(*newer, ElementsAre(kNewer));
}

}  // namespace
}  // namespace capi::ops
