// I14, U7, U8: a release in the cluster is whole at each moment, whatever ends the operator.
#include "releases/release_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "base/encoding.h"
#include "base/files.h"
#include "releases/map_server_testing.h"

namespace capi::releases {
namespace {

using ::testing::HasSubstr;
using testing::Large;
using testing::MapServer;
using testing::Owner;
using testing::Soon;

Result<api::Release> Read(MapServer& server) {
  api::StoredRelease stored{"aws-system", "infrastructure-aws-v1.12.0", "v1.12.0",
                            api::Version::Parse("v1.12.0").value(), ""};
  return ReadRelease(Soon(), *server.client, stored);
}

TEST(ReleaseStore, AReplacementThatEndsAnywhereLeavesAWholeRelease) {
  const api::Provider owner = Owner();
  const api::Release before = Large(1), after = Large(2);
  bool complete = false;
  for (int writes = 0; !complete; ++writes) {
    SCOPED_TRACE(writes);
    ASSERT_LT(writes, 20);
    MapServer server;
    ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, before).ok());
    const size_t parts = server.maps().size();
    ASSERT_EQ(parts, 2u);
    server.Take(writes);
    complete = ReplaceRelease(Soon(), *server.client, owner, after).ok();
    auto read = Read(server);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->components == after.components, complete);
    EXPECT_TRUE(complete || read->components == before.components);
    // The next try ends it, and leaves nothing of the former one.
    server.Take(1'000);
    ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, after).ok());
    read = Read(server);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->components, after.components);
    if (!complete) {
      EXPECT_EQ(server.maps().size(), parts);
    }
  }
}

// T14, U8: what somebody puts there just before the write isn't written over, nor taken for the release that was to be
// stored: who has rendered that one looks again. Of another change of what is the operator's own nothing is left.
TEST(ReleaseStore, WhatComesBeforeTheWriteIsLookedAtAgain_U8_T14) {
  const api::Provider owner = Owner();
  const std::string name = "infrastructure-aws-v1.12.0";
  api::Release before, after;
  before.version = after.version = *api::Version::Parse("v1.12.0");
  before.metadata = after.metadata = "kind: Metadata\n";
  before.components = "kind: A\n";
  after.components = "kind: B\n";
  for (bool of_somebody : {true, false}) {
    MapServer server;
    ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, before).ok());
    server.ChangeBeforePut(name, [&](Json& map) {
      if (of_somebody) map["metadata"]["labels"].erase(std::string(api::kLabelManagedBy));
      map["data"]["components"] = "kind: C\n";
    });
    auto stored = ReplaceRelease(Soon(), *server.client, owner, after);
    EXPECT_EQ(stored.ok(), !of_somebody);
    if (of_somebody) {
      EXPECT_EQ(stored.code(), Code::kConflict);
    }
    EXPECT_EQ(Read(server)->components, of_somebody ? "kind: C\n" : after.components);
  }
}

// The same where nothing was there when it was fetched.
TEST(ReleaseStore, WhatComesBeforeTheFirstWriteIsNotTakenForIt_I14) {
  const api::Provider owner = Owner();
  api::Release theirs = Large(1), ours = Large(2);
  theirs.components.resize(1'000);
  auto labels = api::ReleaseLabels(owner.id, "v1.12.0");
  labels.erase(std::string(api::kLabelManagedBy));
  MapServer server;
  server.PutBeforePost(api::PackRelease(owner.id, theirs, labels).front().json());
  auto stored = ReplaceRelease(Soon(), *server.client, owner, ours);
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.code(), Code::kConflict);
  EXPECT_THAT(stored.error().message, HasSubstr("infrastructure-aws-v1.12.0 has come meanwhile"));
  EXPECT_EQ(Read(server)->components, theirs.components);
  EXPECT_TRUE(ReplaceRelease(Soon(), *server.client, owner, theirs).ok()) << "an equal one is the release";
}

