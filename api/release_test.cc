#include "api/release.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/release_choice.h"
#include "base/testing/vectors.h"

namespace capi::api {
namespace {

constexpr std::string_view kHead = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\n";

Json ToJson(const ReleaseSeries& s) { return {{"major", s.major}, {"minor", s.minor}, {"contract", s.contract}}; }

Json SeriesOf(const Metadata& metadata) {
  Json out = Json::array();
  for (const ReleaseSeries& s : metadata.series) out.push_back(ToJson(s));
  return out;
}

void CheckMetadata(const Json&, const Json& c) {
  ASSERT_TRUE(c["metadata"].is_string()) << "no file";
  auto metadata = Metadata::Parse(c["metadata"].get<std::string>(), "infrastructure-p");
  ASSERT_EQ(metadata.ok(), c.contains("want")) << (metadata.ok() ? "" : metadata.error().message);
  if (!metadata.ok()) {
    EXPECT_EQ(metadata.code(), Code::kInvalidArgument);
    // Errors of decoding are worded by Go's decoders; those of validation are exact.
    std::string want = c["error"];
    if (want.starts_with("invalid provider metadata: ")) {
      EXPECT_EQ(metadata.error().message, want);
    }
    return;
  }
  const Json& want = c["want"];
  EXPECT_EQ(SeriesOf(*metadata), want["releaseSeries"]);
  if (c.contains("version")) {
    auto contract = metadata->ContractOf(*Version::Parse(c["version"].get<std::string>()));
    EXPECT_EQ(contract ? Json(*contract) : Json(),
              want["for_version"].is_null() ? Json() : want["for_version"]["contract"]);
  }
  if (c.contains("contract")) {
    const ReleaseSeries* newest = metadata->NewestWith(c["contract"].get<std::string>());
    EXPECT_EQ(newest ? ToJson(*newest) : Json(), want["for_contract"]);
  }
}

TEST(Metadata, Vectors) {
  RunVectors("metadata.json", CheckMetadata, [](const Json&, const Json& c) {
    if (c["metadata"].is_null()) return;  // there is nothing to parse
    auto metadata = Metadata::Parse(c["metadata"].get<std::string>(), "infrastructure-p");
    ASSERT_TRUE(metadata.ok()) << metadata.error().message;
    EXPECT_EQ(SeriesOf(*metadata), Json::array());
  });
}

// F2: bad input gets a clear error.
TEST(Metadata, WhatCantBeReadIsNamed) {
  struct Case {
    std::string_view yaml, error;
  };
  const Case cases[] = {
      {"releaseSeries: {}", "releaseSeries: must be a list"},
      {"releaseSeries: [a]", "releaseSeries[0]: must be a mapping"},
      {"releaseSeries: [{major: 1.5}]", "releaseSeries[0].major: must be a whole number"},
      {"releaseSeries: [{major: 1}, {minor: 3000000000}]", "releaseSeries[1].minor: must be a whole number"},
      {"releaseSeries: [{contract: 1}]", "releaseSeries[0].contract: must be a string"},
      {"releaseSeries: [", "line "},
  };
  for (const Case& c : cases) {
    auto metadata = Metadata::Parse(std::string(kHead).append(c.yaml), "infrastructure-p");
    ASSERT_FALSE(metadata.ok()) << c.yaml;
    EXPECT_EQ(metadata.code(), Code::kInvalidArgument);
    EXPECT_TRUE(metadata.error().message.find(c.error) != std::string::npos) << metadata.error().message;
    EXPECT_TRUE(
        metadata.error().message.starts_with("error decoding \"metadata.yaml\" for provider \"infrastructure-p\": "));
  }
}

TEST(Metadata, LenientTakesAnyApiVersion) {
  auto metadata =
      Metadata::ParseLenient("apiVersion: other/v1\nkind: Thing\nreleaseSeries: [{major: 1, minor: 2, contract: c}]");
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->ContractOf(*Version::Parse("v1.2.0")), "c");
  EXPECT_FALSE(Metadata::ParseLenient("just text").ok());
}

// C1, the golden rule.
TEST(Contracts, TheCoreAcceptsExactlyThese) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> accepted = {{"v1alpha3", {"v1alpha3"}},
                                                                                  {"v1alpha4", {"v1alpha4"}},
                                                                                  {"v1beta1", {"v1beta1"}},
                                                                                  {"v1beta2", {"v1beta1", "v1beta2"}},
                                                                                  {"v1beta3", {}},
                                                                                  {"", {}}};
  for (const auto& [core, contracts] : accepted) {
    EXPECT_EQ(AcceptedBy(core), contracts) << core;
    EXPECT_EQ(KnownContract(core), !contracts.empty()) << core;
    for (const char* c : {"v1alpha3", "v1alpha4", "v1beta1", "v1beta2", "v99", ""}) {
      EXPECT_EQ(Accepts(core, c), std::find(contracts.begin(), contracts.end(), c) != contracts.end()) << core << c;
    }
  }
  EXPECT_EQ(KnownContracts(), (std::vector<std::string>{"v1alpha3", "v1alpha4", "v1beta1", "v1beta2"}));
}

