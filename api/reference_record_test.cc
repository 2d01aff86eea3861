#include "api/reference_record.h"

#include <gtest/gtest.h>

#include "base/encoding.h"

namespace capi::api {
namespace {

const std::string kKey(32, 'k');
const ProviderId kAws{ProviderType::kInfrastructure, "ns", "aws"};
const ForeignReference kSecret{"spec.configSecret.namespace", "other", "Secret", "s"};
const ForeignReference kMap{"spec.additionalManifests.namespace", "other", "ConfigMap", "m"};

// T1: nobody can write a record by hand, or use one for anything else.
TEST(ReferenceRecord, HoldsForOneObjectAndItsReferences) {
  const std::string record = MakeReferenceRecord(kKey, kAws, {kSecret, kMap}, "alice");
  EXPECT_TRUE(RecordCovers(record, kKey, kAws, {kSecret, kMap}));
  EXPECT_TRUE(RecordCovers(record, kKey, kAws, {kMap, kSecret})) << "in any order";

  auto with = [](auto change) {
    ForeignReference other = kSecret;
    change(other);
    return std::vector<ForeignReference>{other, kMap};
  };
  struct Case {
    std::string_view name;
    ProviderId provider = kAws;
    std::vector<ForeignReference> references = {kSecret, kMap};
    std::string key = kKey;
  };
  const Case cases[] = {
      {"another kind of provider", {ProviderType::kBootstrap, "ns", "aws"}},
      {"another namespace of the provider", {ProviderType::kInfrastructure, "nsa", "ws"}},
      {"another name of the provider", {ProviderType::kInfrastructure, "ns", "azure"}},
      {"another installation", kAws, {kSecret, kMap}, std::string(32, 'l')},
      {"fewer references", kAws, {kSecret}},
      {"no references", kAws, {}},
      {"one of them twice", kAws, {kSecret, kMap, kMap}},
      {"another field", kAws, with([](auto& r) { r.path = "spec.fetchConfig.secretRef.namespace"; })},
      {"a Secret's name, a ConfigMap", kAws, with([](auto& r) { r.kind = "ConfigMap"; })},
      {"another namespace", kAws, with([](auto& r) { r.ns = "secluded"; })},
      {"another name", kAws, with([](auto& r) { r.name = "t"; })},
  };
  for (const Case& c : cases) EXPECT_FALSE(RecordCovers(record, c.key, c.provider, c.references)) << c.name;
}

TEST(ReferenceRecord, NobodyWritesOneByHand) {
  const std::string record = MakeReferenceRecord(kKey, kAws, {kSecret}, "alice");
  Json changed = *ParseJson(record);
  changed["user"] = "bob";
  EXPECT_FALSE(RecordCovers(ToJsonText(changed), kKey, kAws, {kSecret})) << "another user";
  changed = *ParseJson(record);
  changed["digest"] = Sha256Hex(record);
  EXPECT_FALSE(RecordCovers(ToJsonText(changed), kKey, kAws, {kSecret}));
  changed.erase("digest");
  EXPECT_FALSE(RecordCovers(ToJsonText(changed), kKey, kAws, {kSecret}));
  for (const char* text : {"", "true", "{}", "[]", "null", "{", R"({"user":5})", R"({"user":null,"digest":""})"}) {
    EXPECT_FALSE(RecordCovers(text, kKey, kAws, {kSecret})) << text;
  }
}

// Who reads the object sees who may do what; and what they see is what is judged.
TEST(ReferenceRecord, SaysWhoAndWhat) {
  const Json record = *ParseJson(MakeReferenceRecord(kKey, kAws, {kSecret}, "alice"));
  EXPECT_EQ(GetString(record, {"user"}), "alice");
  EXPECT_EQ(record["references"], *ParseJson(R"([{"path":"spec.configSecret.namespace","kind":"Secret",
    "namespace":"other","name":"s"}])"));
  EXPECT_EQ(GetString(record, {"digest"}).size(), 64u);
}

}  // namespace
}  // namespace capi::api