// An outage of the API server says nothing of what lies there.
TEST(ReleaseStore, WhatCanNotBeReadIsNotTakenForAnother_I14) {
  const api::Provider owner = Owner();
  MapServer server;
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
  server.Trouble(server.maps().rbegin()->first);  // a part
  auto stored = ReplaceRelease(Context{}.WithTimeout(Seconds(2)), *server.client, owner, Large(2));
  ASSERT_FALSE(stored.ok());
  EXPECT_NE(stored.code(), Code::kConflict) << stored.error().message;
  EXPECT_NE(stored.code(), Code::kFailedPrecondition) << stored.error().message;
}

// It was said to be looked at next, which nobody who goes by labels would: so for ever.
TEST(ReleaseStore, WhatIsFoundByNobodyIsRefused_I14) {
  const api::Provider owner = Owner();
  MapServer server;
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
  const std::string name = "infrastructure-aws-v1.12.0";
  const std::function<void(Json&)> cases[] = {
      [](Json& map) { map["metadata"].erase("labels"); },
      [](Json& map) {
        map["metadata"]["labels"] = {{std::string(api::kLabelReleaseVersion), "v1.12.0"}};
      },
      [](Json& map) {
        map["metadata"]["labels"].erase(std::string(api::kLabelManagedBy));
        map["metadata"]["labels"][std::string(api::kLabelReleaseVersion)] = "v1.11.0";
      },
  };
  for (const auto& edit : cases) {
    server.Change(name, [&](Json& map) {
      map["metadata"]["labels"] = api::ReleaseLabels(owner.id, "v1.12.0");
      edit(map);
    });
    const Json before = server.maps().at(name);
    for (unsigned content : {1u, 2u}) {  // the same release, or another one
      auto stored = ReplaceRelease(Soon(), *server.client, owner, Large(content));
      ASSERT_FALSE(stored.ok());
      EXPECT_EQ(stored.code(), Code::kFailedPrecondition);
      EXPECT_THAT(stored.error().message, HasSubstr("delete it, or label it with provider.cluster.x-k8s.io/"));
      EXPECT_EQ(server.maps().at(name), before);
    }
  }
  server.Change(name, [&](Json& map) {
    map["metadata"]["labels"] = api::ReleaseLabels(owner.id, "1.12.0");  // I12
    map["metadata"]["labels"].erase(std::string(api::kLabelManagedBy));
  });
  EXPECT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
}

// What `preload` makes with the operator's labels counts as fetched: what comes from the source takes its place, and
// goes with the provider. What it makes for a selector stays.
TEST(ReleaseStore, WhatIsPreloadedCountsByItsLabels_L25_I14) {
  api::Provider owner = Owner();
  api::Release preloaded, fetched;
  preloaded.version = fetched.version = *api::Version::Parse("v1.12.0");
  preloaded.metadata = fetched.metadata = "kind: Metadata\n";
  preloaded.components = "kind: A\n";
  fetched.components = "kind: B\n";
  for (bool selected : {false, true}) {
    if (selected) owner.spec.fetch_config.emplace().selector = {{"matchLabels", {{"a", "b"}}}};
    MapServer server;
    const auto maps = api::PackRelease(owner.id, preloaded, api::LabelsToBeFoundBy(owner, "v1.12.0"));
    ASSERT_TRUE(server.client->Create(Soon(), kube::Builtin("ConfigMap"), maps.front(), {}).ok());
    auto stored = ReplaceRelease(Soon(), *server.client, owner, fetched);
    EXPECT_EQ(stored.ok(), !selected);
    EXPECT_EQ(Read(server)->components, selected ? preloaded.components : fetched.components);
    const Json map = server.maps().at(maps.front().name());
    EXPECT_EQ(Find(map, {"metadata", "ownerReferences"}) == nullptr, selected);
  }
}

