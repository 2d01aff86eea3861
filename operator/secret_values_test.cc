#include "operator/report/secret_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/act/install/installation.h"
#include "operator/act/inventory_key.h"
#include "operator/act/known_secrets.h"
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
  cached.packed = *ParseJson(R"({"spec":{"manager":{"cacheNamespace":"us-west-2"}}})");
  values = WithoutKnown(values, {testing::DeploymentId()}, &cached);
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
    seen.fights = {{testing::DeploymentId(), "it was changed by " + secret, 5, true, Seconds(10)}};
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
  EXPECT_FALSE(masks.Knows(key));
  EXPECT_THAT(told(masks), Not(HasSubstr(secret))) << "after a restart nobody knows yet what is one";
  EXPECT_THAT(told(masks), HasSubstr(std::string(kNotShown)));
  masks.Put(key, {});
  EXPECT_THAT(told(masks), HasSubstr("refused: " + secret)) << "it is known to have none";
  SecretValues values;
  values.Add(secret);
  masks.Put(key, values);
  EXPECT_TRUE(masks.Knows(key));
  EXPECT_THAT(told(masks), Not(HasSubstr(secret)));
  EXPECT_THAT(told(masks), HasSubstr("refused: ***"));
  masks.Drop(key);
  EXPECT_THAT(told(masks), Not(HasSubstr(secret)));
}

// I7: what stands in the cluster, and in pods that still run, isn't what the last render gave: one that failed gave
// half of it, and one that isn't applied yet has other values.
TEST(SecretMasks, KeepWhatMayStillBeRepeated) {
  auto values = [](const std::string& value) {
    SecretValues one;
    one.Add(value);
    return one;
  };
  const std::string key = "aws", text = "value-one value-two";
  SecretMasks masks;
  masks.Add(key, values("value-one"));
  EXPECT_FALSE(masks.Knows(key)) << "what an earlier process has applied may have others";
  EXPECT_EQ(masks.Hide(key, text), kNotShown);
  api::ProviderStatus status;
  status.conditions = {{"Ready", "False", "R", text, 1, ""}};
  EXPECT_EQ(masks.Hide(key, status).conditions[0].message, "*** value-two") << "what is known is hidden all the same";
  auto apply = [&](const std::string& value) {
    masks.ApplyBegins(key, std::make_shared<const SecretValues>(values(value)));
  };
  masks.ApplyEnds(key);
  EXPECT_FALSE(masks.Knows(key)) << "none has begun";
  apply("value-one");
  masks.ApplyEnds(key);
  EXPECT_TRUE(masks.Knows(key));
  EXPECT_EQ(masks.Hide(key, text), "*** value-two");
  masks.Add(key, values("value-two"));
  EXPECT_EQ(masks.Hide(key, text), "*** ***") << "a render that failed takes nothing away";
  masks.RolloutEnds(key);
  EXPECT_EQ(masks.Hide(key, text), "*** value-two") << "it was never applied";
  masks.Add(key, values("value-two"));
  apply("value-two");
  masks.RolloutEnds(key);
  EXPECT_EQ(masks.Hide(key, text), "*** ***") << "the first is still live";
  masks.ApplyEnds(key);
  EXPECT_EQ(masks.Hide(key, text), "*** ***") << "and then pods run with it";
  masks.RolloutEnds(key);
  EXPECT_EQ(masks.Hide(key, text), "value-one ***") << "nobody has it any more";
  masks.Put(key, values("value-one"));
  EXPECT_EQ(masks.Hide(key, text), "*** ***") << "what is read is known beside what was rendered";
}

// I7: a rollback's entry of history is made of the fleet itself, and written before anything else.
TEST(SecretMasks, HideWhatPodsSay) {
  const std::string secret = "s3cr3t-s3cr3t";
  Fleet fleet;
  fleet.workloads = {testing::NewWorkload(kube::HealthState::kInProgress, "pod p: " + secret)};
  EXPECT_TRUE(HasForeignWords(fleet));
  SecretValues values;
  values.Add(secret);
  SecretMasks masks;
  masks.Put("aws", values);
  masks.Hide("aws", fleet);
  EXPECT_EQ(fleet.workloads[0].health.message, "pod p: ***");
  fleet.workloads = {testing::NewWorkload(kube::HealthState::kCurrent)};
  EXPECT_FALSE(HasForeignWords(fleet)) << "so that nothing is read for a provider that is well";
  EXPECT_FALSE(HasForeignWords(Done{.fleet = fleet}));
}

// I7, F2: a Secret of a mebibyte in short lines isn't looked for line by line, in each message, for good.
TEST(SecretValues, TooManyHideAll) {
  std::string lines;
  for (int i = 10'000'000; lines.size() < (1u << 20); ++i) lines += std::to_string(i) + "\n";
  SecretValues values;
  values.Add(lines);
  EXPECT_TRUE(values.hides_all());
  EXPECT_EQ(values.Hide("pod p: " + std::to_string(10'000'007)), kNotShown);
  EXPECT_EQ(values.Hide(""), "");
  EXPECT_TRUE(values.StandIn("{}"));
  values.Except("");
  values.Add("s3cr3t-s3cr3t");
  EXPECT_EQ(values.Hide("s3cr3t-s3cr3t"), kNotShown) << "for good";
  EXPECT_EQ(values.HideKnown("installed"), "installed");

  SecretValues large;
  for (int i = 0; i < 200; ++i) large.Add(std::string(10'000, static_cast<char>('a' + i % 26)) + std::to_string(i));
  EXPECT_TRUE(large.hides_all()) << "few, but long";

  SecretValues some;
  for (int i = 0; i < 1'000; ++i) some.Add("value-number-" + std::to_string(i));
  EXPECT_FALSE(some.hides_all());
  EXPECT_EQ(some.Hide("got value-number-999"), "got ***");
  EXPECT_EQ(some.Hide(std::string(1u << 20, 'x')), kNotShown) << "a text that takes too long to be searched";
  some.Except(std::string(1u << 20, 'x'));
  EXPECT_TRUE(some.hides_all()) << "as is what the object itself says";
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
