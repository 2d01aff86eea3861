// Releases from a server that speaks GitHub's API, and the ways in which it fails, seen through a Provider object (I2,
// I3, I14).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "api/release.h"
#include "base/encoding.h"
#include "base/http/server/server.h"
#include "base/strings.h"
#include "base/testing/length.h"
#include "e2e/support/managed_cluster.h"
#include "e2e/support/recorder.h"

namespace capi::e2e {
namespace {

using api::ProviderType;
using ::testing::HasSubstr;

// GitHub as far as the operator uses it, for kubernetes-sigs/cluster-api.
class GitHub {
 public:
  GitHub() {
    auto started = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(started.ok());
    server_ = std::move(started).value();
  }
  std::string url() const { return "http://" + server_->address(); }
  void RateLimit(bool on) { limited_ = on; }
  void BreakDown(bool on) { broken_ = on; }
  WallTime reset() const { return reset_; }
  int requests() const { return requests_; }
  std::vector<WallTime> times() {
    MutexLock lock(mu_);
    return times_;
  }
  void ForgetTimes() {
    MutexLock lock(mu_);
    times_.clear();
  }

 private:
  http::Response Answer(const http::ServerRequest& request) {
    ++requests_;
    {
      MutexLock lock(mu_);
      times_.push_back(SystemClock().Now());
    }
    http::Response response;
    response.status = 404;
    response.body = R"({"message":"Not Found"})";
    if (limited_) {
      response.status = 403;
      response.headers.Set("X-RateLimit-Remaining", "0");
      response.headers.Set("X-RateLimit-Reset", std::to_string(std::chrono::system_clock::to_time_t(reset_)));
      response.body = R"({"message":"API rate limit exceeded"})";
    } else if (broken_) {
      response.status = 503;
      response.body = R"({"message":"No server is currently available to service your request."})";
    } else if (request.path == "/repos/kubernetes-sigs/cluster-api/releases") {
      response.status = 200;
      response.body =
          R"([{"tag_name":"v1.12.0"},{"tag_name":"v1.11.0"},{"tag_name":"v1.13.0-rc.0","prerelease":true}])";
    } else if (request.path.starts_with("/kubernetes-sigs/cluster-api/releases/download/")) {
      auto parts = Split(request.path, '/');
      std::string version = parts[5], file = parts[6];
      if (version == "v1.12.0" || version == "v1.11.0") {
        response.status = 200;
        response.body = GetRelease("cluster-api", version).Text(file);
        // So large that it is kept compressed.
        if (file != "metadata.yaml") response.body += "\n#" + std::string(1'100'000, '.') + "\n";
      }
    }
    return response;
  }
  std::unique_ptr<http::Server> server_;
  const WallTime reset_ = std::chrono::floor<Seconds>(SystemClock().Now()) + std::chrono::minutes(40);
  std::atomic<bool> limited_ = false, broken_ = false;
  std::atomic<int> requests_ = 0;
  Mutex mu_;
  std::vector<WallTime> times_ CAPI_GUARDED_BY(mu_);  // of all requests
};

class FromGitHub : public UnmanagedCluster {
 protected:
  void SetUp() override {
    CAPI_NEED_RELEASES("cluster-api/v1.11.0", "cluster-api/v1.12.0");
    UnmanagedCluster::SetUp();
    if (!cluster_) return;
    cluster_->CreateNamespace(kCore.ns);
    // What other tests of this program stored would be taken instead of GitHub's.
    for (const char* version : {"v1.11.0", "v1.12.0"}) {
      std::string name = std::string("core-cluster-api-") + version;
      (void)cluster_->client().Delete(cluster_->ctx(), kube::Builtin("ConfigMap"), "capi-system", name).ok();
    }
  }
  void Start(const std::string& url) { StartOperator({"--github-api-url=" + url, "--github-url=" + url}); }
  void ApplyCore(Json spec = Json::object()) {
    cluster_->ApplyProvider(ProviderType::kCore, "capi-system", "cluster-api", std::move(spec));
  }
};

TEST_F(FromGitHub, TheLatestIsFetchedOnceAndKept) {
  GitHub github;
  Start(github.url());
  ApplyCore();
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(See(kCore).provider.status.installed_version, "v1.12.0");
  EXPECT_THAT(See(kCore).provider.status.source, HasSubstr("kubernetes-sigs/cluster-api"));
  kube::Object stored = cluster_->Get("ConfigMap", "capi-system", "core-cluster-api-v1.12.0");
  EXPECT_EQ(stored.annotation("provider.cluster.x-k8s.io/compressed"), "true");
  EXPECT_EQ(stored.label("provider.cluster.x-k8s.io/version"), "v1.12.0");
  auto packed = Base64Decode(GetString(stored.json(), {"binaryData", "components"}));
  ASSERT_TRUE(packed.ok());
  auto components = Gunzip(*packed, api::kMaxReleaseBytes);
  ASSERT_TRUE(components.ok());
  EXPECT_TRUE(components->starts_with(GetRelease("cluster-api", "v1.12.0").Components()));
  // I14: what was fetched lies in the cluster: another render asks nobody.
  int before = github.requests();
  PatchSpec(kCore, {{"deployment", {{"replicas", 2}}}});
  EXPECT_TRUE(Eventually([&] {
    return GetInt(cluster_->Get("Deployment", "capi-system", "capi-controller-manager").json(), {"spec", "replicas"}) ==
           2;
  }));
  EXPECT_EQ(github.requests(), before);
}

// A release that lies there already, put there by hand, is taken: asking GitHub for it would end in the same name, on
// every pass.
TEST_F(FromGitHub, AReleaseThatLiesThereIsTaken) {
  cluster_->StoreRelease("capi-system", GetRelease("cluster-api", "v1.11.0"));
  GitHub github;
  Start(github.url());
  ApplyCore({{"version", "v1.11.0"}});
  ASSERT_TRUE(AwaitReady(kCore));
  EXPECT_EQ(github.requests(), 0);
}

TEST_F(FromGitHub, AVersionThatIsNotThere) {
  GitHub github;
  Start(github.url());
  ApplyCore({{"version", "v1.12.99"}});
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "VersionNotFound"));
  EXPECT_THAT(See(kCore).Message("ProviderInstalled"), HasSubstr("v1.12.99"));
}