// T14: what came meanwhile with the same text isn't what was fetched with its signatures; and of each file its own
// count.
TEST(ReleaseStore, OneThatLacksSignaturesIsAnother_T14) {
  const api::Provider owner = Owner();
  MapServer server;
  server.Take(1'000);
  api::Release release = Large(1);
  release.signatures = {{"metadata.sig", "a"}};
  EXPECT_FALSE(IsSigned(release));
  release.components.resize(1'000);
  auto labels = api::ReleaseLabels(owner.id, "v1.12.0");
  labels.erase(std::string(api::kLabelManagedBy));
  const kube::Object half = api::PackRelease(owner.id, release, labels).front();
  ASSERT_TRUE(server.client->Create(Soon(), kube::Builtin("ConfigMap"), half, {}).ok());
  auto there = StoredRepository(*server.client, owner, {api::ReadStoredRelease(half)}, "these");
  EXPECT_TRUE(there->SignaturesOf(Soon(), release.version, "metadata.yaml").ok());
  EXPECT_EQ(there->SignaturesOf(Soon(), release.version, "components").code(), Code::kNotFound);

  release.signatures["components.sig"] = "b";
  EXPECT_TRUE(IsSigned(release));
  EXPECT_EQ(ReplaceRelease(Soon(), *server.client, owner, release).code(), Code::kConflict);
  release.signatures.clear();
  EXPECT_TRUE(ReplaceRelease(Soon(), *server.client, owner, release).ok()) << "nobody asks for them";
  release.signatures = {{"artifact.json", "c"}};
  EXPECT_TRUE(IsSigned(release)) << "it is of both";
}

// Or it would be fetched again at each look.
TEST(ReleaseStore, AnEqualReleaseOfAnotherSourceIsOfThatOne_T12) {
  const api::Provider owner = Owner();
  MapServer server;
  server.Take(1'000);
  api::Release release = Large(1);
  release.source = "github.com/o/r v1.12.0";
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, release).ok());
  release.source = "oci://r.example/a v1.12.0";
  auto stored = ReplaceRelease(Soon(), *server.client, owner, release);
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ(stored->source, release.source);
  EXPECT_TRUE(stored->fetched);
  EXPECT_EQ(Read(server)->source, release.source);
  EXPECT_EQ(Read(server)->components, release.components);
}

// T14: signatures are kept with what they are of, count in its size, and one without them isn't the same.
TEST(ReleaseStore, SignaturesAreKeptWithTheRelease_T14) {
  const api::Provider owner = Owner();
  MapServer server;
  api::Release release = Large(1);
  release.components.resize(900'000);
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, release).ok());
  EXPECT_TRUE(Read(server)->signatures.empty());
  release.signatures = {{"metadata.sig", "a"}, {"components.sigstore.json", std::string(30'000, 'b')}};
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, release).ok());
  EXPECT_EQ(Read(server)->signatures, release.signatures);
  EXPECT_EQ(GetString(server.maps().begin()->second, {"data", "metadata.sig"}), "a");
  EXPECT_NE(Find(server.maps().begin()->second, {"data", "components"}), nullptr) << "plain";
  release.signatures["components.bundle"] = std::string(150'000, 'c');
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, release).ok());
  EXPECT_EQ(Find(server.maps().begin()->second, {"data", "components"}), nullptr) << "together more than 1 MiB";
  auto read = Read(server);
  EXPECT_EQ(read->components, release.components);
  EXPECT_EQ(read->signatures, release.signatures);
}

// What a fetch before wrote in part isn't taken for a part of what came now.
TEST(ReleaseStore, PartsOfAnotherContentAreNotMixed) {
  const api::Provider owner = Owner();
  MapServer server;
  server.Take(1);
  EXPECT_FALSE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
  EXPECT_EQ(server.maps().size(), 1u);
  server.Take(1'000);
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(2)).ok());
  auto read = Read(server);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->components, Large(2).components);
}

