// What an apply sends and reports, on a server that answers as a test says. The rest: apply_cluster_test.cc.
#include "kube/apply/apply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/http/server/server.h"
#include "kube/apply/served.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMap = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}})";

// F9: a Secret's values are in no warning.
TEST(ReportableWarnings, OfASecretAreNamesOfFieldsAlone) {
  const std::vector<std::string> all = {R"(unknown field "dataa")", R"(unknown field "dataa")",
                                        R"(unknown field "data": hunter2)", R"(duplicate field "data.key")",
                                        "metadata.finalizers: prefer a domain-qualified name to hunter2"};
  EXPECT_THAT(ReportableWarnings({"", "Secret", "n", "s"}, all),
              ElementsAre(R"(duplicate field "data.key")", R"(unknown field "dataa")"));
  EXPECT_EQ(ReportableWarnings({"", "ConfigMap", "n", "s"}, all).size(), 4u) << "each once";
  EXPECT_EQ(ReportableWarnings({"x.example", "Secret", "n", "s"}, all).size(), 4u) << "another kind of that name";
}

class ApplyTest : public testing::Test {
 protected:
  ApplyTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      asked_.push_back(request.method + " " + request.query);
      return answer_(request);
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *Client::Connect({.server = "http://" + server_->address()}, {});
  }

  void Answers(std::function<http::Response(const http::ServerRequest&)> answer) {
    MutexLock lock(mu_);
    answer_ = std::move(answer);
  }
  Status Apply(std::function<http::Response(const http::ServerRequest&)> answer) {
    Answers(std::move(answer));
    return Applier(*client_, {}).Apply(ctx_, {ToManifest(Object(*ParseJson(kMap)))}, {}, changes_);
  }
  // Of a Fox, a kind of a CRD, as `answer` has it.
  Status Delete(std::function<http::Response(const http::ServerRequest&)> answer,
                const std::string& propagation = "Background") {
    Answers(std::move(answer));
    return Applier(*client_, {}).Delete(ctx_, {{"x.io", "Fox", "", "a"}}, nullptr, changes_, propagation);
  }
  Client& client() { return *client_; }
  std::vector<std::string> asked() {
    MutexLock lock(mu_);
    return asked_;
  }

  const Context ctx_ = Context{}.WithTimeout(Seconds(60));
  std::vector<Change> changes_;

 private:
  Mutex mu_;
  std::vector<std::string> asked_;
  std::function<http::Response(const http::ServerRequest&)> answer_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<http::Server> server_;
};

// F5: no other request would help, so there is none.
TEST_F(ApplyTest, AFieldThatTheSchemaDoesNotHaveIsRefusedAtOnce) {
  Status done = Apply([](const http::ServerRequest&) {
    return http::Response{.status = 500, .headers = {}, .body = R"({"kind":"Status","status":"Failure","code":500,
      "message":"failed to create typed patch object (n/a; /v1, Kind=ConfigMap): .dataa: field not declared in schema"})"};
  });
  ASSERT_FALSE(done.ok());
  EXPECT_FALSE(done.error().Transient());
  EXPECT_EQ(asked().size(), 1u);
}

// F1: of hundreds that are refused, each by its name, nothing was left of the message behind them.
TEST_F(ApplyTest, AFailureOfManyNamesSomeOfThem) {
  Answers([](const http::ServerRequest&) { return http::Response{.status = 403, .headers = {}, .body = "no"}; });
  std::vector<Manifest> manifests;
  for (int i = 100; i < 140; ++i) {
    Json map = *ParseJson(kMap);
    map["metadata"]["name"] = "m" + std::to_string(i);
    manifests.push_back(ToManifest(Object(map)));
  }
  Status done = Applier(client(), {}).Apply(ctx_, manifests, {}, changes_);
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, testing::StartsWith("40 of 40 objects failed: ConfigMap/n/m100: HTTP 403"));
  EXPECT_THAT(done.error().message, HasSubstr("; and so did ConfigMap/n/m105, ConfigMap/n/m106"));
  EXPECT_THAT(done.error().message, testing::EndsWith("ConfigMap/n/m114 and 25 more"));
  EXPECT_EQ(changes_.size(), 40u) << "of each the change is known";
}

