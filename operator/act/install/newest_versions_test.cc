#include "operator/act/install/newest_versions.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/http/server/server.h"
#include "base/testing/temp_folder.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

constexpr std::string_view kSeries =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 0, contract: v1beta1}\n- {major: 1, minor: 1, contract: v1beta1}\n"
    "- {major: 2, minor: 0, contract: v1beta2}\n- {major: 3, minor: 0, contract: v1beta9}\n";

// A server whose ConfigMaps are releases.
class NewestVersionsTest : public ::testing::Test {
 protected:
  NewestVersionsTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest&) {
      MutexLock lock(mu_);
      ++asked_;
      const Json map = {{"kind", "ConfigMap"}, {"metadata", {{"name", "m"}}}, {"data", {{"metadata", kSeries}}}};
      return http::Response{.status = status_, .headers = {}, .body = status_ == 200 ? ToJsonText(map) : ""};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "newest-versions-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    ctx_.clock = &clock_;
    core_->id = {api::ProviderType::kCore, "capi-system", "cluster-api"};
    core_->status.contract = "v1beta1";
  }

  Observation Selecting(const std::vector<std::string>& versions) {
    Observation o = testing::Observed();
    o.core = core_;
    o.provider.spec.fetch_config = api::FetchConfig{};
    o.provider.spec.fetch_config->selector = Json{{"matchLabels", {{"app", "x"}}}};
    o.releases.clear();
    for (const std::string& version : versions) {
      o.releases.push_back({"n", version, version, *api::Version::Parse(version), "stamp-of-" + version});
    }
    return o;
  }
  int Asked() {
    MutexLock lock(mu_);
    return std::exchange(asked_, 0);
  }
  void Answers(int status) {
    MutexLock lock(mu_);
    status_ = status;
  }

  FakeClock clock_;
  Context ctx_;
  Settings settings_;
  Sources sources_{settings_, {}};
  std::shared_ptr<api::Provider> core_ = std::make_shared<api::Provider>();
  std::unique_ptr<kube::Client> client_;

 private:
  Mutex mu_;
  int status_ CAPI_GUARDED_BY(mu_) = 200;
  int asked_ CAPI_GUARDED_BY(mu_) = 0;
  std::unique_ptr<http::Server> server_;
};

// I3: what the core accepts, and no more; read again only when something has changed.
TEST_F(NewestVersionsTest, OfSelectedConfigMapsIsTheNewestThatFits) {
  NewestVersions newest(*client_, sources_);
  Observation o = Selecting({"v1.0.0", "v1.1.0", "v2.0.0"});
  EXPECT_EQ(newest.Of(ctx_, o), "v1.1.0");
  EXPECT_GT(Asked(), 0);
  EXPECT_EQ(newest.Of(ctx_, o), "v1.1.0");
  EXPECT_EQ(Asked(), 0) << "nothing has changed";

  core_->status.contract = "v1beta2";
  EXPECT_EQ(newest.Of(ctx_, o), "v2.0.0");
  o = Selecting({"v1.0.0", "v2.0.0", "v2.0.1", "v2.1.0-rc.0"});
  EXPECT_EQ(newest.Of(ctx_, o), "v2.0.1") << "a new one came";
  EXPECT_EQ(newest.Of(ctx_, Selecting({"v3.0.0"})), "") << "no core accepts it";
  EXPECT_EQ(newest.Of(ctx_, Selecting({})), "");
}

// U12: there is one answer to what is newer, in the status and in the metric.
TEST_F(NewestVersionsTest, OfTheNetworkIsWhatTheStatusTells_U12) {
  NewestVersions newest(*client_, sources_);
  Observation o = testing::Observed();
  o.provider.spec.fetch_config = api::FetchConfig{.url = "https://github.com/o/r/releases"};
  api::ProviderStatus& status = o.provider.status;
  status.installed_version = "v1.12.0";
  EXPECT_EQ(newest.Of(ctx_, o), "") << "nobody has looked";
  status.update_check = api::UpdateCheck{"source"};
  EXPECT_EQ(newest.Of(ctx_, o), "") << "nor yet";
  status.update_check->time = "2026-01-01T00:00:00Z";
  EXPECT_EQ(newest.Of(ctx_, o), "v1.12.0");
  status.available_upgrades = {{"v1.12.1", "v1beta2"}, {"v1.13.0", "v1beta2"}, {"v2.0.0", "v1beta2", "CoreUpgrade"}};
  EXPECT_EQ(newest.Of(ctx_, o), "v1.13.0");
  status.conditions = {{"UpgradeAvailable", "Unknown", "UpdateCheckFailed", "", 1, ""}};
  EXPECT_EQ(newest.Of(ctx_, o), "v1.13.0") << "what is known is so still";
  status.available_upgrades.clear();
  EXPECT_EQ(newest.Of(ctx_, o), "");
}

