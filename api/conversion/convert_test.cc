#include "api/conversion/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "api/schema/schema.h"
#include "api/types.h"
#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNew = "operator.cluster.x-k8s.io/v1alpha2", kOld = "operator.cluster.x-k8s.io/v1alpha1";

Json Object(std::string_view version, const Json& spec) {
  return {{"apiVersion", version},
          {"kind", "InfrastructureProvider"},
          {"metadata", {{"name", "aws"}, {"namespace", "capa-system"}}},
          {"spec", spec}};
}

Json Spec(std::string_view yaml) { return ParseYaml(yaml).value(); }

// A3: each field by its name in the other version, and back as it was written.
TEST(Convert, SaysTheSameInTheOtherVersionsWords) {
  struct Case {
    std::string_view old_spec, new_spec;
  };
  const Case cases[] = {
      {"{}", "{}"},
      {"{version: v1.2.3, paused: true, fetchConfig: {url: u}}",
       "{version: v1.2.3, paused: true, fetchConfig: {url: u}}"},
      {"{secretName: s}", "{configSecret: {name: s}}"},
      {"{secretName: s, secretNamespace: n}", "{configSecret: {name: s, namespace: n}}"},
      {"{secretNamespace: n}", "{configSecret: {name: '', namespace: n}}"},
      {"{secretName: '', version: v1.0.0}", "{version: v1.0.0}"},
      {"{secretName: '', secretNamespace: ''}", "{}"},
      {"{secretName: '', secretNamespace: n}", "{configSecret: {name: '', namespace: n}}"},
      {"{secretName: s, secretNamespace: ''}", "{configSecret: {name: s}}"},
      {"{manager: {metricsAddress: ':8181', syncPeriod: 660}}",
       "{manager: {metrics: {bindAddress: ':8181'}, syncPeriod: 660s}}"},
      {"{manager: {syncPeriod: 11m, leaderElection: {leaseDuration: 15, renewDeadline: 10s, retryPeriod: 2}}}",
       "{manager: {syncPeriod: 11m, leaderElection: {leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s}}}"},
      {"{manager: {additionalArgs: {x: 1}}}", "{manager: {additionalArgs: {--x: '1'}}}"},
      {"{deployment: {containers: [{name: m, args: {awscluster-concurrency: 12, -b: false, --c: 'd'}}]}}",
       "{deployment: {containers: [{name: m, args: {--awscluster-concurrency: '12', -b: 'false', --c: d}}]}}"},
      {"{deployment: {containers: [{name: m, image: 'r.io/a/b:v1'}]}}",
       "{deployment: {containers: [{name: m, imageUrl: 'r.io/a/b:v1'}]}}"},
      {"{deployment: {initContainers: [{name: m, image: {tag: v2}}]}}",
       "{deployment: {initContainers: [{name: m, image: {tag: v2}}]}}"},
      {"{additionalDeployments: {x: {manager: {syncPeriod: 5}, deployment: {containers: [{name: m, image: i}]}}}}",
       "{additionalDeployments: {x: {manager: {syncPeriod: 5s}, deployment: {containers: [{name: m, imageUrl: i}]}}}}"},
  };
  for (const auto& c : cases) {
    auto converted = Convert(Object(kOld, Spec(c.old_spec)), kNew);
    ASSERT_TRUE(converted.ok()) << converted.error().message;
    EXPECT_EQ((*converted)["spec"], Spec(c.new_spec)) << c.old_spec;
    EXPECT_EQ((*converted)["apiVersion"], std::string(kNew));
    auto back = Convert(*converted, kOld);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, Object(kOld, Spec(c.old_spec))) << "written in v1alpha1, read in v1alpha1";
  }
}