// U9, F9: the requests that only try, or only prepare, aren't the object's.
TEST_F(ApplyTest, WarningsAreThoseOfTheApplyItself) {
  bool replaced = false;
  Status done = Apply([&](const http::ServerRequest& request) {
    http::Response response{.status = 200, .headers = {}, .body = kMap};
    if (request.method == "PATCH" && !replaced) {
      return http::Response{.status = 422, .headers = {}, .body = R"({"kind":"Status","reason":"Invalid","code":422})"};
    }
    bool trial = request.query.find("dryRun=All") != std::string::npos;
    replaced = replaced || (request.method == "PUT" && !trial);
    response.headers.Set("Warning", request.method == "PATCH" ? R"(299 - "of the apply")" : R"(299 - "of another")");
    return response;
  });
  ASSERT_TRUE(done.ok()) << done.error().message;
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_THAT(changes_[0].warnings, ElementsAre("of the apply"));
  ASSERT_EQ(asked().size(), 5u);
  EXPECT_THAT(asked()[2], testing::AllOf(HasSubstr("PUT "), HasSubstr("dryRun=All"), HasSubstr("Strict")))
      << "what an apply wouldn't take, a trial doesn't either";
  EXPECT_THAT(asked()[3], testing::AllOf(HasSubstr("PUT "), HasSubstr("fieldValidation=Warn")));
}

http::Response Answer(int status, std::string body = "") {
  return {.status = status, .headers = {}, .body = std::move(body)};
}

// U9, F3: a replacement and what it cleans up after are sent again where their answers were lost, though they were
// done.
TEST_F(ApplyTest, AReplacementWhoseAnswersAreLostIsDoneAllTheSame) {
  int puts = 0, cleanups = 0;
  Status done = Apply([&](const http::ServerRequest& request) {
    const bool trial = request.query.find("dryRun=All") != std::string::npos;
    if (request.method == "PUT" && !trial) {
      if (++puts == 1) return Answer(503);
      return puts == 2 ? Answer(409, R"({"kind":"Status","reason":"Conflict","code":409})") : Answer(200, kMap);
    }
    if (request.method != "PATCH") return Answer(200, kMap);
    if (puts == 0) return Answer(422, R"({"kind":"Status","reason":"Invalid","code":422})");
    if (request.headers.Get("Content-Type") == "application/json-patch+json") {
      return ++cleanups == 1 ? Answer(500) : Answer(422, R"({"kind":"Status","reason":"Invalid","code":422})");
    }
    Json applied = *ParseJson(kMap);
    if (cleanups == 0) {
      applied["metadata"]["managedFields"] = {{{"manager", "capi-operator"}, {"operation", "Update"}}};
    }
    return Answer(200, ToJsonText(applied));
  });
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(cleanups, 2);
}

// X1: an object whose version is served no more was taken for one that had gone, and left behind.
TEST_F(ApplyTest, AnObjectIsLookedForAtAVersionThatIsServed) {
  std::string version = "v1", served = "v1", deleted;
  auto server = [&](const http::ServerRequest& request) {
    const std::string kinds = R"({"kind":"APIGroupDiscoveryList","items":[)";
    if (request.path == "/api") return Answer(200, kinds + "]}");
    if (request.path == "/apis") {
      return Answer(200,
                    kinds + R"({"metadata":{"name":"x.io"},"versions":[{"version":")" + version +
                        R"(","resources":[{"resource":"foxes","responseKind":{"kind":"Fox"},"scope":"Cluster"}]}]}]})");
    }
    if (request.path != "/apis/x.io/" + served + "/foxes/a") return Answer(404, "404 page not found\n");
    if (request.method == "DELETE") deleted = request.path;
    return Answer(200, R"({"metadata":{"name":"a","uid":"u"}})");
  };
  ASSERT_TRUE(Delete(server).ok());
  EXPECT_EQ(deleted, "/apis/x.io/v1/foxes/a");
  version = served = "v2";
  ASSERT_TRUE(Delete(server).ok());
  EXPECT_EQ(deleted, "/apis/x.io/v2/foxes/a");
  ASSERT_EQ(changes_.size(), 2u);
  EXPECT_TRUE(changes_[1].asked);
  // Of several API servers one may not have heard of the version yet: nobody knows then whether it is there.
  served = "v3";
  Status unknown = Delete(server);
  ASSERT_EQ(unknown.code(), Code::kUnavailable);
  EXPECT_THAT(unknown.error().message, HasSubstr("names kind Fox at x.io/v2, but doesn't serve it there"));
  EXPECT_EQ(deleted, "/apis/x.io/v2/foxes/a");
}

