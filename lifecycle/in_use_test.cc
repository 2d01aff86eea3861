#include "lifecycle/in_use.h"

#include <gtest/gtest.h>

#include <map>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace capi::lifecycle {
namespace {

kube::Object Of(std::string_view json) { return kube::Object(*ParseJson(json)); }

// A server that has things of CRDs, in pages of `page`.
class FindUsersTest : public ::testing::Test {
 protected:
  FindUsersTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      ++asked_;
      return Answer(request);
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *kube::Client::Connect({.server = "http://" + server_->address()}, {.max_retries = 0});
  }
  static kube::Object Crd(const std::string& group, const std::string& kind, const std::string& versions) {
    return Of(R"({"metadata":{"name":")" + kind + "." + group + R"("},"spec":{"group":")" + group +
              R"(","scope":"Cluster","names":{"kind":")" + kind + R"(","plural":")" + kind + R"("},"versions":)" +
              versions + R"(},"status":{"storedVersions":["v1","v2"]}})");
  }
  static kube::Object Crd(const std::string& group, const std::string& kind) {
    return Crd(group, kind, R"([{"name":"v1","served":true,"storage":true}])");
  }
  void Has(const std::string& path, std::vector<Json> items) {
    MutexLock lock(mu_);
    items_[path] = std::move(items);
  }
  kube::Client& client() { return *client_; }
  std::string Find(const std::vector<kube::Object>& crds, size_t most = 3) {
    std::vector<const kube::Object*> all;
    for (const auto& crd : crds) all.push_back(&crd);
    auto users = FindUsers(*client_, Context{}.WithTimeout(Seconds(30)), all, most);
    EXPECT_TRUE(users.ok()) << users.error().message;
    std::vector<std::string> names;
    for (const auto& user : users.ok() ? *users : std::vector<ClusterUser>()) names.push_back(NameOf(user));
    return Join(names, ", ");
  }

  Mutex mu_;
  size_t page_ CAPI_GUARDED_BY(mu_) = 100;
  int asked_ CAPI_GUARDED_BY(mu_) = 0;
  std::map<std::string, int> fails_ CAPI_GUARDED_BY(mu_);  // after so many pages
  int fails_with_ CAPI_GUARDED_BY(mu_) = 500;
  bool by_proxy_ CAPI_GUARDED_BY(mu_) = false;  // that there is no CRD

 private:
  http::Response Answer(const http::ServerRequest& request) CAPI_REQUIRES(mu_) {
    auto fails = fails_.find(request.path);
    if (fails != fails_.end() && fails->second-- == 0) return {.status = fails_with_, .headers = {}, .body = "{}"};
    auto found = items_.find(request.path);
    const bool is_crd = request.path.starts_with("/apis/apiextensions.k8s.io/");
    if (found == items_.end() && is_crd && !by_proxy_) {
      return {.status = 404, .headers = {}, .body = R"({"kind":"Status","reason":"NotFound","message":"gone"})"};
    }
    if (found == items_.end()) return {.status = 404, .headers = {}, .body = "404 page not found"};
    const size_t at = request.query.find("continue=");
    const size_t first = at == std::string::npos ? 0 : std::stoul(request.query.substr(at + 9));
    const size_t last = std::min(first + page_, found->second.size());
    Json page = {{"metadata", Json::object()}, {"items", Json::array()}};
    for (size_t i = first; i < last; ++i) page["items"].push_back(found->second[i]);
    if (last < found->second.size()) page["metadata"]["continue"] = std::to_string(last);
    return {.status = 200, .headers = {}, .body = ToJsonText(page)};
  }

  std::map<std::string, std::vector<Json>> items_ CAPI_GUARDED_BY(mu_);  // by path
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
};