// A3: what was written in the old form isn't kept against what somebody has declared since.
TEST(Convert, AChangeInTheNewVersionIsSeenInTheOldOne) {
  Json stored = *Convert(Object(kOld, Spec("{manager: {syncPeriod: 660}, deployment: {replicas: 1}}")), kNew);
  EXPECT_EQ(GetString(stored, {"metadata", "annotations", kAnnotationOldForm}), R"({"manager":{"syncPeriod":660}})");
  stored["spec"]["deployment"]["replicas"] = 2;
  EXPECT_EQ((*Convert(stored, kOld))["spec"], Spec("{manager: {syncPeriod: 660}, deployment: {replicas: 2}}"));
  stored["spec"]["manager"]["syncPeriod"] = "5m";
  EXPECT_EQ((*Convert(stored, kOld))["spec"], Spec("{manager: {syncPeriod: 5m}, deployment: {replicas: 2}}"));
  stored["metadata"]["annotations"][std::string(kAnnotationOldForm)] = "{no json";
  EXPECT_EQ((*Convert(stored, kOld))["spec"], Spec("{manager: {syncPeriod: 5m}, deployment: {replicas: 2}}"));
  EXPECT_FALSE(Find((*Convert(stored, kOld))["metadata"], {"annotations"}));
}

// An edit through one version leaves what it doesn't touch as the other version wrote it: also in the same list, the
// same container, the same map of arguments. What it does touch keeps its name, so that the author's next apply finds
// the field that it owns.
TEST(Convert, AnEditKeepsTheFormOfAllElse) {
  struct Case {
    std::string_view name, from;
    std::string_view written, edit, shown;  // a spec, a merge patch of it in the other version, the spec then
  };
  const Case cases[] = {
      {"another field of the container", kOld, "{deployment: {containers: [{name: m, args: {x: 12}}]}}",
       "{deployment: {containers: [{name: m, args: {--x: '12'}, command: [c]}]}}",
       "{deployment: {containers: [{name: m, args: {x: 12}, command: [c]}]}}"},
      {"a container before it", kOld, "{deployment: {containers: [{name: m, args: {x: 12}}]}}",
       "{deployment: {containers: [{name: a}, {name: m, args: {--x: '12'}}]}}",
       "{deployment: {containers: [{name: a}, {name: m, args: {x: 12}}]}}"},
      {"another argument", kOld, "{deployment: {initContainers: [{name: m, args: {x: 12, w: 1}}]}}",
       "{deployment: {initContainers: [{name: m, args: {--x: '12', --w: '2', --z: a}}]}}",
       "{deployment: {initContainers: [{name: m, args: {x: 12, w: '2', --z: a}}]}}"},
      {"an argument that is gone", kOld, "{manager: {syncPeriod: 5, additionalArgs: {x: 12, w: 1}}}",
       "{manager: {additionalArgs: {--w: null}}}", "{manager: {syncPeriod: 5, additionalArgs: {x: 12}}}"},
      {"another duration", kOld, "{manager: {syncPeriod: 5, leaderElection: {leaseDuration: 15, retryPeriod: 2}}}",
       "{manager: {leaderElection: {retryPeriod: 3s}}}",
       "{manager: {syncPeriod: 5, leaderElection: {leaseDuration: 15, retryPeriod: 3s}}}"},
      {"the address of metrics", kOld, "{manager: {metricsAddress: ':1', syncPeriod: 5}}",
       "{manager: {metrics: {bindAddress: ':2'}}}", "{manager: {metricsAddress: ':2', syncPeriod: 5}}"},
      {"a Secret where none was named", kOld, "{secretName: '', manager: {syncPeriod: 5}}", "{configSecret: {name: s}}",
       "{secretName: s, manager: {syncPeriod: 5}}"},
      {"an additional deployment", kOld, "{additionalDeployments: {d: {manager: {syncPeriod: 5}}, e: {}}}",
       "{additionalDeployments: {e: null}}", "{additionalDeployments: {d: {manager: {syncPeriod: 5}}}}"},
      {"another field of the container, in the old version", kNew,
       "{deployment: {containers: [{name: m, args: {config: x}}]}}",
       "{deployment: {containers: [{name: m, args: {config: x}, command: [c]}]}}",
       "{deployment: {containers: [{name: m, args: {config: x}, command: [c]}]}}"},
      {"a new argument in the old version is a flag", kNew, "{manager: {additionalArgs: {config: x, --b: a}}}",
       "{manager: {additionalArgs: {config: z, new: 1}}}",
       "{manager: {additionalArgs: {config: z, --b: a, --new: '1'}}}"},
      {"with and without dashes", kNew, "{deployment: {replicas: 1, containers: [{name: m, args: {x: a, --x: b}}]}}",
       "{deployment: {replicas: 2}}", "{deployment: {replicas: 2, containers: [{name: m, args: {x: a, --x: b}}]}}"},
      {"an empty reference", kNew, "{configSecret: {name: ''}, paused: false}", "{paused: true}",
       "{configSecret: {name: ''}, paused: true}"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string_view other = c.from == kOld ? kNew : kOld;
    Json seen = *Convert(Object(c.from, Spec(c.written)), other);
    seen["spec"].merge_patch(Spec(c.edit));
    auto shown = Convert(seen, c.from);
    ASSERT_TRUE(shown.ok()) << shown.error().message;
    EXPECT_EQ((*shown)["spec"], Spec(c.shown));
    EXPECT_EQ((*Convert(*shown, other))["spec"], seen["spec"]) << "and it means what was edited";
  }
}

// What an apply of the author's file makes where the note was lost.
TEST(Convert, TwoSpellingsOfOneValueAreOne) {
  auto stored = Convert(Object(kOld, Spec("{manager: {additionalArgs: {x: 12, --x: '12'}}}")), kNew);
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  EXPECT_EQ((*stored)["spec"], Spec("{manager: {additionalArgs: {--x: '12'}}}"));
  EXPECT_EQ((*Convert(*stored, kOld))["spec"], Spec("{manager: {additionalArgs: {x: 12}}}"));
}

TEST(Convert, TheFormIsKeptOnlyWhereThereIsOne) {
  Json plain = *Convert(Object(kOld, Spec("{secretName: s}")), kNew);
  EXPECT_FALSE(Find(plain["metadata"], {"annotations"}));
  Json copied = Object(kOld, Spec("{secretName: s}"));
  copied["metadata"]["annotations"] = {{std::string(kAnnotationOldForm), "{}"}, {"own", "x"}};
  EXPECT_EQ((*Convert(copied, kNew))["metadata"]["annotations"], Json({{"own", "x"}}));
}

TEST(Convert, AnObjectWithoutSpecIsConvertedToo) {
  Json object = Object(kOld, {}), converted = Object(kNew, {});
  object.erase("spec");
  converted.erase("spec");
  EXPECT_EQ(*Convert(object, kNew), converted);
  EXPECT_EQ(*Convert(converted, kOld), object);
}

// A3: as docs/formats.md says.
TEST(Convert, TheNoteHasContainersByName) {
  auto stored = Convert(Object(kOld, Spec("{manager: {syncPeriod: 660}, deployment: {containers: "
                                          "[{name: manager, args: {verbose: true}}]}}")),
                        kNew);
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ((*stored)["spec"], Spec("{manager: {syncPeriod: 660s}, deployment: {containers: [{name: manager, args: "
                                    "{--verbose: 'true'}}]}}"));
  EXPECT_EQ(GetString(*stored, {"metadata", "annotations", kAnnotationOldForm}),
            R"({"deployment":{"containers":{"manager":{"args":{"--verbose":null,"verbose":true}}}},)"
            R"("manager":{"syncPeriod":660}})");
}

// A3: API servers take 256 KiB of annotations, and refuse a whole list for one object with more.
TEST(Convert, ANoteForWhichThereIsNoRoomIsLeftOut) {
  for (bool fits : {true, false}) {
    Json object = Object(kOld, Spec("{manager: {syncPeriod: 660}}"));
    const std::string note = R"({"manager":{"syncPeriod":660}})";
    const size_t room = (256u << 10) - kAnnotationOldForm.size() - note.size() - 1;
    object["metadata"]["annotations"]["a"] = std::string(fits ? room : room + 1, 'x');
    auto stored = Convert(object, kNew);
    ASSERT_TRUE(stored.ok());
    EXPECT_EQ((*stored)["spec"], Spec("{manager: {syncPeriod: 660s}}"));
    EXPECT_EQ(GetString(*stored, {"metadata", "annotations", kAnnotationOldForm}), fits ? note : "");
  }
}

// A3, the other way: what is written back without the note has dashes.
TEST(Convert, AnArgumentWithoutDashesNeedsItsNote) {
  Json object = Object(kNew, Spec("{deployment: {containers: [{name: m, args: {config: x}}]}}"));
  object["metadata"]["annotations"]["a"] = std::string(256u << 10, 'x');
  auto shown = Convert(object, kOld);
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(GetString(*shown, {"metadata", "annotations", kAnnotationNewForm}), "");
  EXPECT_EQ((*Convert(*shown, kNew))["spec"], Spec("{deployment: {containers: [{name: m, args: {--config: x}}]}}"));
}

// v1alpha1 takes an argument without dashes for a flag; one that is none comes through.
TEST(Convert, WhatTheOldVersionCannotSayComesBack) {
  Json object = Object(kNew, Spec("{deployment: {replicas: 1, containers: [{name: m, args: {config: x}}]}}"));
  Json shown = *Convert(object, kOld);
  EXPECT_EQ(shown["spec"], object["spec"]);
  EXPECT_EQ(*Convert(shown, kNew), object);
  shown["spec"]["deployment"]["replicas"] = 2;
  object["spec"]["deployment"]["replicas"] = 2;
  EXPECT_EQ(*Convert(shown, kNew), object) << "an edit of something else";
}

// A3: what v1alpha2 has no place for.
TEST(Convert, RefusalsNameTheField) {
  struct Case {
    std::string_view spec, message;
  };
  const Case cases[] = {
      {"{deployment: {containers: [{name: a}, {name: m, image: {tga: v2}}]}}",
       "spec.deployment.containers[1].image.tga: unknown field"},
      {"{deployment: {containers: [{name: m, image: {tag: 2}}]}}",
       "spec.deployment.containers[0].image.tag: must be a text"},
      {"{deployment: {containers: [{name: m, image: 5}]}}",
       "spec.deployment.containers[0].image: must be a text or an object"},
      {"{deployment: {containers: [{name: m, args: {x: [1]}}]}}", "spec.deployment.containers[0].args[x]: must be a"},
      {"{deployment: {containers: [{name: m, args: {x: 1, --x: 2}}]}}", "args[x]: is given with and without dashes"},
      {"{additionalDeployments: {other: {manager: {additionalArgs: {x: 1.5}}}}}",
       "spec.additionalDeployments[other].manager.additionalArgs[x]: must be a"},
      {"{manager: {metricsAddress: a, metrics: {bindAddress: b}}}",
       "spec.manager.metricsAddress: is the same as metrics.bindAddress"},
  };
  for (const auto& c : cases) {
    auto converted = Convert(Object(kOld, Spec(c.spec)), kNew);
    ASSERT_FALSE(converted.ok()) << c.spec;
    EXPECT_EQ(converted.code(), Code::kInvalidArgument);
    EXPECT_THAT(converted.error().message, HasSubstr(std::string(c.message)));
  }
  EXPECT_THAT(Convert(Object("v1", {}), kNew).error().message, HasSubstr("apiVersion: \"v1\""));
  EXPECT_THAT(Convert(Object(kOld, {}), "operator.cluster.x-k8s.io/v2").error().message, HasSubstr("v2"));
  EXPECT_FALSE(Convert(Json::array(), kNew).ok());
}

// A3: what operators of the first version stored: a condition without reason, with a severity.
TEST(Convert, ConditionsHaveWhatTheirVersionWants) {
  Json old = Object(kOld, {});
  old["status"] = Spec(
      "{installedVersion: v1.0.0, conditions: ["
      "{type: Ready, status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z'},"
      "{type: PreflightCheckPassed, status: 'False', severity: Warning, reason: R, message: m}]}");
  Json stored = *Convert(old, kNew);
  EXPECT_EQ(
      stored["status"],
      Spec("{installedVersion: v1.0.0, conditions: ["
           "{type: Ready, status: 'True', reason: Ready, message: '', lastTransitionTime: '2026-01-02T03:04:05Z'},"
           "{type: PreflightCheckPassed, status: 'False', reason: R, message: m}]}"));
  Json shown = *Convert(stored, kOld);
  Json expected = stored["status"];
  expected["conditions"][1]["severity"] = "Error";
  EXPECT_EQ(shown["status"], expected);
  EXPECT_EQ(Convert(shown, kNew).value(), stored);
}

// Error is for what is wrong.
TEST(Convert, TheSeverityOfAConditionSaysWhetherItsFalseIsBad) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"PreflightCheckPassed", "Error"},
                                                                 {"ProviderInstalled", "Error"},
                                                                 {"ProviderUpgraded", "Error"},
                                                                 {"Ready", "Error"},
                                                                 {"ContractCompatible", "Error"},
                                                                 {"Paused", "Info"},
                                                                 {"Drifted", "Info"},
                                                                 {"Stalled", "Info"},
                                                                 {"Reconciling", "Info"},
                                                                 {"StorageMigrated", "Info"},
                                                                 {"Warnings", "Info"}};
  for (const auto& [type, severity] : cases) {
    Json object = Object(kNew, {});
    object["status"]["conditions"] = {{{"type", type}, {"status", "False"}}, {{"type", type}, {"status", "True"}}};
    Json shown = *Convert(object, kOld);
    const Json& conditions = shown["status"]["conditions"];
    EXPECT_EQ(conditions[0]["severity"], severity) << type;
    EXPECT_FALSE(conditions[1].contains("severity")) << type;
  }
}