// An object at a version that its kind doesn't have made the client forget what an apply of the kind's CRD had taught
// it, and discovery, which may lag behind, was asked for the versions that are there.
TEST_F(ApplyTest, AVersionThatIsNotThereSaysNothingOfTheOthers) {
  const GroupKind fox{"x.io", "Fox"};
  client().mapper().Learn(fox, {{.group = "x.io", .version = "v1", .plural = "foxes", .kind = "Fox"}});
  Answers([](const http::ServerRequest&) { return Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[]})"); });
  const Object object(*ParseJson(R"({"apiVersion":"x.io/v2","kind":"Fox","metadata":{"name":"a"}})"));
  EXPECT_EQ(Applier(client(), {}).Apply(ctx_, {ToManifest(object)}, {}, changes_).code(), Code::kNotFound);
  EXPECT_TRUE(client().mapper().Known(fox, "v1"));
  // The server itself says that the path isn't there: then nothing counts that was learned.
  Answers([](const http::ServerRequest& request) {
    if (request.path.starts_with("/apis/x.io/")) return Answer(404, "404 page not found\n");
    return Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
  });
  const Object known(*ParseJson(R"({"apiVersion":"x.io/v1","kind":"Fox","metadata":{"name":"a"}})"));
  EXPECT_EQ(Applier(client(), {}).Apply(ctx_, {ToManifest(known)}, {}, changes_).code(), Code::kNotFound);
  EXPECT_FALSE(client().mapper().Known(fox, "v1"));
}

// What others have removed in the meantime isn't told as our work.
TEST_F(ApplyTest, ADeletionThatCameTooLateIsNotOurs) {
  std::string body;
  ASSERT_TRUE(Delete(
                  [&](const http::ServerRequest& request) {
                    if (request.path == "/api") return Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[]})");
                    if (request.path == "/apis") {
                      return Answer(200, R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.io"},
                    "versions":[{"version":"v1","resources":[{"resource":"foxes","responseKind":{"kind":"Fox"}}]}]}]})");
                    }
                    if (request.method == "GET") return Answer(200, R"({"metadata":{"name":"a","uid":"u"}})");
                    body = request.body;
                    return Answer(404, R"({"kind":"Status","reason":"NotFound","code":404})");
                  },
                  "Orphan")
                  .ok());
  ASSERT_EQ(changes_.size(), 1u);
  EXPECT_EQ(changes_[0].action, Change::Action::kDeleted);
  EXPECT_FALSE(changes_[0].asked);
  EXPECT_EQ(GetString(*ParseJson(body), {"propagationPolicy"}), "Orphan");
}

// U2: a manager that came up before its kinds were served ended, and cost a back-off.
TEST_F(ApplyTest, WorkloadsWaitUntilTheKindsOfTheirReleaseAreServed) {
  const std::string crd = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":
      {"name":"foxes.x.io"},"spec":{"group":"x.io","scope":"Cluster","names":{"plural":"foxes","kind":"Fox"},"versions":
      [{"name":"v1","served":true,"storage":true}]}})";
  const std::string workload =
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n"}})";
  std::vector<Manifest> manifests;
  for (const std::string& text : {workload, crd}) manifests.push_back(ToManifest(Object(*ParseJson(text))));
  struct Case {
    const char* what;
    std::vector<http::Response> looks;  // and served from then on
    size_t asked;
  };
  const Case cases[] = {
      {"served at once", {}, 1},
      {"without the kind, and not at all", {Answer(404), Answer(200, R"({"resources":[{"name":"foxes/status"}]})")}, 3},
      {"nobody may look", {Answer(403, "{}")}, 1},
      {"what isn't JSON", {Answer(200, "<html>")}, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    std::vector<std::string> order;
    size_t looks = 0;
    Answers([&](const http::ServerRequest& request) {
      if (request.path == "/apis/x.io/v1") {
        order.push_back("look");
        return looks < c.looks.size() ? c.looks[looks++] : Answer(200, R"({"resources":[{"name":"foxes"}]})");
      }
      order.push_back(request.path.substr(request.path.rfind('/') + 1));
      return Answer(200, request.body);
    });
    ASSERT_TRUE(Applier(client(), {}).Apply(ctx_, manifests, {}, changes_).ok());
    std::vector<std::string> expected(c.asked, "look");
    expected.insert(expected.begin(), "foxes.x.io");
    expected.push_back("d");
    EXPECT_EQ(order, expected);
  }
}

