// F9: a cluster whose CustomResourceDefinition lacks a field drops it from what is written, and says so.
#include "operator/report/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "base/http/testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kObject = R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2",
  "kind":"InfrastructureProvider","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"2"},
  "spec":{"version":"v1.0.0"}})";

// Writes a status to a server that answers with this warning, while the cache has what was shown. Gets what was sent.
Status Write(api::Provider& provider, const api::ProviderStatus& status, const SecretMasks& masks = {},
             std::string* sent = nullptr, std::string_view warning = "", const Json& shown = {}) {
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    std::string request = peer.ReadRequest();
    if (sent != nullptr) *sent = std::move(request);
    std::string header = warning.empty() ? "" : "Warning: 299 - \"" + std::string(warning) + "\"\r\n";
    peer.Write("HTTP/1.1 200 OK\r\nConnection: close\r\n" + header +
               "Content-Length: " + std::to_string(kObject.size()) + "\r\n\r\n" + std::string(kObject));
  });
  auto client = *kube::Client::Connect({.server = server.url()}, {});
  ProviderCache cache([](const ProviderCache::Change&) {});
  if (!shown.is_null()) cache.OnEvent(provider.id.type, nullptr, std::make_shared<const kube::Object>(shown));
  StatusWriter writer(*client, cache, masks);
  return writer.WriteStatus(Context{}.WithTimeout(Seconds(30)), provider, status);
}

api::Provider Parsed() { return *api::ParseProvider(kube::Object(Json::parse(kObject))); }

Status WriteWith(std::string_view warning) {
  api::Provider provider = Parsed();
  api::ProviderStatus status = provider.status;
  status.contract = "v1beta2";
  return Write(provider, status, {}, nullptr, warning);
}

TEST(StatusWriter, AFieldThatTheServerDropsIsAnError) {
  EXPECT_TRUE(WriteWith("").ok());
  EXPECT_TRUE(WriteWith("operator.cluster.x-k8s.io/v1alpha2 is deprecated").ok());
  Status dropped = WriteWith(R"(unknown field \"status.contract\")");
  ASSERT_FALSE(dropped.ok());
  EXPECT_EQ(dropped.code(), Code::kFailedPrecondition);
  EXPECT_THAT(dropped.error().message, HasSubstr(R"(InfrastructureProvider/a: )"));
  EXPECT_THAT(dropped.error().message, HasSubstr(R"(unknown field "status.contract"; apply the operator's own)"));
}

// I7: whoever put a status together, and forgot what it was made of.
TEST(StatusWriter, NoMessageHoldsASecretValue) {
  std::string sent;
  api::Provider provider = Parsed();
  SecretValues values;
  values.Add("s3cr3t-s3cr3t");
  SecretMasks masks;
  masks.Put(provider.id.Key(), values);
  api::ProviderStatus status = provider.status;
  status.conditions = {{"Ready", "False", "InstallFailed", "pod p: s3cr3t-s3cr3t", 1, "2026-01-01T00:00:00Z"}};
  status.history = {api::HistoryEntry{"v1.0.0", "v1beta1", ""}};
  status.history[0].message = "container m: s3cr3t-s3cr3t";
  ASSERT_TRUE(Write(provider, status, masks, &sent).ok());
  EXPECT_THAT(sent, HasSubstr("pod p: ***"));
  EXPECT_THAT(sent, HasSubstr("container m: ***"));
  EXPECT_THAT(sent, ::testing::Not(HasSubstr("s3cr3t")));
  EXPECT_EQ(provider.status.history[0].message, "container m: ***") << "as it was written";
}