Json Thing(const std::string& name, const std::string& owner = "", const std::string& owner_kind = "x/v1 Thing") {
  Json out = {{"metadata", {{"name", name}, {"uid", name}}}};
  const size_t blank = owner_kind.find(' ');
  if (!owner.empty()) {
    out["metadata"]["ownerReferences"] = {{{"apiVersion", owner_kind.substr(0, blank)},
                                           {"kind", owner_kind.substr(blank + 1)},
                                           {"name", owner},
                                           {"uid", owner}}};
  }
  return out;
}

Json Labelled(const std::string& name) {
  Json out = Thing(name);
  out["metadata"]["labels"] = {{"cluster.x-k8s.io/cluster-name", "c"}};
  return out;
}

// X2, by label, kind and owners.
TEST_F(FindUsersTest, ByLabelKindAndOwners) {
  const std::string machine = "cluster.x-k8s.io/v1beta2 Machine";
  struct Case {
    std::string name;
    std::vector<Json> things, others;  // of kinds "A" and "B", read in this order
    std::string want;
  };
  const Case cases[] = {
      {"nothing of all that", {Thing("a")}, {Thing("b")}, ""},
      {"a label", {Thing("a"), Labelled("l")}, {}, "A l"},
      {"an owner that is a Machine", {Thing("a", "m", machine)}, {}, "A a"},
      {"a Machine of another group", {Thing("a", "m", "x/v1 Machine")}, {}, ""},
      {"an owner that is a ClusterClass", {Thing("a", "m", "cluster.x-k8s.io/v1beta2 ClusterClass")}, {}, ""},
      {"an owner that belongs to one", {Labelled("l"), Thing("a", "l")}, {}, "A l, A a"},
      {"one that comes later", {Thing("a", "b")}, {Labelled("b")}, "B b, A a"},
      {"by several", {Thing("a", "b"), Thing("c", "a")}, {Thing("b", "d"), Thing("d", "m", machine)}, "B d, B b, A a"},
      {"an owner that doesn't", {Thing("a", "f"), Thing("f")}, {Labelled("b")}, "B b"},
      {"an owner that is nowhere", {Thing("a", "gone")}, {}, ""},
      {"owners in a ring", {Thing("a", "b"), Thing("b", "a"), Thing("r", "r")}, {}, ""},
      {"no more than are asked for",
       {Labelled("1"), Labelled("2"), Labelled("3"), Labelled("4")},
       {Labelled("5")},
       "A 1, A 2, A 3"},
  };
  for (const auto& c : cases) {
    for (size_t page : {1u, 100u}) {
      SCOPED_TRACE(c.name);
      {
        MutexLock lock(mu_);
        page_ = page;
      }
      Has("/apis/x/v1/A", c.things);
      Has("/apis/x/v1/B", c.others);
      EXPECT_EQ(Find({Crd("x", "A"), Crd("x", "B")}), c.want);
    }
  }
  Has("/apis/cluster.x-k8s.io/v1/Machine", {Thing("m")});
  EXPECT_EQ(Find({Crd("cluster.x-k8s.io", "Machine")}), "Machine m") << "a kind that exists for one Cluster alone";
}

// X2, P3: what was seen at a version that then can't be read doesn't count twice.
TEST_F(FindUsersTest, AnotherVersionBeginsAnew) {
  const kube::Object crd = Crd("x", "A", R"([{"name":"v1","served":true},{"name":"v2","served":true,"storage":true}])");
  {
    MutexLock lock(mu_);
    page_ = 1;
    fails_["/apis/x/v2/A"] = 2;
  }
  Has("/apis/x/v1/A", {Labelled("1"), Labelled("2"), Thing("o", "2")});
  Has("/apis/x/v2/A", {Labelled("1"), Thing("o", "2"), Labelled("2")});
  Has("/apis/x/v1/B", {Labelled("b")});
  EXPECT_EQ(Find({Crd("x", "B"), crd}, 9), "B b, A 1, A 2, A o");
}