// Objects of a schema, made at random.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Json Make(const Json& schema) {
    if (schema.contains("x-kubernetes-int-or-string")) return Chance(2) ? Json(Number()) : Json(Word());
    if (!schema.contains("type")) return Chance(2) ? Json(Word()) : Chance(2) ? Json(Number()) : Json(Chance(2));
    std::string type = GetString(schema, {"type"});
    if (type == "object") return MakeObject(schema);
    if (type == "array") return MakeList(schema);
    if (type == "boolean") return Chance(2);
    if (type == "integer") return Number();
    return Word();
  }

 private:
  bool Chance(int of) { return random_() % static_cast<unsigned>(of) == 0; }
  int Number() { return static_cast<int>(random_() % 100); }
  std::string Word() { return Chance(8) ? "" : "w" + std::to_string(random_() % 5); }

  Json Image() {
    if (Chance(2)) return Word();
    Json parts = Json::object();
    for (const char* part : {"repository", "name", "tag"}) {
      if (Chance(2)) parts[part] = Word();
    }
    return parts;
  }

  Json MakeObject(const Json& schema) {
    Json out = Json::object();
    if (schema.contains("additionalProperties")) {
      for (const char* key : {"a", "-b", "--c", "--a"}) {
        if (Chance(2)) out[key] = Make(schema["additionalProperties"]);
      }
      // v1alpha1 can't say both: it refuses them, or takes them for one.
      if (!schema["additionalProperties"].contains("type") && out.contains("a")) out.erase("--a");
      return out;
    }
    static const Json kNone = Json::object();
    for (const auto& [name, field] : (schema.contains("properties") ? schema["properties"] : kNone).items()) {
      if (Chance(3)) out[name] = name == "image" && !field.contains("type") ? Image() : Make(field);
    }
    for (const Json& name : schema.value("required", Json::array())) {
      std::string text = name;
      if (!out.contains(text)) out[text] = Make(schema["properties"][text]);
    }
    Repair(out);
    return out;
  }

  // What the schemas' rules exclude.
  static void Repair(Json& object) {
    if (object.contains("metricsAddress")) object.erase("metrics");
    if (object.contains("imageUrl")) object.erase("image");
  }

  Json MakeList(const Json& schema) {
    Json out = Json::array();
    while (Chance(2)) {
      Json item = Make(schema["items"]);
      if (item.contains("name")) item["name"] = "n" + std::to_string(out.size());  // which the API server has differ
      out.push_back(std::move(item));
    }
    return out;
  }

  std::mt19937 random_;
};

