// B1, B4, B5: what the page's server answers, to whom, and with which headers.
#include "operator/ui/page_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/http/server/hostile_testing.h"
#include "base/http/testing.h"
#include "base/testing/await.h"
#include "operator/ui/page_files.h"
#include "operator/ui/ui_testing.h"
#include "operator/webhooks/access_server_testing.h"

namespace capi::ops::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool May(const Json& spec) {
  return spec.value("user", "") == "admin" ||
         (spec.value("user", "") == "tenant" && spec["resourceAttributes"].value("namespace", "") == "n");
}

class Page : public ::testing::Test {
 protected:
  void Serve(const std::string& listen) {
    auto server = ServePage(listen, watched_.feed, *api_.client, {}, [this] { return ready_.load(); });
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    const std::string address = server_->address(), port = address.substr(address.rfind(':'));
    url_ = (listen.starts_with(':') ? "https://127.0.0.1" : "http://127.0.0.1") + port;
  }
  http::Response Get(const std::string& path, const std::string& token = "", http::Headers headers = {},
                     const std::string& method = "GET") {
    http::Options options;
    options.tls.insecure_skip_verify = true;
    http::Request request{.method = method, .target = path};
    request.headers = std::move(headers);
    if (!token.empty()) request.headers.Set("Authorization", "Bearer " + token);
    auto response = (*http::Client::Create(url_, options))->Do(Context{}.WithTimeout(Seconds(30)), std::move(request));
    EXPECT_TRUE(response.ok()) << response.error().message;
    return response.ok() ? *response : http::Response{};
  }

  Watched watched_;
  testing::AccessServer api_{May, [](const std::string& token) { return token != "nobody"; }};
  std::atomic<bool> ready_ = true;
  std::unique_ptr<http::Server> server_;
  std::string url_;
};

