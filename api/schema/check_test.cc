#include "api/schema/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/schema/schema.h"
#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

using testing::ElementsAre;

std::vector<std::string> Check(std::string_view yaml, ApiVersion version = ApiVersion::kV1Alpha2) {
  std::vector<std::string> out;
  for (const SchemaError& error : CheckSchema(*ParseYaml(yaml), schema::Spec(version), "spec"))
    out.push_back(error.ToString());
  return out;
}

struct Case {
  const char* spec;
  const char* error;  // null for none
};

// L19.
TEST(CheckSchema, SaysWhatTheApiServerWouldRefuse) {
  const Case cases[] = {
      {"{}", nullptr},
      {"{version: null}", nullptr},
      {"{version: v1.2.3, paused: true, deployment: {replicas: 2}}", nullptr},
      {"{colour: red}", "unknown field \"spec.colour\""},
      {"{deployment: {containers: [{name: a, imag: x}]}}", "unknown field \"spec.deployment.containers[0].imag\""},
      {"{version: 1.2}",
       "spec.version: Invalid value: \"number\": spec.version in body must be of type string: \"number\""},
      {"{paused: 'true'}",
       "spec.paused: Invalid value: \"string\": spec.paused in body must be of type boolean: \"string\""},
      {"{deployment: []}",
       "spec.deployment: Invalid value: \"array\": spec.deployment in body must be of type object: \"array\""},
      {"{configSecret: {namespace: a}}", "spec.configSecret.name: Required value: it is missing"},
      {"{rollout: {onFailure: Wait}}",
       "spec.rollout.onFailure: Unsupported value: \"Wait\": supported values: \"Hold\", \"Rollback\""},
      {"{rollout: {timeout: 5}}",
       "spec.rollout.timeout: Invalid value: \"integer\": spec.rollout.timeout in body must be of type string: "
       "\"integer\""},
      {"{rollout: {timeout: 5m30s}}", nullptr},
      {"{manager: {verbosity: -1}}",
       "spec.manager.verbosity: Invalid value: \"-1\": spec.manager.verbosity in body should be greater than or equal "
       "to 0"},
      {"{manager: {featureGates: {A: 1}}}",
       "spec.manager.featureGates.A: Invalid value: \"integer\": spec.manager.featureGates.A in body must be of type "
       "boolean: \"integer\""},
      {"{fetchConfig: {digest: x, url: z}}",
       "spec.fetchConfig.digest: Invalid value: \"x\": spec.fetchConfig.digest in body should match "
       "'^sha256:[0-9a-f]{64}$'"},
      {"{fetchConfig: {}}",
       "spec.fetchConfig: Invalid value: Must specify one and only one of {oci, url, selector, git}"},
      {"{patches: [], manifestPatches: []}", "spec: Invalid value: Cannot set both 'patches' and 'manifestPatches'"},
      {"{deployment: {containers: [{name: a, resources: {limits: {cpu: [], memory: 1Gi}}}]}}",
       "spec.deployment.containers[0].resources.limits.cpu: Invalid value: \"array\": "
       "spec.deployment.containers[0].resources.limits.cpu in body must be of type integer,string: \"array\""},
      {"{deployment: {affinity: {anything: goes}}}", nullptr},
      // A null is no value, but in a list; a field that isn't there isn't there with a null either.
      {"{configSecert: null}", "unknown field \"spec.configSecert\""},
      {"{deployment: {replica: null}}", "unknown field \"spec.deployment.replica\""},
      {"{manifestPatches: [], patches: null}", nullptr},
      {"{configSecret: {name: null}}", "spec.configSecret.name: Required value: it is missing"},
      {"{fetchConfig: {url: a, oci: null}}", nullptr},
      {"{deployment: {nodeSelector: {a: null}}}", nullptr},
      {"{deployment: {containers: [null]}}",
       "spec.deployment.containers[0]: Invalid value: \"null\": spec.deployment.containers[0] in body must be of type "
       "object: \"null\""},
      // Of a list that is a map each key is there once.
      {"{deployment: {containers: [{name: a}, {name: b}, {name: a}]}}",
       "spec.deployment.containers[2]: Duplicate value: {\"name\":\"a\"}"},
      {"{deployment: {containers: [{name: a, env: [{name: A}, {name: A}]}]}}", nullptr},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.spec);
    if (one.error == nullptr) {
      EXPECT_THAT(Check(one.spec), ElementsAre());
    } else {
      EXPECT_THAT(Check(one.spec), ElementsAre(one.error));
    }
  }
}

TEST(CheckSchema, EachVersionHasItsOwnFields) {
  EXPECT_THAT(Check("{secretName: a}"), ElementsAre("unknown field \"spec.secretName\""));
  EXPECT_THAT(Check("{secretName: a, manager: {syncPeriod: 660}}", ApiVersion::kV1Alpha1), ElementsAre());
  EXPECT_THAT(Check("{configSecret: {name: a}}", ApiVersion::kV1Alpha1),
              ElementsAre("unknown field \"spec.configSecret\""));
}

TEST(CheckSchema, TheStepsLeadToTheField) {
  auto errors = CheckSchema(*ParseYaml("{deployment: {containers: [{name: a}, {b: c}]}}"), schema::Spec(), "spec");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_THAT(errors[0].steps, ElementsAre("spec", "deployment", "containers", "1"));
  EXPECT_EQ(errors[0].error.path, "spec.deployment.containers[1].name");
  EXPECT_THAT(errors[1].steps, ElementsAre("spec", "deployment", "containers", "1", "b"));
}

// What the walk finds in a schema and doesn't carry out.
void Look(const Json& schema, std::vector<std::string>& unknown) {
  if (schema.is_object()) {
    for (const auto& item : schema.items()) {
      if (!KnowsKeyword(item.key())) unknown.push_back(item.key());
    }
    if (const Json* rules = Find(schema, {"x-kubernetes-validations"})) {
      for (const Json& rule : *rules) {
        if (!KnowsRule(GetString(rule, {"rule"}))) unknown.push_back(GetString(rule, {"rule"}));
      }
    }
  }
  if (const Json* fields = Find(schema, {"properties"})) {
    for (const Json& field : *fields) Look(field, unknown);
  }
  for (const char* below : {"items", "additionalProperties"}) {
    if (const Json* schema_below = Find(schema, {below}); schema_below != nullptr) Look(*schema_below, unknown);
  }
}

TEST(CheckSchema, KnowsEveryRuleAndKeywordOfTheSchemas) {
  std::vector<std::string> unknown;
  for (ApiVersion version : {ApiVersion::kV1Alpha1, ApiVersion::kV1Alpha2}) Look(schema::Spec(version), unknown);
  EXPECT_THAT(unknown, ElementsAre());
  EXPECT_FALSE(KnowsRule("self == 1"));
  EXPECT_FALSE(KnowsKeyword("maximum"));
}

}  // namespace
}  // namespace capi::api