// X2: nor does what a kind had that went while it was read.
TEST_F(FindUsersTest, WhatAKindHadThatIsGoneDoesntCount) {
  {
    MutexLock lock(mu_);
    page_ = 1;
    fails_["/apis/x/v1/A"] = 1;
    fails_with_ = 404;
  }
  Has("/apis/x/v1/A", {Labelled("1"), Labelled("2")});
  Has("/apis/x/v1/B", {Labelled("b")});
  EXPECT_EQ(Find({Crd("x", "A"), Crd("x", "B")}), "B b");
}

// X1, X2: what stands before the API server answered all requests for a moment. Its 404s were "the CRD is gone", so
// that nobody used its provider, which was removed.
TEST_F(FindUsersTest, A404OfAProxySaysNothingOfACrd) {
  const kube::Object crd = Crd("x", "A");
  for (bool by_proxy : {false, true}) {
    {
      MutexLock lock(mu_);
      by_proxy_ = by_proxy;
    }
    const Context ctx = Context{}.WithTimeout(Seconds(30));
    auto users = FindUsers(client(), ctx, {&crd}, 3);
    EXPECT_EQ(users.ok(), !by_proxy);
    EXPECT_EQ(ListReadable(client(), ctx, crd).ok(), !by_proxy);
    EXPECT_EQ(ReadCrd(client(), ctx, "A.x").ok(), !by_proxy);
    if (users.ok()) continue;
    EXPECT_EQ(users.code(), Code::kUnavailable) << "it passes";
    EXPECT_TRUE(users.error().message.starts_with("A.x: HTTP 404")) << users.error().message;
  }
}

// F8: the token of a page has expired, and the server has no other one: what was seen before doesn't count twice.
TEST_F(FindUsersTest, AnExpiredTokenBeginsAnew) {
  {
    MutexLock lock(mu_);
    page_ = 1;
    fails_["/apis/x/v1/A"] = 3;
    fails_with_ = 410;
  }
  Has("/apis/x/v1/A", {Labelled("1"), Thing("o", "2"), Labelled("2"), Labelled("3")});
  EXPECT_EQ(Find({Crd("x", "A")}, 9), "A 1, A 2, A 3, A o");
}

// X2: who owns what has a label may be anybody, and isn't why it was found.
TEST_F(FindUsersTest, OwnersOfWhatIsLabelledDontCount) {
  Json labelled = Thing("l", "class", "cluster.x-k8s.io/v1beta2 ClusterClass");
  labelled["metadata"]["labels"] = Labelled("l")["metadata"]["labels"];
  Has("/apis/x/v1/A", {labelled});
  const kube::Object crd = Crd("x", "A");
  auto users = FindUsers(client(), Context{}.WithTimeout(Seconds(30)), {&crd}, 3);
  ASSERT_TRUE(users.ok()) << users.error().message;
  ASSERT_EQ(users->size(), 1u);
  EXPECT_TRUE(StillBelongs(kube::Object(labelled), users->front()));
  labelled["metadata"].erase("labels");
  EXPECT_FALSE(StillBelongs(kube::Object(labelled), users->front())) << "the label was taken off";
}

// F8: what is held has a bound.
TEST_F(FindUsersTest, AListThatIsHeldHasABound) {
  {
    MutexLock lock(mu_);
    page_ = 1;
  }
  Has("/apis/x/v1/A", {Thing("1"), Thing("2"), Thing("3")});
  auto read = ListReadable(client(), Context{}.WithTimeout(Seconds(30)), Crd("x", "A"), {.max_bytes = 100});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.code(), Code::kInternal);
  read = ListReadable(client(), Context{}.WithTimeout(Seconds(30)), Crd("x", "A"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->items.size(), 3u);
}

