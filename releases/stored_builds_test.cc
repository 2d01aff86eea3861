// I12: another build of a release is another version in the cluster, too.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/http/server/server.h"
#include "releases/release_store.h"

namespace capi::releases {
namespace {

// Whichever was read last.
TEST(StoredRepository, EachBuildHasItsOwnSignatures_I12_T14) {
  api::Provider owner;
  owner.id = {api::ProviderType::kInfrastructure, "aws-system", "aws"};
  std::map<std::string, Json> maps;  // by path
  std::vector<api::StoredRelease> found;
  for (const std::string build : {"v1.2.0+a", "v1.2.0+b"}) {
    api::Release release;
    release.version = *api::Version::Parse(build);
    release.metadata = "kind: Metadata\n";
    release.components = "kind: Namespace\n";
    release.signatures = {{"metadata.sig", build}};
    const kube::Object map = api::PackRelease(owner.id, release, api::LabelsToBeFoundBy(owner, build)).front();
    maps["/api/v1/namespaces/aws-system/configmaps/" + map.name()] = map.json();
    found.push_back(api::ReadStoredRelease(map));
  }
  auto server = http::Server::Start({}, [&](const http::ServerRequest& request) -> http::Response {
    auto map = maps.find(request.path);
    if (map == maps.end()) return {.status = 404, .headers = {}, .body = "{}"};
    return {.status = 200, .headers = {}, .body = ToJsonText(map->second)};
  });
  ASSERT_TRUE(server.ok());
  auto client = kube::Client::Connect({.server = "http://" + (*server)->address()}, {}).value();
  auto repository = StoredRepository(*client, owner, found, "these");
  for (const std::string build : {"v1.2.0+a", "v1.2.0+b"}) {
    auto signatures = repository->SignaturesOf(Context{}, *api::Version::Parse(build), "metadata.yaml");
    ASSERT_TRUE(signatures.ok()) << signatures.error().message;
    EXPECT_EQ(signatures->at("metadata.sig"), build);
  }
}

}  // namespace
}  // namespace capi::releases