// A CRD with these versions, all of which are served but those that begin with a "-".
Manifest CrdOf(const std::string& group, const std::vector<std::string>& versions) {
  Json crd = *ParseJson(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":
      {"scope":"Cluster","names":{"plural":"foxes","kind":"Fox"}}})");
  crd["metadata"]["name"] = "foxes." + group;
  crd["spec"]["group"] = group;
  for (const std::string& version : versions) {
    const bool served = !version.starts_with('-');
    crd["spec"]["versions"].push_back(
        {{"name", served ? version : version.substr(1)}, {"served", served}, {"storage", version == versions.front()}});
  }
  return ToManifest(Object(crd));
}

class AwaitServedTest : public ApplyTest {
 protected:
  // Whether it looks at discovery, and at what, while a group is served from its look number `served` on.
  std::vector<std::string> Looks(const std::vector<Manifest>& crds, const std::map<std::string, int>& served) {
    std::vector<std::string> looks;
    std::map<std::string, int> asked;
    Answers([&](const http::ServerRequest& request) {
      looks.push_back(request.path);
      const bool there = ++asked[request.path] >= served.at(request.path);
      return there ? Answer(200, R"({"resources":[{"name":"foxes"}]})") : Answer(404);
    });
    std::vector<const Manifest*> all;
    for (const Manifest& crd : crds) all.push_back(&crd);
    AwaitServed(ctx_, client(), all);
    return looks;
  }
};

// U2: what isn't served is never there, and of two groups the one that is there isn't asked again.
TEST_F(AwaitServedTest, LooksAtServedVersionsUntilEachIsThere_U2) {
  EXPECT_THAT(Looks({CrdOf("a.io", {"v1", "-v0"})}, {{"/apis/a.io/v1", 1}}), ElementsAre("/apis/a.io/v1"));
  EXPECT_THAT(Looks({CrdOf("a.io", {"v1"}), CrdOf("b.io", {"v1"})}, {{"/apis/a.io/v1", 1}, {"/apis/b.io/v1", 2}}),
              ElementsAre("/apis/a.io/v1", "/apis/b.io/v1", "/apis/b.io/v1"));
  // One request each time while the first of them isn't there.
  EXPECT_THAT(Looks({CrdOf("a.io", {"v1"}), CrdOf("b.io", {"v1"})}, {{"/apis/a.io/v1", 2}, {"/apis/b.io/v1", 1}}),
              ElementsAre("/apis/a.io/v1", "/apis/a.io/v1", "/apis/b.io/v1"));
}

// Time goes on where somebody waits. Thread-safe.
class HurryingClock : public FakeClock {
 public:
  bool WaitUntil(std::condition_variable_any&, Mutex&, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    const MonoTime now = Monotonic();
    if (!ready() && !stop.stop_requested() && deadline > now) Advance(std::chrono::ceil<Millis>(deadline - now));
    return ready();
  }
};

// U2: a discovery that never names the kind holds an apply for 10 s, and none at a stop.
TEST_F(AwaitServedTest, GivesUpInTimeAndAtAStop_U2) {
  const Manifest crd = CrdOf("a.io", {"v1"});
  for (const bool stops : {false, true}) {
    HurryingClock clock;
    std::stop_source stop;
    Context ctx;
    ctx.clock = &clock;
    ctx.stop = stop.get_token();
    int looks = 0;
    Answers([&](const http::ServerRequest&) {
      if (stops) stop.request_stop();
      return ++looks < 500 ? Answer(404) : Answer(200, R"({"resources":[{"name":"foxes"}]})");
    });
    const MonoTime start = clock.Monotonic();
    AwaitServed(ctx, client(), {&crd});
    const MonoTime end = clock.Monotonic();
    EXPECT_GE(end - start, stops ? Seconds(0) : Seconds(10));
    EXPECT_LT(end - start, stops ? Seconds(1) : Seconds(11));
    if (stops) EXPECT_EQ(looks, 1);
  }
}

}  // namespace
}  // namespace capi::kube
