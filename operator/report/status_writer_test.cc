// F9: a cluster whose CustomResourceDefinition lacks a field drops it from what is written, and says so.
#include "operator/report/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kObject = R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2",
  "kind":"InfrastructureProvider","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"2"},
  "spec":{"version":"v1.0.0"}})";

// Writes a status to a server that answers with this warning.
Status WriteWith(std::string_view warning) {
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    peer.ReadRequest();
    std::string header = warning.empty() ? "" : "Warning: 299 - \"" + std::string(warning) + "\"\r\n";
    peer.Write("HTTP/1.1 200 OK\r\nConnection: close\r\n" + header +
               "Content-Length: " + std::to_string(kObject.size()) + "\r\n\r\n" + std::string(kObject));
  });
  auto client = *kube::Client::Connect({.server = server.url()}, {});
  ProviderCache cache([](const ProviderCache::Change&) {});
  const SecretMasks masks;
  StatusWriter writer(*client, cache, masks);
  api::Provider provider = *api::ParseProvider(kube::Object(Json::parse(kObject)));
  api::ProviderStatus status = provider.status;
  status.contract = "v1beta2";
  return writer.WriteStatus(Context{}.WithTimeout(Seconds(30)), provider, status);
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
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    sent = peer.ReadRequest();
    peer.Write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(kObject.size()) +
               "\r\n\r\n" + std::string(kObject));
  });
  auto client = *kube::Client::Connect({.server = server.url()}, {});
  ProviderCache cache([](const ProviderCache::Change&) {});
  api::Provider provider = *api::ParseProvider(kube::Object(Json::parse(kObject)));
  SecretValues values;
  values.Add("s3cr3t-s3cr3t");
  SecretMasks masks;
  masks.Put(provider.id.Key(), values);
  api::ProviderStatus status = provider.status;
  status.conditions = {{"Ready", "False", "InstallFailed", "pod p: s3cr3t-s3cr3t", 1, "2026-01-01T00:00:00Z"}};
  status.history = {api::HistoryEntry{"v1.0.0", "v1beta1", ""}};
  status.history[0].message = "container m: s3cr3t-s3cr3t";
  StatusWriter writer(*client, cache, masks);
  ASSERT_TRUE(writer.WriteStatus(Context{}.WithTimeout(Seconds(30)), provider, status).ok());
  EXPECT_THAT(sent, HasSubstr("pod p: ***"));
  EXPECT_THAT(sent, HasSubstr("container m: ***"));
  EXPECT_THAT(sent, ::testing::Not(HasSubstr("s3cr3t")));
  EXPECT_EQ(provider.status.history[0].message, "container m: ***") << "as it was written";
}

}  // namespace
}  // namespace capi::ops
