// Informers on a real API server, through a proxy that makes faults and counts requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "kube/cache/informer.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::kube {
namespace {

bool Streams(const ProxyRequest& r) { return r.target.find("sendInitialEvents=true") != std::string::npos; }
bool Resumes(const ProxyRequest& r) { return r.watch && !Streams(r); }

// A running informer of this test's ConfigMaps, and what its handler saw last of each.
class Watched {
 public:
  Watched(Client& client, const std::string& label, InformerOptions options = {})
      : informer(client, Builtin("ConfigMap"), WithLabel(std::move(options), label),
                 [this](const ObjectPtr& was, const ObjectPtr& is) {
                   MutexLock lock(mu_);
                   seen_[(is ? is : was)->name()] += is == nullptr ? "-" : was == nullptr ? "+" : "*";
                 }) {
    Context ctx;
    ctx.stop = stop_.get_token();
    thread_ = std::thread([this, ctx] { informer.Run(ctx); });
  }
  ~Watched() {
    stop_.request_stop();
    thread_.join();
  }

  bool Sync() { return informer.WaitForSync(Context{}.WithTimeout(Seconds(30))).ok(); }
  // What the handler was told of `name`: + added, * changed, - deleted.
  std::string Seen(const std::string& name) const {
    MutexLock lock(mu_);
    auto found = seen_.find(name);
    return found == seen_.end() ? "" : found->second;
  }
  bool Has(const std::string& name) const { return informer.Get("default", name) != nullptr; }

 private:
  static InformerOptions WithLabel(InformerOptions options, const std::string& label) {
    options.label_selector = "test=" + label;
    return options;
  }
  std::stop_source stop_;
  mutable Mutex mu_;
  std::map<std::string, std::string> seen_;

 public:
  Informer informer;

 private:
  std::thread thread_;
};

class InformerOnServer : public testing::Test {
 protected:
  InformerOnServer()
      : direct_(ControlPlane::Shared(false).NewClient()),
        proxy_(*FaultProxy::Start(ControlPlane::Shared(false).config())),
        client_(*Client::Connect(proxy_->config(), {.user_agent = "informer-test"})),
        label_(testing::UnitTest::GetInstance()->current_test_info()->name()) {
    for (char& c : label_) c = static_cast<char>(std::tolower(c));
  }

  std::string Name(const std::string& name) const { return label_ + "-" + name; }

