// F11 on a real API server: its events, its lists and its refusals.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"
#include "operator/observe/watches.h"

namespace capi::ops {
namespace {

using kube::Eventually;

Watches::Key SecretOf(const std::string& ns, const std::string& name) {
  return {Watches::Purpose::kReferenced, kube::Builtin("Secret"), ns, "", "metadata.name=" + name, true};
}

class SelectOnServer : public ::testing::Test {
 protected:
  SelectOnServer() : admin_(kube::ControlPlane::Shared(false).NewClient()) {}
  ~SelectOnServer() override {
    watches_.reset();
    for (const std::string& name : made_) (void)admin_->Delete(ctx_, secrets_, ns_, name);
  }

  // Watches that have the rights of `user`, all where that is "".
  void Connect(const std::string& user = "") {
    proxy_ = *kube::FaultProxy::Start(kube::ControlPlane::Shared(false).config());
    kube::Config config = proxy_->config();
    config.impersonate_user = user;
    client_ = *kube::Client::Connect(config, {.user_agent = "watches-test"});
    watches_ = std::make_unique<Watches>(*client_, [this](const Watches::Event& event) {
      MutexLock lock(mu_);
      for (const std::string& name : event.users)
        told_.insert(name + " " + (event.is ? event.is->resource_version() : "gone"));
    });
  }
  bool WasTold(const std::string& line) {
    return Eventually([&] {
      MutexLock lock(mu_);
      return told_.contains(line);
    });
  }
  std::string Make(const std::string& name) {
    auto made = admin_->Create(ctx_, secrets_,
                               kube::Object(Json{{"apiVersion", "v1"},
                                                 {"kind", "Secret"},
                                                 {"metadata", {{"name", name}, {"namespace", ns_}}},
                                                 {"stringData", {{"a", "b"}}}}));
    EXPECT_TRUE(made.ok()) << made.error().message;
    made_.insert(name);
    return made.ok() ? made->resource_version() : "";
  }
  std::string Change(const std::string& name) {
    auto changed = admin_->Patch(ctx_, secrets_, ns_, name, kube::PatchType::kMerge,
                                 {{"metadata", {{"labels", {{"at", std::to_string(++changes_)}}}}}});
    EXPECT_TRUE(changed.ok()) << changed.error().message;
    return changed.ok() ? changed->resource_version() : "";
  }
  std::string Select(const std::string& name) {
    auto found = watches_->Select(ctx_, SecretOf(ns_, name), "of-" + name);
    if (!found.ok()) return found.error().message;
    return found->empty() ? "none" : found->front()->resource_version();
  }
  // Watches that were asked for and given: of all or one namespace, or of names.
  long Watched(bool by_name) {
    auto requests = proxy_->requests();
    return std::count_if(requests.begin(), requests.end(), [&](const kube::ProxyRequest& request) {
      return request.target.find("watch=true") != request.target.npos &&
             (request.target.find("fieldSelector") != request.target.npos) == by_name;
    });
  }
  void Allow(const std::string& user, const std::string& rule) {
    kube::ApplyYaml(*admin_, fmt::format(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {0}, namespace: default}}
rules: [{1}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: {0}, namespace: default}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {0}}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: {0}}}]
)",
                                         user, rule));
    kube::Config config = kube::ControlPlane::Shared(false).config();
    config.impersonate_user = user;
    auto client = *kube::Client::Connect(config, {.user_agent = "watches-test"});
    ASSERT_TRUE(
        Eventually([&] { return client->List(ctx_, secrets_, ns_, {.field_selector = "metadata.name=s0"}).ok(); }));
  }

  const kube::Resource& secrets_ = kube::Builtin("Secret");
  const std::string ns_ = "default";
  Context ctx_ = Context{}.WithTimeout(Seconds(120));
  std::unique_ptr<kube::Client> admin_, client_;
  std::unique_ptr<kube::FaultProxy> proxy_;
  std::set<std::string> made_;
  std::atomic<int> changes_ = 0;
  Mutex mu_;
  std::multiset<std::string> told_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<Watches> watches_;
};