TEST(ReleaseStore, PartsSayWhatTheyBelongTo) {
  const api::Provider owner = Owner();
  const std::string first = "infrastructure-aws-v1.12.0";
  const std::string digest_key(api::kAnnotationPartsDigest);
  MapServer server;
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
  const std::string digest =
      GetString(server.maps().at(first), {"metadata", "annotations", api::kAnnotationPartsDigest});
  ASSERT_EQ(digest.size(), 12u);
  server.Change(first + "-" + digest + "-part-2", [](Json& map) { map["binaryData"]["components"] = "eHh4"; });
  EXPECT_THAT(Read(server).error().message, HasSubstr("and its parts aren't what annotation"));
  server.Change(first, [&](Json& map) { map["metadata"]["annotations"][digest_key] = "../../secrets/s"; });
  EXPECT_THAT(Read(server).error().message, HasSubstr("has no digest in annotation"));
}

// U8: the same release again has parts of the same names, and they are there.
TEST(ReleaseStore, AReplacementMendsWhatIsDamaged) {
  const api::Provider owner = Owner();
  const std::string first = "infrastructure-aws-v1.12.0";
  MapServer server;
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
  const auto whole = server.maps();
  const std::string digest = GetString(whole.at(first), {"metadata", "annotations", api::kAnnotationPartsDigest});
  const std::string part = first + "-" + digest + "-part-2";
  const std::pair<std::string, std::function<void(Json&)>> damages[] = {
      {part, [](Json& map) { map["binaryData"]["components"] = "eHh4"; }},
      {part, [](Json& map) { map.erase("binaryData"); }},
      {first, [](Json& map) { map["binaryData"]["components"] = "eHh4"; }},
      {first, [](Json& map) { map["metadata"]["annotations"].erase(std::string(api::kAnnotationPartsDigest)); }},
  };
  for (const auto& [name, damage] : damages) {
    server.Change(name, damage);
    EXPECT_FALSE(Read(server).ok());
    ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
    auto read = Read(server);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->components, Large(1).components);
    EXPECT_EQ(server.maps().size(), whole.size());
  }
}

// As earlier versions wrote them, and as people may.
TEST(ReleaseStore, PartsWithoutADigestAreRead) {
  const api::Provider owner = Owner();
  const std::string first = "infrastructure-aws-v1.12.0";
  MapServer server;
  ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, Large(1)).ok());
  auto maps = server.maps();
  const std::string digest = GetString(maps.at(first), {"metadata", "annotations", api::kAnnotationPartsDigest});
  for (size_t i = 2; i <= maps.size(); ++i) {
    Json part = maps.at(first + "-" + digest + "-part-" + std::to_string(i));
    part["metadata"]["name"] = first + "-part-" + std::to_string(i);
    ASSERT_TRUE(server.client->Create(Soon(), kube::Builtin("ConfigMap"), kube::Object(part), {}).ok());
    ASSERT_TRUE(server.client
                    ->Delete(Soon(), kube::Builtin("ConfigMap"), "aws-system",
                             first + "-" + digest + "-part-" + std::to_string(i), {})
                    .ok());
  }
  server.Change(first,
                [](Json& map) { map["metadata"]["annotations"].erase(std::string(api::kAnnotationPartsDigest)); });
  auto read = Read(server);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->components, Large(1).components);
}

