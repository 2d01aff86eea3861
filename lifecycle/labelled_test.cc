// L23: what is found of a provider, of kinds that may not answer.
#include "lifecycle/labelled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/http/server/server.h"

namespace capi::lifecycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kApi = R"({"kind":"APIGroupDiscoveryList","items":[{"versions":[
  {"version":"v1","freshness":"Current","resources":[{"resource":"configmaps","responseKind":{"kind":"ConfigMap"},
    "scope":"Namespaced","verbs":["list","delete"]}]}]}]})";
constexpr std::string_view kApis = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"gauges.io"},"versions":[{"version":"v1","freshness":"FRESHNESS","resources":[
    {"resource":"gauges","responseKind":{"kind":"Gauge"},"scope":"Namespaced","verbs":["list","delete"]}]}]}]})";

// OpenShift's, which comes first here.
constexpr std::string_view kRoles = R"({"kind":"APIGroupDiscoveryList","items":[
  {"metadata":{"name":"authorization.openshift.io"},"versions":[{"version":"v1","freshness":"FRESHNESS","resources":[
    {"resource":"clusterroles","responseKind":{"kind":"ClusterRole"},"scope":"Cluster","verbs":["list","delete"]}]}]},
  {"metadata":{"name":"rbac.authorization.k8s.io"},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"clusterroles","responseKind":{"kind":"ClusterRole"},"scope":"Cluster","verbs":["list","delete"]}]}]}]})";

// A server with a ConfigMap, and an aggregated API that is away.
class Labelled : public ::testing::Test {
 protected:
  Labelled() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request.path); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    auto client = kube::Client::Connect({.server = "http://" + server_->address()},
                                        {.user_agent = "labelled-test", .max_retries = 0});
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
  }
  http::Response Answer(const std::string& path) {
    if (path.starts_with("/apis/gauges.io")) return {.status = 503, .headers = {}, .body = "service unavailable\n"};
    std::string body = R"({"items":[]})";
    if (path.ends_with("/configmaps")) body = R"({"items":[{"metadata":{"name":"a","namespace":"toy-system"}}]})";
    if (path.ends_with("/clusterroles")) body = R"({"items":[{"metadata":{"name":"r","uid":"of-the-role"}}]})";
    if (path == "/api") body = kApi;
    if (path == "/apis") {
      body = twice_ ? kRoles : kApis;
      body.replace(body.find("FRESHNESS"), 9, stale_ ? "Stale" : "Current");
    }
    return {.status = 200, .headers = {}, .body = std::move(body)};
  }

  const Context ctx_ = Context{}.WithTimeout(Seconds(30));
  const api::ProviderId kToy{api::ProviderType::kInfrastructure, "toy-system", "toy"};
  std::vector<std::string> BuiltIn() {
    auto found = ListBuiltIn(ctx_, *client_, "made-by=us");
    EXPECT_TRUE(found.ok()) << found.error().message;
    std::vector<std::string> out;
    for (const kube::Object& object : found.ok() ? *found : std::vector<kube::Object>())
      out.push_back(object.id().ToString());
    return out;
  }

  std::atomic<bool> stale_ = true;   // discovery has heard of it
  std::atomic<bool> twice_ = false;  // it has ClusterRoles under two groups
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<kube::Client> client_;
};

// What the group once had is known, and its server doesn't answer.
TEST_F(Labelled, WhatIsAwayIsTold) {
  auto found = ListLabelled(ctx_, *client_, kToy);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->items.size(), 1U);
  EXPECT_EQ(found->items[0].name(), "a");
  EXPECT_THAT(found->unread, ElementsAre("objects of group gauges.io: the API of its group doesn't answer now"));
  auto all = ListInNamespace(ctx_, *client_, "toy-system");
  ASSERT_EQ(all.code(), Code::kUnavailable);
  EXPECT_THAT(all.error().message, HasSubstr("gauges.io: the API of its group doesn't answer now"));
}

// It must not be taken for a kind without objects.
TEST_F(Labelled, AKindThatCantBeListedIsAnError) {
  stale_ = false;
  auto found = ListLabelled(ctx_, *client_, kToy);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("failed to look for objects of kind Gauge (gauges.io/v1)"));
}

// L13: an object that were there once more, under a group that no manifest names, would go as one of an older release.
TEST_F(Labelled, WhatIsBuiltInComesOnce) {
  twice_ = true;
  stale_ = false;
  EXPECT_THAT(BuiltIn(), UnorderedElementsAre("ConfigMap/toy-system/a", "ClusterRole.rbac.authorization.k8s.io/r"));
}

// L13: a group that doesn't answer holds up no cert-manager.
TEST_F(Labelled, NothingIsAskedOfAGroupThatIsAway) { EXPECT_THAT(BuiltIn(), ElementsAre("ConfigMap/toy-system/a")); }

}  // namespace
}  // namespace capi::lifecycle