// F6: every provider's release was read after a restart of the operator, though nothing newer was there.
TEST_F(NewestVersionsTest, NothingIsReadWhereTheNewestRuns) {
  struct Case {
    std::vector<std::string> releases;
    std::string installed, contract, newest;
    bool asked;
  };
  for (const Case& c : std::vector<Case>{{{"v1.0.0", "v1.1.0"}, "v1.1.0", "v1beta1", "v1.1.0", false},
                                         {{"v1.1.0", "v1.2.0-rc.0"}, "v1.1.0", "v1beta1", "v1.1.0", false},
                                         {{"v1.0.0", "v1.1.0"}, "v1.0.0", "v1beta1", "v1.1.0", true},
                                         {{"v1.0.0", "v2.0.0"}, "v2.0.0", "v1beta2", "v1.0.0", true},
                                         {{"v1.0.0"}, "v1.1.0", "v1beta1", "v1.0.0", true},
                                         {{"v1.0.0"}, "", "", "v1.0.0", true}}) {
    SCOPED_TRACE(c.installed + " of " + c.releases.back());
    NewestVersions newest(*client_, sources_);
    Observation o = Selecting(c.releases);
    o.provider.spec.version = o.provider.status.installed_version = c.installed;
    o.provider.status.contract = c.contract;
    EXPECT_EQ(newest.Of(ctx_, o), c.newest);
    EXPECT_EQ(Asked() > 0, c.asked);
    // The contract may be that of what is to come.
    o.provider.spec.version = "v9.0.0";
    NewestVersions pending(*client_, sources_);
    EXPECT_EQ(pending.Of(ctx_, o), c.installed == "v2.0.0" ? "v1.0.0" : c.newest);
    EXPECT_GT(Asked(), 0);
  }
}

// The core's own isn't limited by what is installed of it, nor is a provider's without a core.
TEST(WantedContracts, AreTheCoresOrAll) {
  Observation o = testing::Observed();
  auto core = std::make_shared<api::Provider>(testing::NewCore());
  core->status.contract = "v1beta1";
  o.core = core;
  EXPECT_EQ(WantedContracts(o), std::vector<std::string>{"v1beta1"});
  o.provider.id = core->id;
  EXPECT_EQ(WantedContracts(o).size(), api::KnownContracts().size());
  o = testing::Observed();
  o.core = nullptr;
  EXPECT_EQ(WantedContracts(o).size(), api::KnownContracts().size());
}

// What can't be read now is asked for at the next look.
TEST_F(NewestVersionsTest, WhatFailsIsNotKept) {
  NewestVersions newest(*client_, sources_);
  Answers(500);
  EXPECT_EQ(newest.Of(ctx_, Selecting({"v1.0.0"})), "");
  Answers(200);
  EXPECT_EQ(newest.Of(ctx_, Selecting({"v1.0.0"})), "v1.0.0");
}

// A source on the network is never asked: what a pass has picked of its list counts, until something tells that it is
// old.
TEST_F(NewestVersionsTest, OfTheNetworkIsWhatWasPicked) {
  NewestVersions newest(*client_, sources_);
  Observation o = Selecting({});
  o.provider.spec.fetch_config->selector.reset();
  o.provider.spec.fetch_config->url = "https://github.com/example/provider/releases/latest/infrastructure.yaml";
  EXPECT_EQ(newest.Of(ctx_, o), "");
  newest.Picked(o, *api::Version::Parse("v1.1.0"));
  EXPECT_EQ(newest.Of(ctx_, o), "v1.1.0");
  o.provider.status.installed_version = "v1.0.0";
  EXPECT_EQ(newest.Of(ctx_, o), "v1.1.0");
  o.provider.status.installed_version = "v1.2.0";
  EXPECT_EQ(newest.Of(ctx_, o), "") << "somebody has heard of a newer one";
  o.provider.status.installed_version = "v1.1.0";
  core_->status.contract = "v1beta2";
  EXPECT_EQ(newest.Of(ctx_, o), "") << "another contract is wanted";
  core_->status.contract = "v1beta1";
  Observation elsewhere = o;
  elsewhere.provider.spec.fetch_config->url = "https://github.com/example/fork/releases/latest/infrastructure.yaml";
  EXPECT_EQ(newest.Of(ctx_, elsewhere), "") << "another source";
  newest.Forget(o.provider.id.Key());
  EXPECT_EQ(newest.Of(ctx_, o), "");
  EXPECT_EQ(Asked(), 0);
}

TEST_F(NewestVersionsTest, AFolderIsReadOnceAMinute) {
  Observation o = Selecting({});
  o.provider.spec.fetch_config.reset();
  const TempFolder temporary;
  const std::string folder = temporary / "releases";
  auto release = [&](const std::string& version) {
    const std::string to =
        fmt::format("{}/{}/{}", folder, api::ManifestLabel(o.provider.id.type, o.provider.id.name), version);
    std::filesystem::create_directories(to);
    ASSERT_TRUE(WriteFile(to + "/metadata.yaml", kSeries).ok());
  };
  Sources sources(settings_, {.github = {}, .folder = folder});
  NewestVersions newest(*client_, sources);
  EXPECT_EQ(newest.Of(ctx_, o), "") << "there is no folder";
  release("v1.0.0");
  clock_.Advance(Seconds(60));
  EXPECT_EQ(newest.Of(ctx_, o), "v1.0.0");
  release("v1.1.0");
  EXPECT_EQ(newest.Of(ctx_, o), "v1.0.0");
  clock_.Advance(Seconds(60));
  EXPECT_EQ(newest.Of(ctx_, o), "v1.1.0");
}

}  // namespace
}  // namespace capi::ops