// Every member is one that the schema has, of its type.
void ExpectFits(const Json& value, const Json& schema, const std::string& path) {
  if (!schema.contains("type")) return;
  std::string type = GetString(schema, {"type"});
  bool fits = type == "object"    ? value.is_object()
              : type == "array"   ? value.is_array()
              : type == "boolean" ? value.is_boolean()
              : type == "integer" ? value.is_number_integer()
                                  : value.is_string();
  EXPECT_TRUE(fits) << path << " is no " << type << ": " << value;
  if (!fits || schema.contains("x-kubernetes-preserve-unknown-fields")) return;
  if (value.is_array()) {
    for (const Json& item : value) ExpectFits(item, schema["items"], path + "[]");
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    if (schema.contains("additionalProperties")) {
      ExpectFits(member, schema["additionalProperties"], path + "." + name);
    } else if (schema["properties"].contains(name)) {
      ExpectFits(member, schema["properties"][name], path + "." + name);
    } else {
      ADD_FAILURE() << path << "." << name << " is no field";
    }
  }
}

// A3: of an argument that v1alpha2 has without dashes, true became "true" when v1alpha2 had written it back.
TEST(Convert, AnArgumentWithoutDashesKeepsItsType) {
  Json edited = *Convert(Object(kNew, Spec("{manager: {additionalArgs: {a: x}}}")), kOld);
  edited["spec"]["manager"]["additionalArgs"]["a"] = true;
  const Json stored = *Convert(edited, kNew);
  EXPECT_EQ(stored["spec"], Spec("{manager: {additionalArgs: {a: 'true'}}}"));
  EXPECT_EQ((*Convert(stored, kOld))["spec"], Spec("{manager: {additionalArgs: {a: true}}}"));
}

