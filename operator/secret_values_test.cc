#include "operator/report/secret_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/act/inventory_key.h"
#include "operator/act/materials.h"
#include "operator/decide/testing_fleet.h"
#include "operator/report/secret_masks.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// I7: texts as API servers write them, and our own, which stay readable.
TEST(SecretValues, AreHiddenByTheirLength) {
  struct Case {
    std::string value, text, hidden;
  };
  const Case cases[] = {
      {"83619274", ".stringData.pin: expected string, got &value.valueUnstructured{Value:83619274}",
       ".stringData.pin: expected string, got &value.valueUnstructured{Value:***}"},
      {"hunter2-and-more", "x-hunter2-and-more-y", "x-***-y"},
      {"hunter2", "password hunter2, not hunter22 nor ahunter2", "password ***, not hunter22 nor ahunter2"},
      {"p@ss!", "got \"p@ss!\"", "got \"***\""},
      {"abc", "abc: Invalid value: \"abc\"", "***: Invalid value: \"***\""},
      {"1", "1 of 40 objects failed: port: Invalid value: \"1\": must be 10 or 11",
       "1 of 40 objects failed: port: Invalid value: \"***\": must be 10 or 11"},
      {"5", "spec.replicas: Invalid value: 5: too many; v1.5.5", "spec.replicas: Invalid value: ***: too many; v1.5.5"},
      {"5", "got &value.valueUnstructured{Value:5}, not Value:55",
       "got &value.valueUnstructured{Value:***}, not Value:55"},
      {"true", "Invalid value: \"true\"", "Invalid value: \"true\""},
      {"Yes", "Invalid value: \"Yes\"", "Invalid value: \"Yes\""},
      {"", "\"\": Required value", "\"\": Required value"},
      {"0123456", "got Value:42798", "got Value:***"},  // as YAML reads it
      {"1234.50", "got Value:1234.5 and 1234.50", "got Value:*** and ***"},
      {"1e9", "got Value:1e+09, or 1000000000", "got Value:***, or ***"},
      {"line one of it\nline two of it\nshort", "at line two of it: short", "at ***: short"},
      {"a \"quoted\"\n\tone", R"(got "a \"quoted\"\n\tone")", "got \"***\""},
      {"c2VjcmV0", "got c2VjcmV0", "got ***"},
      {"secret value", "data: c2VjcmV0IHZhbHVl", "data: ***"},
      {"\xff\xfe\xfd not text", "\xff\xfe\xfd not text", "***"},
      {"***", "a *** b", "a *** b"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.value + " in " + c.text);
    SecretValues values;
    values.Add(c.value);
    EXPECT_EQ(values.Hide(c.text), c.hidden);
  }
}

// One that is part of another doesn't leave the rest of it to be read.
TEST(SecretValues, TheLongestGoesFirst) {
  SecretValues values;
  values.Add("password");
  values.Add("password-of-all");
  EXPECT_EQ(values.Hide("password-of-all, password"), "***, ***");
}

// I7: of a rendered Secret, with what stands where a text is to be; of nothing else.
TEST(SecretValues, AreThoseOfRenderedSecrets) {
  auto of = [](const char* json) {
    SecretValues values;
    values.AddObject(kube::Object(*ParseJson(json)));
    return values.Hide("token-value, dG9rZW4tdmFsdWU=, Value:12345678");
  };
  EXPECT_EQ(of(R"({"apiVersion":"v1","kind":"Secret","data":{"a":"dG9rZW4tdmFsdWU="}})"), "***, ***, Value:12345678");
  EXPECT_EQ(of(R"({"apiVersion":"v1","kind":"Secret","stringData":{"a":"token-value","b":12345678}})"),
            "***, ***, Value:***");
  EXPECT_EQ(of(R"({"apiVersion":"v1","kind":"Secret","data":[],"stringData":null})"),
            "token-value, dG9rZW4tdmFsdWU=, Value:12345678");
  EXPECT_EQ(of(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"token-value"}})"),
            "token-value, dG9rZW4tdmFsdWU=, Value:12345678");
}

