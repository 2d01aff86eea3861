// A1: what clusterctl installed gets Provider objects, whatever else the cluster lacks.
#include "operator/act/adopt_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "base/http/server/server.h"
#include "base/testing/await.h"
#include "base/testing/recording_clock.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;

constexpr const char* kInventory = "/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers";
constexpr const char* kEntries =
    R"({"kind":"ProviderList","metadata":{},"items":[{"metadata":{"name":"infrastructure-aws",
  "namespace":"capa-system"},"providerName":"aws","type":"InfrastructureProvider","version":"v2.0.2"}]})";

// A server that answers lists; a kind that isn't named it doesn't have. AdoptInventory runs beside it.
class Adopting : public ::testing::Test {
 protected:
  Adopting() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      if (request.path == kInventory) ++passes_;
      if (request.method == "POST") created_.push_back(request.path);
      if (request.method == "POST") return http::Response{.status = 201, .headers = {}, .body = request.body};
      auto found = lists_.find(request.path);
      if (found == lists_.end()) return http::Response{.status = 404, .headers = {}, .body = ""};
      bool refused = found->second.empty();
      return http::Response{.status = refused ? 403 : 200, .headers = {}, .body = refused ? "{}" : found->second};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *kube::Client::Connect({.server = "http://" + server_->address()}, {});
  }

  void Has(const std::string& path, const std::string& list) {  // "": it may not be read
    MutexLock lock(mu_);
    lists_[path] = list;
  }
  // Until it waits: for its next try, or for good.
  void Start(const std::string& ns = "") {
    thread_ = std::jthread([this, ns](std::stop_token stop) {
      Context ctx;
      ctx.stop = stop;
      ctx.clock = &clock_;
      AdoptInventory(ctx, *client_, ns);
    });
    EXPECT_TRUE(Await([this] { return !clock_.waits().empty(); }));
  }
  // Time passes until the wait is over, and the next one begins.
  void EndWait() {
    const auto waits = clock_.waits();
    clock_.Advance(waits.back());
    EXPECT_TRUE(Await([&] { return clock_.waits().size() > waits.size(); }));
  }
  int Passes() {
    MutexLock lock(mu_);
    return passes_;
  }
  std::vector<std::string> Created() {
    MutexLock lock(mu_);
    return created_;
  }

  RecordingClock clock_;

 private:
  Mutex mu_;
  std::map<std::string, std::string> lists_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> created_ CAPI_GUARDED_BY(mu_);
  int passes_ CAPI_GUARDED_BY(mu_) = 0;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
  std::jthread thread_;
};

TEST_F(Adopting, AKindThatTheClusterLacksHoldsUpNobody) {
  Has(kInventory, kEntries);
  Start();
  EXPECT_THAT(Created(), ElementsAre("/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/capa-system/"
                                     "infrastructureproviders"));
  EndWait();
  EXPECT_EQ(Passes(), 1) << "it is done once";
}

// The manifests for a single namespace give rights in that one alone. It asked for the providers of all namespaces, was
// refused, and adopted nothing.
TEST_F(Adopting, TheOperatorOfOneNamespaceListsProvidersInNoOther) {
  const std::string kinds = "/apis/operator.cluster.x-k8s.io/v1alpha2/";
  for (const auto& kind : api::kProviderKinds) Has(kinds + api::ResourceOf(kind.type).plural, "");
  Has(kInventory, kEntries);
  Start("capa-system");
  EXPECT_THAT(Created(), ElementsAre(kinds + "namespaces/capa-system/infrastructureproviders"));
}

// A1.
TEST_F(Adopting, TheOperatorOfOneNamespaceAdoptsInNoOther) {
  Has(kInventory, kEntries);
  Start("capi-providers");
  EXPECT_THAT(Created(), ElementsAre());
  EndWait();
  EXPECT_EQ(Passes(), 1) << "that is no failure, which would be tried again";
}

TEST_F(Adopting, TriesLessAndLessOften) {
  Has(kInventory, "");
  Start();
  for (int passes = 1; passes < 8; ++passes) {
    EXPECT_EQ(Passes(), passes);
    EndWait();
  }
  const std::vector<Seconds> pauses = clock_.waits();
  EXPECT_EQ(pauses, (std::vector{Seconds(5), Seconds(10), Seconds(20), Seconds(40), Seconds(80), Seconds(160),
                                 Seconds(300), Seconds(300)}));
  Has(kInventory, kEntries);
  EndWait();
  EXPECT_EQ(Created().size(), 1u);
}

}  // namespace
}  // namespace capi::ops