TEST(Release, DigestIsOfTheComponents) {
  Release release;
  release.components = "abc";
  EXPECT_EQ(release.Digest(), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// I2
TEST(Registry, HasSixtySixProvidersInOrder) {
  auto known = KnownProviders();
  EXPECT_EQ(known.size(), 66u);
  EXPECT_TRUE(std::is_sorted(known.begin(), known.end(), [](const auto& a, const auto& b) {
    return std::pair(a.type, a.name) < std::pair(b.type, b.name);
  }));
  std::set<std::pair<ProviderType, std::string_view>> unique;
  for (const KnownProvider& p : known) EXPECT_TRUE(unique.emplace(p.type, p.name).second) << p.name;
}

TEST(Registry, FindsEveryBuiltInOfClusterctl) {
  const Json vectors = LoadVectors("provider-config.json");
  ASSERT_FALSE(vectors["builtin"].empty());
  for (const Json& builtin : vectors["builtin"]) {
    std::string name = builtin["name"], kind = builtin["type"];
    SCOPED_TRACE(kind + "/" + name);
    ASSERT_NE(KindByName(kind), nullptr);
    ProviderType type = KindByName(kind)->type;
    const KnownProvider* known = FindKnownProvider(type, name);
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(known->Url(), builtin["url"].get<std::string>());
    EXPECT_EQ(ManifestLabel(type, name), builtin["label"].get<std::string>());
  }
}

TEST(Registry, KnowsNameAndTypeTogether) {
  EXPECT_NE(FindKnownProvider(ProviderType::kInfrastructure, "aws"), nullptr);
  EXPECT_EQ(FindKnownProvider(ProviderType::kBootstrap, "aws"), nullptr);
  EXPECT_EQ(FindKnownProvider(ProviderType::kInfrastructure, "AWS"), nullptr);
}

// I14: whoever looks at them, in whatever order they are listed, takes the same one.
TEST(ReleaseThatCounts, IsTheOneOfTheOwnNameElseTheFirst) {
  Provider provider;
  provider.id = {ProviderType::kInfrastructure, "aws-system", "aws"};
  const auto names = [&](std::vector<std::string> order) {
    std::vector<StoredRelease> found;
    for (std::string& name : order)
      found.push_back({"aws-system", std::move(name), "1.2.0", Version::Parse("v1.2.0").value(), ""});
    const StoredRelease* counts = ReleaseThatCounts(found, provider, "v1.2.0");
    return counts == nullptr ? "none" : counts->name;
  };
  EXPECT_EQ(names({"c", "a", "b"}), "a");
  EXPECT_EQ(names({"a", "infrastructure-aws-v1.2.0", "b"}), "infrastructure-aws-v1.2.0");
  EXPECT_EQ(names({}), "none");
}

}  // namespace
}  // namespace capi::api