// What the object itself says is no secret to those who read its conditions.
TEST(SecretValues, WhatIsKnownStaysReadable) {
  SecretValues values;
  for (const char* value : {"aws-system", "us-west-2", "s3cr3t-s3cr3t"}) values.Add(value);
  CachedProvider cached;
  cached.provider = std::make_shared<const api::Provider>(testing::Observed().provider);
  cached.object =
      std::make_shared<const kube::Object>(*ParseJson(R"({"spec":{"manager":{"cacheNamespace":"us-west-2"}}})"));
  kube::Manifest manifest;
  manifest.id = testing::DeploymentId();
  values = WithoutKnown(values, {manifest}, &cached);
  EXPECT_EQ(values.Hide("aws-system us-west-2 s3cr3t-s3cr3t"), "aws-system us-west-2 ***");
  EXPECT_FALSE(values.StandIn("aws-system"));
  EXPECT_TRUE(values.StandIn("its s3cr3t-s3cr3t"));
}

// I7: whatever a condition, the history or an event is made of.
TEST(SecretMasks, HideAllThatIsTold) {
  const std::string secret = "s3cr3t-s3cr3t", key = "infrastructure/aws-system/aws";
  Observation o = testing::Observed();
  auto told = [&](const SecretMasks& masks) {
    Observation seen = o;
    seen.fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress, "pod p: " + secret)};
    seen.fleet.unmigrated.emplace_back().name = "as.x";
    seen.fleet.unmigrated[0].migration.error = Error{Code::kInternal, secret, {}};
    Done done;
    done.fleet = seen.fleet;
    done.hold = Hold{"ProviderInstalled", "InstallFailed", "refused: " + secret};
    done.rollout = api::HistoryEntry{"v1", "v1beta1", ""};
    done.rollout->message = secret;
    done.warnings = {secret};
    done.restored = {secret};
    done.kept = {secret};
    masks.Hide(key, seen, done);
    api::ProviderStatus status = Summarize(seen, done);
    std::string all = api::StatusToJson(status).dump();
    for (const Event& event : EventsOf(o.provider.status, status, done)) all += event.message;
    done.hold.reset();
    all += api::StatusToJson(Summarize(seen, done)).dump();
    return all;
  };
  SecretMasks masks;
  EXPECT_THAT(told(masks), HasSubstr(secret)) << "nobody has said that it is one";
  SecretValues values;
  values.Add(secret);
  masks.Put(key, values);
  EXPECT_THAT(told(masks), Not(HasSubstr(secret)));
  EXPECT_THAT(told(masks), HasSubstr("refused: ***"));
  masks.Drop(key);
  EXPECT_THAT(told(masks), HasSubstr(secret));
}

// I7: what a render that fails says, too; and what it brought.
TEST(SecretValues, AreThoseOfARender) {
  Observation o = testing::Observed();
  Settings settings;
  api::Release release;
  release.version = *api::Version::Parse("v1.12.0");
  auto render = [&](const std::string& components) {
    release.components = components;
    RenderInputs inputs;
    inputs.variables = {{"PIN", "83619274"}};
    inputs.cluster_scoped = [](const kube::GroupKind&) { return std::optional<bool>(); };
    return RenderManifests(o, release, std::move(inputs), settings);
  };
  Rendered refused = render("a: [${PIN}");
  ASSERT_TRUE(refused.hold);
  EXPECT_EQ(refused.secrets.Hide("83619274"), "***");
  Rendered done = render(
      "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\nstringData: {pin: \"${PIN}\", other: "
      "composed}\n");
  ASSERT_FALSE(done.hold) << done.hold->message;
  EXPECT_EQ(done.secrets.Hide("83619274 composed"), "*** ***");
}

// I7: nobody can try values until one has the hash of the inventory.
TEST(InventoryKey, IsForWhatHoldsASecretValue) {
  SecretValues values;
  values.Add("s3cr3t-s3cr3t");
  auto is_secret = [&](const char* json) { return IsSecret(kube::ToManifest(kube::Object(*ParseJson(json))), values); };
  EXPECT_TRUE(is_secret(R"({"apiVersion":"v1","kind":"Secret","data":{}})")) << "whatever it holds";
  EXPECT_TRUE(is_secret(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"x=s3cr3t-s3cr3t"}})"));
  EXPECT_FALSE(is_secret(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"x"}})"));
}

}  // namespace
}  // namespace capi::ops