TEST_F(FromGitHub, TheRateLimitSaysWhenItEnds) {
  GitHub github;
  github.RateLimit(true);
  Start(github.url());
  ApplyCore();
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "RateLimited"));
  std::string message = See(kCore).Message("ProviderInstalled");
  size_t at = message.find("the limit resets at ");
  ASSERT_NE(at, message.npos) << message;
  auto reset = ParseTime(message.substr(at + 20, 20));
  ASSERT_TRUE(reset.ok()) << message;
  EXPECT_LE(std::chrono::abs(*reset - github.reset()), Seconds(2));
  EXPECT_THAT(See(kCore).Message("ProviderInstalled"), HasSubstr("GITHUB_TOKEN"));
}

TEST_F(FromGitHub, UnreachableIsTriedAgain) {
  Start("http://127.0.0.1:1");
  ApplyCore();
  ASSERT_TRUE(AwaitReason(kCore, "ProviderInstalled", "SourceUnreachable"));
  EXPECT_THAT(See(kCore).Message("ProviderInstalled"), HasSubstr("next try at"));
  EXPECT_EQ(See(kCore).Status("Reconciling"), "True");
}

// The times of the next try that the status reported, in its order.
std::vector<WallTime> TimesReported(Recorder& recorder, std::string_view reason) {
  std::vector<WallTime> times;
  for (const kube::WatchEvent& event : recorder.Seen()) {
    const Json* list = Find(event.object.json(), {"status", "conditions"});
    if (list == nullptr) continue;
    const auto conditions = kube::ConditionsFromJson(*list);
    const auto* ready = kube::FindCondition(conditions, "Ready");
    if (ready == nullptr || ready->reason != reason) continue;
    auto time = NextTryIn(ready->message);
    EXPECT_TRUE(time.ok()) << time.error().message;
    if (time.ok()) times.push_back(*time);
  }
  return times;
}

// F5: a source that was away was asked every 200 ms for ever, and the status written with it: the pass that reported
// the failure counted as a success, and so the back-off began anew each time.
TEST_F(FromGitHub, ASourceThatIsAwayIsAskedLessAndLessOften) {
  const auto tries = static_cast<size_t>(ByLength(7, 9, 10));
  GitHub github;
  github.BreakDown(true);
  std::optional<Recorder> recorder;
  // On a machine that stands still for longer than a lease lasts (F4) the tries begin anew, and so does this.
  for (int beginnings = 1;; ++beginnings) {
    Start(github.url());
    Delete(kCore);
    ASSERT_TRUE(AwaitGone(kCore));
    github.ForgetTimes();
    recorder.emplace(*cluster_, api::ResourceOf(ProviderType::kCore), kCore.ns);
    ApplyCore();
    auto all = [&] { return github.times().size() >= tries || !operator_->running(); };
    ASSERT_TRUE(kube::Eventually(all, std::chrono::minutes(4), Millis(100)));
    if (!operator_->LostItsLease()) break;
    ASSERT_LT(beginnings, 5) << "the machine stands still again and again";
  }
  ASSERT_TRUE(operator_->running()) << "it ended, and with it what it knew of its tries:\n" << operator_->Log();
  const auto reported = TimesReported(*recorder, "SourceUnreachable");
  const std::vector<WallTime> tried = github.times();
  github.BreakDown(false);
  // 0.2 s, 0.4 s and so on, a fifth less at most; 40 s for nine tries, so that a minute has no more than twelve.
  const Millis shortest{160 * ((1 << (tries - 1)) - 1)};
  EXPECT_GE(tried[tries - 1] - tried[0], shortest);
  EXPECT_LE(reported.size(), tried.size()) << "one write of the status for each try";
  // A try reports the next one: a whole back-off after itself, but for the part of a second that the report lacks. (One
  // report may be for two, of the same second.)
  for (size_t i = 0; i + 1 < tried.size(); ++i) {
    bool fits = std::any_of(reported.begin(), reported.end(), [&](WallTime at) {
      return at + Seconds(1) > tried[i] + Millis(160 << i) && IsTimeOf(at, tried[i + 1]);
    });
    EXPECT_TRUE(fits) << "try " << i + 2 << " at " << FormatMicroTime(tried[i + 1]) << " was not reported";
  }
  EXPECT_TRUE(Eventually([&] { return See(kCore).Status("Ready") == "True"; }, std::chrono::minutes(4)))
      << "and it goes on by itself when the source is back";
}

}  // namespace
}  // namespace capi::e2e