// I6, L19: the same for maps of files, where no server is asked.
TEST(ReadReleaseMap, PlainPackedAndInParts) {
  auto none = [](const std::string& name) -> Result<kube::Object> { return Error{Code::kNotFound, name, {}}; };
  const Json plain = {{"kind", "ConfigMap"},
                      {"metadata", {{"name", "v1.0.0"}, {"namespace", "n"}}},
                      {"data", {{"metadata", "m"}, {"components", "c"}}}};
  EXPECT_EQ(ReadReleaseMap(kube::Object(plain), none)->components, "c");
  EXPECT_EQ(ReadReleaseMap(kube::Object(plain), none)->source, "ConfigMap n/v1.0.0");
  const std::string packed = Gzip("a long text, a long text, a long text");
  kube::Object first(plain), second(plain);
  first.set_annotation(api::kAnnotationCompressed, "true");
  first.set_annotation(api::kAnnotationParts, "2");
  first.json()["binaryData"]["components"] = Base64Encode(packed.substr(0, 9));
  second.json()["binaryData"]["components"] = Base64Encode(packed.substr(9));
  auto find = [&](const std::string& name) -> Result<kube::Object> {
    return name == "v1.0.0-part-2" ? Result<kube::Object>(second) : none(name);
  };
  EXPECT_EQ(ReadReleaseMap(first, find)->components, "a long text, a long text, a long text");
  EXPECT_EQ(ReadReleaseMap(first, none).code(), Code::kNotFound);
  const std::pair<const char*, const char*> cases[] = {{"/data/metadata", "has no metadata"},
                                                       {"/data/components", "Data has no components"},
                                                       {"/metadata/name", "has invalid version: (from the Name)"}};
  for (const auto& [path, why] : cases) {
    Json lacking = plain;
    lacking[Json::json_pointer(path).parent_pointer()].erase(Json::json_pointer(path).back());
    EXPECT_THAT(ReadReleaseMap(kube::Object(lacking), none).error().message, HasSubstr(why));
  }
}

// Without what is of one cluster or one source; of the components what their digest is, however they are packed.
Json Comparable(Json map) {
  for (const char* of_one : {"ownerReferences", "uid", "resourceVersion"}) map["metadata"].erase(of_one);
  Json& annotations = map["metadata"]["annotations"];
  annotations.erase(std::string(api::kLabelReleaseSource));
  if (annotations.empty()) map["metadata"].erase("annotations");
  for (const char* where : {"data", "binaryData"}) {
    Json* text = Find(map, {where, "components"});
    if (text == nullptr) continue;
    std::string bytes = text->get<std::string>();
    if (where == std::string_view("binaryData")) bytes = *Gunzip(*Base64Decode(bytes), api::kMaxReleaseBytes);
    *text = "sha256:" + Sha256Hex(bytes);
  }
  return map;
}

// I6, I14: `make run` stores its releases in Python, as it has no operator yet. tools/run_test.py compares those with
// this file.
TEST(ReleaseStore, KeepsReleasesAsTheFileSays) {
  const std::string file = "testdata/kept/releases.json";
  Json cases = *ParseJson(*ReadFile(file));
  ASSERT_GT(cases.size(), std::size(api::kProviderKinds));
  const Json before = cases;
  for (Json& c : cases) {
    SCOPED_TRACE(ToJsonText(c));
    api::Provider owner = Owner();
    auto type = api::KindByName(GetString(c, {"kind"}));
    ASSERT_TRUE(type);
    owner.id = {type->type, GetString(c, {"namespace"}), GetString(c, {"name"})};
    api::Release release;
    release.version = *api::Version::Parse(GetString(c, {"version"}));
    release.metadata = GetString(c, {"metadata"});
    release.components = std::string(c.at("components").get<size_t>(), 'c');
    MapServer server("/api/v1/namespaces/" + owner.id.ns + "/configmaps");
    ASSERT_TRUE(ReplaceRelease(Soon(), *server.client, owner, release).ok());
    ASSERT_EQ(server.maps().size(), 1u);
    c["config_map"] = Comparable(server.maps().begin()->second);
  }
  if (std::getenv("CAPI_KEPT_RECORD") != nullptr) {
    ASSERT_TRUE(WriteFile(file, cases.dump(1) + "\n").ok());
  } else {
    EXPECT_EQ(cases, before)
        << "what the operator writes has changed: README.md beside the file says how to write it down";
  }
}

}  // namespace
}  // namespace capi::releases
