#include "kube/client/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/testing.h"
#include "kube/client/client.h"

namespace capi::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Warnings, AreReadFromTheirHeaders) {
  struct Case {
    std::string header;
    std::vector<std::string> warnings;
  };
  const std::string long_text(1024, 'x');
  const Case cases[] = {
      {R"(299 - "unknown field \"spec.a\"")", {R"(unknown field "spec.a")"}},
      {R"(299 agent "a", 299 - "b" "Sat, 25 Aug 2012 23:34:45 GMT",299 - "c, d")", {"a", "b", "c, d"}},
      {R"(299 - "a\\b")", {R"(a\b)"}},
      {R"(299 - "twice", 299 - "twice")", {"twice"}},
      {R"(299 - "")", {}},
      {R"(199 - "another code")", {}},
      {R"(299 - no quotes)", {}},
      {R"(299 - "no end)", {}},
      {R"(299 - "no end\)", {}},
      {R"(299 - "ok" nonsense, 299 - "unseen")", {"ok"}},
      {"299 - \"not \xff UTF-8\"", {}},
      {"299 - \"" + long_text + "\"", {long_text}},
      {"299 - \"" + long_text + "x\"", {"a warning of 1025 bytes"}},  // I7: never a part of it
      {R"(299  "no agent")", {}},
      {"", {}},
  };
  for (const Case& c : cases) {
    http::Headers headers;
    headers.Add("warning", c.header);
    EXPECT_EQ(WarningsOf(headers), c.warnings) << c.header;
  }
  http::Headers two;
  two.Add("Warning", R"(299 - "a")");
  two.Add("Other", R"(299 - "b")");
  two.Add("WARNING", R"(299 - "c")");
  EXPECT_THAT(WarningsOf(two), ElementsAre("a", "c"));
}

TEST(Warnings, OfFieldsAreTold) {
  EXPECT_TRUE(IsFieldWarning(R"(unknown field "status.a")"));
  EXPECT_TRUE(IsFieldWarning(R"(duplicate field "spec.a")"));
  for (const char* other : {"policy/v1beta1 PodDisruptionBudget is deprecated", R"(unknown field "a": hunter2)",
                            R"(unknown field "a", got "hunter2")", R"(unknown field "")", R"(unknown field ")"}) {
    EXPECT_FALSE(IsFieldWarning(other)) << other;
  }
}

// F9: every write asks for them and hands them up.
TEST(Warnings, ComeWithEveryWrite) {
  constexpr std::string_view kBody = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";
  std::vector<std::string> requests;
  Mutex mu;
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    for (std::string request = peer.ReadRequest(); !request.empty(); request = peer.ReadRequest()) {
      {
        MutexLock lock(mu);
        requests.push_back(request.substr(0, request.find("\r\n")));
      }
      peer.Write("HTTP/1.1 200 OK\r\nWarning: 299 - \"unknown field \\\"a\\\"\"\r\nContent-Length: " +
                 std::to_string(kBody.size()) + "\r\n\r\n" + std::string(kBody));
    }
  });
  auto client = *Client::Connect({.server = server.url()}, {});
  Context ctx = Context{}.WithTimeout(Seconds(30));
  const Resource& maps = Builtin("ConfigMap");
  Object object(Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"}})"));
  std::vector<std::string> warnings;
  WriteOptions options{.field_manager = "me"};
  options.warnings = &warnings;
  EXPECT_TRUE(client->Apply(ctx, maps, object, options).ok());
  EXPECT_TRUE(client->Create(ctx, maps, object, options).ok());
  EXPECT_TRUE(client->Update(ctx, maps, object, options).ok());
  EXPECT_TRUE(client->Patch(ctx, maps, "n", "a", PatchType::kMerge, Json::object(), options).ok());
  EXPECT_TRUE(client->Apply(ctx, maps, object, {.field_manager = "me"}).ok()) << "nobody has to listen";
  EXPECT_EQ(warnings, std::vector<std::string>(4, R"(unknown field "a")"));
  MutexLock lock(mu);
  ASSERT_EQ(requests.size(), 5u);
  for (const std::string& request : requests) EXPECT_THAT(request, HasSubstr("fieldValidation=Warn"));
}

}  // namespace
}  // namespace capi::kube
