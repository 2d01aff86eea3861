// I14: which of the ConfigMaps of a version is read, and of what state.
#include "releases/release_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "releases/map_server_testing.h"

namespace capi::releases {
namespace {

using testing::Large;
using testing::MapServer;
using testing::Owner;
using testing::Soon;

// A version was chosen, and its signatures looked at, by another one than was installed then.
TEST(StoredRepository, OfSeveralOfAVersionTheOneThatCountsIsRead_I14) {
  const api::Provider owner = Owner();
  MapServer server;
  api::Release ours = Large(1);
  auto own = ReplaceRelease(Soon(), *server.client, owner, ours);
  ASSERT_TRUE(own.ok()) << own.error().message;
  ours.metadata = "kind: Another\n";
  kube::Object first = api::PackRelease(owner.id, ours, api::LabelsToBeFoundBy(owner, "v1.12.0")).front();
  first.json()["metadata"]["name"] = "a";
  ASSERT_TRUE(server.client->Create(Soon(), kube::Builtin("ConfigMap"), first, {}).ok());
  const std::vector<api::StoredRelease> found = {api::ReadStoredRelease(first), *own};
  auto read = StoredRepository(*server.client, owner, found, "these")->File(Soon(), ours.version, "metadata.yaml");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, "kind: Metadata\n");
}

// T14: a file and its signatures are of one state of the ConfigMap, which is read once; the next look is at what there
// is.
TEST(StoredRepository, SignaturesAreThoseThatLayBesideTheFile_T14) {
  const api::Provider owner = Owner();
  MapServer server;
  api::Release release = Large(1);
  release.signatures = {{"metadata.sig", "a"}, {"components.sig", "a"}};
  const std::vector<api::StoredRelease> found = {ReplaceRelease(Soon(), *server.client, owner, release).value()};
  auto repository = StoredRepository(*server.client, owner, found, "these");
  const auto signature = [&] {
    return repository->SignaturesOf(Soon(), release.version, "metadata.yaml").value().at("metadata.sig");
  };
  EXPECT_EQ(signature(), "a");
  EXPECT_EQ(repository->File(Soon(), release.version, "metadata.yaml").value(), "kind: Metadata\n");
  server.Change(found.front().name, [](Json& map) {
    map["data"]["metadata"] = "kind: Another\n";
    map["data"]["metadata.sig"] = "b";
  });
  EXPECT_EQ(signature(), "a");
  EXPECT_EQ(repository->File(Soon(), release.version, "metadata.yaml").value(), "kind: Another\n");
  EXPECT_EQ(signature(), "b");
}

// I12: another build is another version in the cluster, too, whichever was read last.
TEST(StoredRepository, EachBuildHasItsOwnSignatures_I12_T14) {
  const api::Provider owner = Owner();
  MapServer server;
  std::vector<api::StoredRelease> found;
  for (const std::string build : {"v1.2.0+a", "v1.2.0+b"}) {
    api::Release release;
    release.version = *api::Version::Parse(build);
    release.metadata = "kind: Metadata\n";
    release.components = "kind: Namespace\n";
    release.signatures = {{"metadata.sig", build}};
    const kube::Object map = api::PackRelease(owner.id, release, api::LabelsToBeFoundBy(owner, build)).front();
    ASSERT_TRUE(server.client->Create(Soon(), kube::Builtin("ConfigMap"), map, {}).ok());
    found.push_back(api::ReadStoredRelease(map));
  }
  auto repository = StoredRepository(*server.client, owner, found, "these");
  for (const std::string build : {"v1.2.0+a", "v1.2.0+b"}) {
    auto signatures = repository->SignaturesOf(Soon(), *api::Version::Parse(build), "metadata.yaml");
    ASSERT_TRUE(signatures.ok()) << signatures.error().message;
    EXPECT_EQ(signatures->at("metadata.sig"), build);
  }
}

}  // namespace
}  // namespace capi::releases