// B1: the files are there, and the browser is told to take nothing else.
TEST_F(Page, HasItsFilesAndAStrictPolicy) {
  Serve("127.0.0.1:0");
  ASSERT_EQ(PageFiles().size(), 3U);
  for (const char* path : {"/", "/page.js", "/page.css", "/data.json", "/nowhere"}) {
    SCOPED_TRACE(path);
    const http::Response response = Get(path);
    EXPECT_EQ(response.status, std::string_view(path) == "/nowhere" ? 404 : 200);
    const std::string policy = response.headers.Get("Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_THAT(policy, Not(HasSubstr("http")));
    EXPECT_EQ(response.headers.Get("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(response.headers.Get("Access-Control-Allow-Origin"), "");
    EXPECT_EQ(response.headers.Get("Set-Cookie"), "");
  }
  EXPECT_EQ(Get("/").headers.Get("Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(Get("/data.json").headers.Get("Cache-Control"), "no-store");
  http::Headers known;
  known.Set("If-None-Match", Get("/page.js").headers.Get("ETag"));
  EXPECT_EQ(Get("/page.js", "", known).status, 304);
}

TEST_F(Page, IsReadOnly) {
  Serve("127.0.0.1:0");
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_EQ(Get("/data.json", "", {}, method).status, 405) << method;
  }
}

// B5: a page of somebody else can't read it by a name that leads to this machine.
TEST_F(Page, OnLoopbackTheNameHasToBeALoopbackOne) {
  Serve("127.0.0.1:0");
  for (const auto& [host, status] : {std::pair("localhost", 200),
                                     {"localhost:8080", 200},
                                     {"127.0.0.1:1", 200},
                                     {"[::1]:8080", 200},
                                     {"[::1]", 200},
                                     {"evil.example", 421},
                                     {"127.0.0.1.evil.example:80", 421},
                                     {"localhost.evil.example", 421},
                                     {"", 421}}) {
    http_testing::RawClient client(server_->address());
    client.Write(std::string("GET /data.json HTTP/1.1\r\nHost: ") + host + "\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(client.ReadToEnd(), HasSubstr("HTTP/1.1 " + std::to_string(status))) << host;
  }
}

// B4: a HEAD has nothing to look at, and takes nobody's place.
TEST_F(Page, AHeadIsNoViewer) {
  Serve("127.0.0.1:0");
  std::vector<std::shared_ptr<http::ServerStream>> others;
  while (others.size() + 1 < FeedOptions().viewers) others.push_back(watched_.feed.Join(SeesAll));
  EXPECT_EQ(Get("/events", "", {}, "HEAD").status, 200);
  EXPECT_NE(watched_.feed.Join(SeesAll), nullptr);
  EXPECT_EQ(Get("/events").status, 503);
}

// B4: each of those who look on fetches data, too, on a connection of its own that stays: nobody's stream gives way.
TEST_F(Page, ThereIsRoomForWhatEveryViewerFetches) {
  http_testing::AllowDescriptors(4096);
  Serve("127.0.0.1:0");
  std::vector<std::unique_ptr<http_testing::RawClient>> clients;
  for (const char* path : {"/events", "/data.json"}) {
    for (size_t i = 0; i < FeedOptions().viewers; ++i) {
      clients.push_back(std::make_unique<http_testing::RawClient>(server_->address()));
      clients.back()->Write(std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      ASSERT_THAT(clients.back()->ReadAnswer(), HasSubstr("HTTP/1.1 200")) << path << " " << i;
    }
  }
  EXPECT_EQ(watched_.feed.Join(SeesAll), nullptr) << "a stream has ended";
}

// B5: nor does another site take a place, which could read nothing anyway.
TEST_F(Page, OnLoopbackAnotherSiteGetsNothing) {
  Serve("127.0.0.1:0");
  for (const auto& [site, status] :
       {std::pair("cross-site", 403), {"same-site", 403}, {"same-origin", 200}, {"none", 200}}) {
    http::Headers headers;
    headers.Set("Sec-Fetch-Site", site);
    EXPECT_EQ(Get("/data.json", "", headers).status, status) << site;
    EXPECT_EQ(Get("/", "", headers).status, 200) << "a link may lead here";
  }
}

// B4: a part of the providers, or none, is no news; nor is it a reason to refuse a token.
TEST_F(Page, HasNoDataBeforeTheOperatorKnowsAll) {
  Serve(":0");
  ready_ = false;
  EXPECT_EQ(Get("/").status, 200);
  for (const char* token : {"admin", "tenant"}) EXPECT_EQ(Get("/data.json", token).status, 503) << token;
  EXPECT_EQ(Get("/events", "tenant").status, 503);
  watched_.Put({});
  ready_ = true;
  for (const char* token : {"admin", "tenant"}) EXPECT_EQ(Get("/data.json", token).status, 200) << token;
}

// B5: elsewhere a token decides, and what it may get.
TEST_F(Page, ElsewhereATokenDecides) {
  watched_.Put(Core());
  watched_.Put({});
  Serve(":0");
  EXPECT_EQ(Get("/").status, 200) << "the files have nothing of the cluster";
  for (const char* path : {"/data.json", "/events", "/provider.json?id=CoreProvider/capi-system/cluster-api",
                           "/provider.yaml?id=CoreProvider/capi-system/cluster-api"}) {
    SCOPED_TRACE(path);
    EXPECT_EQ(Get(path).status, 401);
    EXPECT_EQ(Get(path, "nobody").status, 401);
    EXPECT_EQ(Get(path, "stranger").status, 403);
    if (path != std::string_view("/events")) EXPECT_EQ(Get(path, "admin").status, 200);
  }
  EXPECT_THAT(Get("/data.json", "admin").body, HasSubstr("cluster-api"));
  EXPECT_THAT(Get("/data.json", "tenant").body, Not(HasSubstr("cluster-api")));
  EXPECT_THAT(Get("/data.json", "tenant").body, HasSubstr("aws"));
  EXPECT_EQ(Get("/provider.json?id=CoreProvider/capi-system/cluster-api", "tenant").status, 404);
  EXPECT_EQ(Get("/provider.yaml?id=CoreProvider/capi-system/cluster-api", "tenant").status, 404);
  EXPECT_EQ(Get("/provider.json?id=InfrastructureProvider/n/aws", "tenant").status, 200);
}

// B4: a change is told while it is looked at, and the API server isn't asked for it.
TEST_F(Page, TellsWhatChanges) {
  Serve("127.0.0.1:0");
  std::jthread running([this](std::stop_token stop) { (void)watched_.feed.Run(Context{}.WithStop(stop)); });
  std::string seen;
  http::Request request{.target = "/events"};
  request.on_data = [&](std::string_view piece) -> Status {
    seen += piece;
    if (seen.find("event: hello") != std::string::npos && !watched_.cache.Get(Sample().Key())) watched_.Put({});
    if (seen.find("\"name\":\"aws\"") == std::string::npos) return Ok();
    return Error{Code::kCancelled, "seen", {}};
  };
  auto ended = (*http::Client::Create(url_, {}))->Do(Context{}.WithTimeout(Seconds(30)), request);
  EXPECT_THAT(seen, HasSubstr("event: provider\ndata: {"));
  EXPECT_EQ(api_.asked().size(), 0U);
}

// B1: nothing that an object says becomes another line, another event or markup.
TEST_F(Page, HostileWordsStayWords) {
  const std::string hostile =
      "</script><img src=x onerror=alert(1)>\n\nevent: gone\ndata: 1\n\n\"'`${x}\xe2\x80\xa8\x01\xff";
  Sample sample = Held("aws", "Bad<b>Reason", hostile);
  sample.spec["fetchConfig"] = {{"url", hostile}};
  watched_.Put(sample);
  Serve("127.0.0.1:0");
  auto stream = watched_.feed.Join(SeesAll);
  watched_.Put(Held("aws", "Other", hostile));
  const http::Response data = Get("/data.json");
  EXPECT_EQ(data.headers.Get("Content-Type"), "application/json");
  auto json = ParseJson(data.body);
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_THAT((*json)["providers"][0]["why"]["message"].get<std::string>(), HasSubstr("</script><img src=x"));
  const std::string sent = stream->Take().bytes;
  EXPECT_THAT(sent, Not(HasSubstr("\nevent: gone")));
  EXPECT_THAT(Get("/provider.yaml?id=" + sample.Key()).headers.Get("Content-Type"), HasSubstr("text/plain"));
}

}  // namespace
}  // namespace capi::ops::ui