constexpr int kNames = 60;
std::string Name(int i) { return "s" + std::to_string(i); }

// Names come into use while they change: whoever reads an old state is told of the new one.
TEST_F(SelectOnServer, ManyNamesShareAWatchAndMissNothing) {
  Connect();
  for (int i = 0; i < kNames; ++i) Make(Name(i));
  for (int i = 0; i < 100; ++i) Make("foreign" + std::to_string(i));
  std::vector<std::string> last(kNames), seen(kNames);
  {
    std::jthread writer([&] {
      for (int i = 0; i < kNames; ++i) {
        last[i] = Change(Name(i));
        Change("foreign" + std::to_string(i));
      }
    });
    std::vector<std::jthread> workers;
    for (int w = 0; w < 4; ++w) {
      workers.emplace_back([&, w] {
        for (int i = w; i < kNames; i += 4) seen[i] = Select(Name(i));
      });
    }
  }
  for (int i = 0; i < kNames; ++i) {
    EXPECT_TRUE(seen[i] == last[i] || WasTold("of-" + Name(i) + " " + last[i])) << i;
    EXPECT_EQ(Select(Name(i)), last[i]);
  }
  EXPECT_EQ(Watched(/*by_name=*/true), Watches::kAlone);
  EXPECT_EQ(Watched(/*by_name=*/false), 1) << "of the namespace";

  // After a cut it goes on, and tells what was missed.
  proxy_->CutAllConnections();
  const std::string changed = Change(Name(40));
  ASSERT_TRUE(admin_->Delete(ctx_, secrets_, ns_, Name(41)).ok());
  EXPECT_TRUE(WasTold("of-" + Name(40) + " " + changed));
  EXPECT_TRUE(WasTold("of-" + Name(41) + " gone"));
  EXPECT_EQ(Select(Name(40)), changed);
  EXPECT_EQ(Select(Name(41)), "none");
  const std::string again = Make(Name(41));
  EXPECT_TRUE(WasTold("of-" + Name(41) + " " + again));
  MutexLock lock(mu_);
  for (int i = 50; i < kNames; ++i) EXPECT_LE(told_.count("of-" + Name(i) + " " + last[i]), 1u) << "told twice";
}

// As `single-namespace` has it: one namespace may be watched, and not all of them.
TEST_F(SelectOnServer, ARoleOfANamespaceIsEnough) {
  for (int i = 0; i < 20; ++i) Make(Name(i));
  Allow("of-a-namespace", R"({apiGroups: [""], resources: [secrets], verbs: [get, list, watch]})");
  Connect("of-a-namespace");
  for (int i = 0; i < 20; ++i) EXPECT_NE(Select(Name(i)), "none");
  EXPECT_EQ(Watched(true), Watches::kAlone);
  EXPECT_EQ(Watched(false), 1);
  const std::string changed = Change(Name(15));
  EXPECT_TRUE(WasTold("of-" + Name(15) + " " + changed));
}

// Rights for some names: no more is asked for than these, once it was refused.
TEST_F(SelectOnServer, ARoleOfNamesIsEnough) {
  std::string names;
  for (int i = 0; i < 20; ++i) {
    Make(Name(i));
    names += (i > 0 ? ", " : "") + Name(i);
  }
  Allow("of-names",
        R"({apiGroups: [""], resources: [secrets], resourceNames: [)" + names + R"(], verbs: [get, list, watch]})");
  Connect("of-names");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Select(Name(i)).find_first_not_of("0123456789"), std::string::npos);
  const std::string changed = Change(Name(15));
  EXPECT_TRUE(WasTold("of-" + Name(15) + " " + changed));
  EXPECT_EQ(Watched(true), 20);
  EXPECT_LE(Watched(false), 20) << "refused: of the namespace and of all, for two seconds each";
}

}  // namespace
}  // namespace capi::ops