  void Make(const std::string& name, size_t bytes = 1) {
    Object object(Json{{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", Name(name)}, {"namespace", "default"}, {"labels", {{"test", label_}}}}},
                       {"data", {{"key", std::string(bytes, 'x')}}}});
    auto made = direct_->Create({}, map_, object);
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  void Change(const std::string& name, const Json& patch) {
    auto changed = direct_->Patch({}, map_, "default", Name(name), PatchType::kMerge, patch);
    ASSERT_TRUE(changed.ok()) << changed.error().message;
  }
  void Delete(const std::string& name) { ASSERT_TRUE(direct_->Delete({}, map_, "default", Name(name)).ok()); }

  template <typename Predicate>
  long Count(Predicate predicate) const {
    auto requests = proxy_->requests();
    return std::count_if(requests.begin(), requests.end(), predicate);
  }
  long CountAll() const {
    return Count([](const ProxyRequest&) { return true; });
  }

  std::unique_ptr<Client> direct_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Client> client_;
  std::string label_;
  const Resource& map_ = Builtin("ConfigMap");
};

TEST_F(InformerOnServer, OneRequestBringsEverythingAndFollowsIt) {
  Make("a");
  Make("b", 100'000);
  Watched w(*client_, label_, {.transform = DropManagedFields});
  ASSERT_TRUE(w.Sync());
  EXPECT_EQ(w.informer.List().size(), 2u);
  Make("c");
  Change("a", {{"data", {{"key", "new"}}}});
  Delete("b");
  EXPECT_TRUE(
      Eventually([&] { return w.Seen(Name("c")) == "+" && w.Seen(Name("a")) == "+*" && w.Seen(Name("b")) == "+-"; }));
  EXPECT_EQ(GetString(w.informer.Get("default", Name("a"))->json(), {"data", "key"}), "new");
  EXPECT_EQ(Find(w.informer.Get("default", Name("a"))->json(), {"metadata", "managedFields"}), nullptr);
  EXPECT_FALSE(w.Has(Name("b")));
  EXPECT_EQ(CountAll(), 1);
}

TEST_F(InformerOnServer, MetadataAloneOfWhatTheSelectorTakes) {
  Make("in");
  Make("leaves");
  Watched w(*client_, label_, {.ns = "default", .metadata_only = true});
  ASSERT_TRUE(w.Sync());
  ObjectPtr in = w.informer.Get("default", Name("in"));
  ASSERT_NE(in, nullptr);
  EXPECT_EQ(Find(in->json(), {"data"}), nullptr);
  EXPECT_EQ(in->kind(), "ConfigMap");
  Change("leaves", {{"metadata", {{"labels", {{"test", "another"}}}}}});
  EXPECT_TRUE(Eventually([&] { return w.Seen(Name("leaves")) == "+-"; }));
}

TEST_F(InformerOnServer, ResumesAfterACutWithoutListingAgain) {
  Make("a");
  Watched w(*client_, label_);
  ASSERT_TRUE(w.Sync());
  for (int i = 0; i < 3; ++i) {
    proxy_->CutAllConnections();
    Make("cut" + std::to_string(i));
    ASSERT_TRUE(Eventually([&] { return w.Has(Name("cut" + std::to_string(i))); }));
  }
  EXPECT_EQ(w.Seen(Name("a")), "+");
  EXPECT_EQ(Count(Streams), 1);
  EXPECT_LE(CountAll(), 7) << "a probe and a watch for each cut";
}

TEST_F(InformerOnServer, ListsAgainOn410AndFindsWhatWent) {
  Make("stays");
  Make("goes");
  Make("changes");
  Watched w(*client_, label_);
  ASSERT_TRUE(w.Sync());
  proxy_->SetFaults([](const ProxyRequest& r) { return Fault{.drop = r.watch}; });
  proxy_->CutAllConnections();
  Delete("goes");
  Change("changes", {{"data", {{"key", "new"}}}});
  proxy_->SetFaults([](const ProxyRequest& r) { return Fault{.status = Resumes(r) ? 410 : 0}; });
  EXPECT_TRUE(Eventually([&] { return w.Seen(Name("goes")) == "+-" && w.Seen(Name("changes")) == "+*"; }));
  EXPECT_EQ(w.Seen(Name("stays")), "+");
  EXPECT_FALSE(w.Has(Name("goes")));
}

TEST_F(InformerOnServer, ListsAndWatchesWhereStreamingIsRefused) {
  proxy_->SetFaults([](const ProxyRequest& r) { return Fault{.status = Streams(r) ? 422 : 0}; });
  Make("a");
  Watched first(*client_, label_);
  ASSERT_TRUE(first.Sync());
  Watched second(*client_, label_);
  ASSERT_TRUE(second.Sync());
  EXPECT_EQ(Count(Streams), 1) << "one refusal is enough for all informers of a client";
  Make("b");
  EXPECT_TRUE(Eventually([&] { return first.Has(Name("b")) && second.Has(Name("b")); }));
}

TEST_F(InformerOnServer, AStreamCutInItsMiddleIsTakenFromTheStart) {
  for (int i = 0; i < 5; ++i) Make("big" + std::to_string(i), 20'000);
  proxy_->SetFaults([](const ProxyRequest& r) {
    Fault fault;
    if (Streams(r) && r.number == 1) fault.cut_after = 50'000;
    return fault;
  });
  Watched w(*client_, label_);
  ASSERT_TRUE(w.Sync());
  EXPECT_EQ(w.informer.List().size(), 5u);
  EXPECT_EQ(w.Seen(Name("big0")), "+");
}

// F3: eight informers of a client together ask at most twice a second while the server doesn't answer.
TEST_F(InformerOnServer, AsksRarelyWhileTheServerIsAwayAndComesBackSoon) {
  std::vector<std::unique_ptr<Watched>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<Watched>(*client_, label_));
  for (auto& w : all) ASSERT_TRUE(w->Sync());
  proxy_->Reset();
  proxy_->SetFaults([](const ProxyRequest&) { return Fault{.drop = true}; });
  proxy_->CutAllConnections();
  auto start = std::chrono::steady_clock::now();
  auto away = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  EXPECT_FALSE(Eventually([&] { return CountAll() > 2 + 2 * away(); }, Seconds(6)));
  EXPECT_GE(CountAll(), 2) << "it did ask";
  Make("meanwhile");
  proxy_->SetFaults(nullptr);
  EXPECT_TRUE(Eventually(
      [&] { return std::all_of(all.begin(), all.end(), [&](auto& w) { return w->Has(Name("meanwhile")); }); },
      Seconds(8)));
}

TEST_F(InformerOnServer, OutlivesARestartOfTheServer) {
  ControlPlane& plane = ControlPlane::Shared(false);
  Make("before");
  Watched w(*client_, label_);
  ASSERT_TRUE(w.Sync());
  ASSERT_TRUE(plane.StopApiServer().ok());
  ASSERT_TRUE(plane.StartApiServer().ok());
  Make("after");
  Delete("before");
  EXPECT_TRUE(Eventually([&] { return w.Has(Name("after")) && w.Seen(Name("before")) == "+-"; }));
}

}  // namespace
}  // namespace capi::kube