// A3: of any spec that the schemas allow.
TEST(Convert, NothingOfAnObjectIsLost) {
  const struct {
    ApiVersion version;
    std::string_view from, to;
    ApiVersion other;
  } ways[] = {{ApiVersion::kV1Alpha1, kOld, kNew, ApiVersion::kV1Alpha2},
              {ApiVersion::kV1Alpha2, kNew, kOld, ApiVersion::kV1Alpha1}};
  for (const auto& way : ways) {
    const Json schema = schema::Spec(way.version), other = schema::Spec(way.other);
    Maker maker(7);
    for (int i = 0; i < 500; ++i) {
      Json object = Object(way.from, maker.Make(schema));
      auto there = Convert(object, way.to);
      ASSERT_TRUE(there.ok()) << there.error().message << "\n" << object;
      ExpectFits((*there)["spec"], other, "spec");
      auto back = Convert(*there, way.from);
      ASSERT_TRUE(back.ok());
      ASSERT_EQ(*back, object) << "by way of " << *there;
      // Somebody replaces a part: it is there, and stays when the other version writes it back.
      Json edited = *there;
      Json part = maker.Make(other);
      for (const char* name : {"manager", "deployment"}) {
        if (part.contains(name)) edited["spec"][name] = part[name];
      }
      auto seen = Convert(edited, way.from);
      ASSERT_TRUE(seen.ok()) << seen.error().message << "\n" << edited;
      EXPECT_EQ((*Convert(*seen, way.to))["spec"], edited["spec"]) << *seen;
      if (HasFailure()) FAIL() << object;
    }
  }
}

}  // namespace
}  // namespace capi::api