// X2: of 20,000 objects the first page tells enough.
TEST_F(FindUsersTest, ReadsNoMoreThanItTells) {
  std::vector<Json> many;
  for (int i = 0; i < 20'000; ++i) many.push_back(Labelled(std::to_string(i)));
  Has("/apis/x/v1/A", many);
  EXPECT_EQ(Find({Crd("x", "A"), Crd("x", "B")}), "A 0, A 1, A 2");
  MutexLock lock(mu_);
  EXPECT_EQ(asked_, 1) << "not even the other kind";
}

// X2: one that was found by itself, or by its owners, is one as long as that holds.
TEST(InUse, WhatWasFoundStillBelongs) {
  auto resource = std::make_shared<const kube::Resource>();
  const auto sum = std::hash<std::string>();
  const ClusterUser user{resource, "", "a", sum("a"), {sum("set")}};
  struct Case {
    std::string name;
    Json now;
    bool still;
  };
  const Case cases[] = {
      {"as it was", Thing("a", "set"), true},
      {"another owner", Thing("a", "other"), false},
      {"no owner", Thing("a"), false},
      {"labelled instead", Labelled("a"), true},
      {"another one of its name", Thing("b"), false},
      {"that has a label", Labelled("b"), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    kube::Object now(c.now);
    EXPECT_EQ(StillBelongs(now, user), c.still);
    SlimToOwners(now);
    EXPECT_EQ(StillBelongs(now, user), c.still) << "as a watch keeps it";
  }
  const ClusterUser labelled{resource, "", "a", sum("a"), {}};
  EXPECT_FALSE(StillBelongs(kube::Object(Thing("a")), labelled)) << "the label was taken off";
}

// X2: the message names it.
TEST(InUse, WhatAWatchKeepsHasAName) {
  kube::Object object = Of(R"({"apiVersion":"x/v1","kind":"A","metadata":{"name":"a","namespace":"n"},"spec":{}})");
  SlimToOwners(object);
  EXPECT_EQ(NameOf(object), "A n/a");
  EXPECT_EQ(Find(object.json(), {"spec"}), nullptr);
}

TEST(InUse, ACrdThatSaysNothingCantBeRead) {
  for (const char* crd : {R"({"metadata":{"name":"as.x"},"spec":{}})", R"({"spec":{"versions":{}}})",
                          R"({"spec":{"versions":[{"name":"v1","served":true}]}})",
                          R"({"spec":{"versions":[{"name":"v1","served":true}]},"status":{"storedVersions":{}}})"}) {
    EXPECT_FALSE(ReadableResources(Of(crd)).ok()) << crd;
  }
}

// P3: a list at a version that isn't stored needs a conversion, which nobody may serve.
TEST(InUse, ReadsAtAStoredVersion) {
  struct Case {
    std::string versions, stored, want;
  };
  const Case cases[] = {
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":true,"storage":true}])", R"(["v1","v2"])",
       "v2 v1"},
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":true,"storage":true}])", R"(["v2"])",
       "v2"},
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":false,"storage":true}])", R"(["v1","v2"])",
       "v1"},
      {R"([{"name":"v1","served":true,"storage":false},{"name":"v2","served":false,"storage":true}])", R"(["v2"])", ""},
  };
  for (const auto& c : cases) {
    kube::Object crd = Of(R"({"metadata":{"name":"as.x"},"spec":{"group":"x","scope":"Cluster",
      "names":{"kind":"A","plural":"as"},"versions":)" +
                          c.versions + R"(},"status":{"storedVersions":)" + c.stored + "}}");
    auto resources = ReadableResources(crd);
    ASSERT_EQ(resources.ok(), !c.want.empty());
    if (!resources.ok()) {
      EXPECT_EQ(resources.code(), Code::kUnavailable);
      continue;
    }
    std::vector<std::string> versions;
    for (const auto& resource : *resources) {
      versions.push_back(resource.version);
      EXPECT_EQ(resource.plural, "as");
      EXPECT_FALSE(resource.namespaced);
    }
    EXPECT_EQ(Join(versions, " "), c.want);
  }
}

}  // namespace
}  // namespace capi::lifecycle