// An inventory may be most of an object: it isn't sent again with each condition. But what a pass has put into the
// status that it goes by was never written (A1): nobody sent it, and an adopted core had no contract for good.
TEST(StatusWriter, LeavesOutWhatTheServerHas) {
  Json object = Json::parse(kObject);
  object["status"] = {{"inventory", Json::array({{{"kind", "Node"}, {"name", "n"}, {"version", "v1"}}})},
                      {"contract", "v1beta1"},
                      {"source", "folder"},
                      {"updateCheck", {{"source", "s"}, {"time", "2026-01-01T00:00:00Z"}, {"next", "later"}}}};
  const api::Provider read = *api::ParseProvider(kube::Object(object));
  const struct {
    const char *name, *shown;  // which version the cache has: "2" is the one that was read
    std::vector<std::string> sent;
  } cases[] = {
      {"as it was read", "2", {"contract", "installedVersion", "source", "updateCheck"}},
      {"the cache has another version", "3", {"contract", "installedVersion", "inventory", "source", "updateCheck"}},
      {"the cache has none", "", {"contract", "installedVersion", "inventory", "source", "updateCheck"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    api::Provider provider = read;
    provider.status.installed_version = "v1.0.0";  // by hand
    api::ProviderStatus status = provider.status;
    status.contract = "v1beta2";
    status.source = "";
    status.update_check->next = "";
    std::string sent;
    object["metadata"]["resourceVersion"] = c.shown;
    ASSERT_TRUE(Write(provider, status, {}, &sent, "", *c.shown == 0 ? Json() : object).ok());
    auto patch = ParseJson(sent.substr(sent.find("\r\n\r\n") + 4));
    ASSERT_TRUE(patch.ok());
    std::vector<std::string> members;
    for (const auto& [key, value] : patch->at("status").items()) members.push_back(key);
    EXPECT_EQ(members, c.sent);
    EXPECT_EQ(patch->at("status")["installedVersion"], "v1.0.0");
    EXPECT_TRUE(patch->at("status")["source"].is_null());
    EXPECT_TRUE(patch->at("status")["updateCheck"]["next"].is_null());
    EXPECT_EQ(provider.status, status);
  }
}

// F3: the watch has shown version 200, and a write of ours made it 201. etcd is restored to 200: the watch lists anew
// and tells of no change. Each further write was for 201, and refused, for good and without a word.
TEST(StatusWriter, ARestoreBehindTheLastWriteIsNoticed) {
  Mutex mu;
  int version = 204, reads = 0;  // of the cluster
  auto object = [&]() -> std::string {
    Json json = Json::parse(kObject);
    json["metadata"]["resourceVersion"] = std::to_string(version);
    return ToJsonText(json);
  };
  auto server = http::Server::Start({}, [&](const http::ServerRequest& request) {
    MutexLock lock(mu);
    if (request.method == "GET") ++reads;
    if (request.method == "GET") return http::Response{.status = 200, .headers = {}, .body = object()};
    const std::string sent_for = GetString(Json::parse(request.body), {"metadata", "resourceVersion"});
    if (sent_for != std::to_string(version)) {
      return http::Response{
          .status = 409, .headers = {}, .body = R"({"kind":"Status","reason":"Conflict","message":"modified"})"};
    }
    ++version;
    return http::Response{.status = 200, .headers = {}, .body = object()};
  });
  ASSERT_TRUE(server.ok());
  auto client = *kube::Client::Connect({.server = "http://" + (*server)->address()}, {.max_retries = 0});
  int told = 0;
  ProviderCache cache([&](const ProviderCache::Change& change) { told += change.spec ? 1 : 0; });
  const SecretMasks masks;
  StatusWriter writer(*client, cache, masks);
  auto is_at = [&](int at) {
    MutexLock lock(mu);
    version = at;
  };
  const std::string key = api::ParseProvider(kube::Object(Json::parse(kObject)))->id.Key();
  // A pass: what the cache has is decided on, and written for.
  auto write = [&](const char* contract) {
    api::Provider provider = *cache.Get(key)->provider;
    api::ProviderStatus status = provider.status;
    status.contract = contract;
    return writer.WriteStatus(Context{}.WithTimeout(Seconds(30)), provider, status);
  };
  is_at(200);
  auto shown = std::make_shared<const kube::Object>(Json::parse(object()));
  cache.OnEvent(api::ProviderType::kInfrastructure, nullptr, shown);
  is_at(204);
  EXPECT_EQ(write("v1alpha4").code(), Code::kConflict);
  EXPECT_EQ(reads, 0) << "somebody else has written, and the watch will show it";
  is_at(200);
  ASSERT_TRUE(write("v1beta1").ok());
  is_at(206);
  EXPECT_EQ(write("v1beta2").code(), Code::kConflict);
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(cache.Get(key)->Object().resource_version(), "201") << "no restore: the watch will show 206";

  told = 0;
  is_at(200);
  EXPECT_EQ(write("v1beta2").code(), Code::kConflict);
  EXPECT_EQ(cache.Get(key)->Object().resource_version(), "200");
  EXPECT_EQ(told, 1) << "that is another pass";
  EXPECT_TRUE(write("v1beta2").ok());
  EXPECT_EQ(reads, 2);
}

// F10: so the answer to a write has nobody else's change, whose event would be older than that, and be no news any
// more.
TEST(StatusWriter, EachWriteIsForTheVersionThatItWasDecidedOn_F10) {
  Mutex mu;
  std::vector<std::string> versions;
  auto server = http::Server::Start({}, [&](const http::ServerRequest& request) {
    MutexLock lock(mu);
    versions.push_back(GetString(Json::parse(request.body), {"metadata", "resourceVersion"}));
    return http::Response{.status = 200, .headers = {}, .body = std::string(kObject)};
  });
  ASSERT_TRUE(server.ok());
  auto client = *kube::Client::Connect({.server = "http://" + (*server)->address()}, {.max_retries = 0});
  ProviderCache cache([](const ProviderCache::Change&) {});
  cache.OnEvent(api::ProviderType::kInfrastructure, nullptr,
                std::make_shared<const kube::Object>(Json::parse(kObject)));
  const SecretMasks masks;
  StatusWriter writer(*client, cache, masks);
  const Context ctx = Context{}.WithTimeout(Seconds(30));
  api::Provider provider = Parsed();
  EXPECT_TRUE(writer.AddFinalizer(ctx, provider).ok());
  EXPECT_TRUE(writer.RemoveFinalizer(ctx, provider).ok());
  EXPECT_TRUE(writer.WriteVersion(ctx, provider, "v1.0.1").ok());
  EXPECT_TRUE(writer.WriteConfigSecret(ctx, provider, {.name = "s", .ns = "n"}).ok());
  EXPECT_TRUE(writer.RemoveAnnotation(ctx, provider, "a").ok());
  EXPECT_THAT(versions, ::testing::ElementsAre("2", "2", "2", "2", "2"));
}

// F3: a gateway's 404 was taken for the object's end, so nobody tried again, and it was there with its finalizer for
// good.
TEST(StatusWriter, OnlyTheApiServersOwn404IsAnEnd_F3) {
  for (const char* body : {R"({"kind":"Status","reason":"NotFound","code":404})", "<html>no such page</html>"}) {
    auto server = http::Server::Start(
        {}, [&](const http::ServerRequest&) { return http::Response{.status = 404, .headers = {}, .body = body}; });
    ASSERT_TRUE(server.ok());
    auto client = *kube::Client::Connect({.server = "http://" + (*server)->address()}, {.max_retries = 0});
    ProviderCache cache([](const ProviderCache::Change&) {});
    cache.OnEvent(api::ProviderType::kInfrastructure, nullptr,
                  std::make_shared<const kube::Object>(Json::parse(kObject)));
    const SecretMasks masks;
    StatusWriter writer(*client, cache, masks);
    api::Provider provider = Parsed();
    const Status removed = writer.RemoveFinalizer(Context{}.WithTimeout(Seconds(30)), provider);
    EXPECT_EQ(removed.ok(), *body == '{');
    if (!removed.ok()) EXPECT_EQ(removed.code(), Code::kUnavailable) << removed.error().message;
  }
}

// A merge patch keeps the members of a member that it doesn't name.
TEST(StatusWriter, WhatWentOfAMemberIsSetToNull_U12) {
  std::string sent;
  api::Provider provider = Parsed();
  provider.status.update_check = api::UpdateCheck{"of", "2026-01-01T00:00:00Z", "2026-01-01T12:00:00Z"};
  provider.status.source = "github.com";
  api::ProviderStatus status = provider.status;
  status.source = "";
  status.update_check = api::UpdateCheck{"of another"};
  ASSERT_TRUE(Write(provider, status, {}, &sent).ok());
  EXPECT_THAT(sent, HasSubstr(R"("source":null)"));
  EXPECT_THAT(sent, HasSubstr(R"("updateCheck":{"next":null,"source":"of another","time":null})"));
}

}  // namespace
}  // namespace capi::ops
