#include "operator/webhooks/admission_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/reference_record.h"
#include "operator/webhooks/access_server_testing.h"
#include "operator/webhooks/admission_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageIn;
using testing::PatchIn;
using testing::Review;
using ::testing::StartsWith;

const std::string kKey(32, 'k');
const api::ProviderId kAws{api::ProviderType::kInfrastructure, "ns", "aws"};
constexpr std::string_view kForeign = "{spec: {configSecret: {name: s, namespace: other}}}";

// Alice may get Secret other/s and ConfigMap other/m, and Bob nothing.
class AdmissionTest : public ::testing::Test {
 protected:
  static bool Allowed(const Json& spec) {
    const Json* what = Find(spec, {"resourceAttributes"});
    if (what == nullptr || GetString(spec, {"user"}) != "alice" || GetString(*what, {"verb"}) != "get") return false;
    const std::string one =
        GetString(*what, {"resource"}) + "/" + GetString(*what, {"namespace"}) + "/" + GetString(*what, {"name"});
    return one == "secrets/other/s" || one == "configmaps/other/m";
  }

  Json Mutate(const Json& review) {
    auto answer = admission_.Mutate(ctx_, review);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? *answer : Json();
  }
  Json Validate(const Json& review) {
    auto answer = admission_.Validate(review);
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? *answer : Json();
  }
  // The record that an answer puts into the object; "" for none.
  static std::string RecordIn(const Json& answer) {
    for (const Json& op : PatchIn(answer)) {
      if (op["path"] == "/metadata/annotations/operator.cluster.x-k8s.io~1allowed-references" && op["op"] == "add") {
        return op["value"].get<std::string>();
      }
    }
    return "";
  }
  static Json With(Json review, std::string_view object, const std::string& record) {
    review["request"][object]["metadata"]["annotations"][std::string(api::kAnnotationAllowedReferences)] = record;
    return review;
  }
  static Json By(Json review, std::string_view user) {
    review["request"]["userInfo"] = {{"username", user}};
    return review;
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(30));
  FakeClock clock_;
  testing::AccessServer server_{Allowed};
  AccessReviews access_{*server_.client, clock_};
  Result<std::string> key_ = kKey;
  Admission admission_{{[](const api::ProviderId& id) { return id.name == "aws" || id.name == "cluster-api"; },
                        [this](const Context&) { return key_; }, access_}};
};

// I15
TEST_F(AdmissionTest, FillsTheNamespacesOfReferences) {
  struct Case {
    std::string_view spec;
    std::vector<std::string> paths;
  };
  const Case cases[] = {
      {"{}", {}},
      {"{configSecret: {name: s}}", {"/spec/configSecret/namespace"}},
      {"{configSecret: {name: s, namespace: ''}}", {"/spec/configSecret/namespace"}},
      {"{configSecret: {name: s, namespace: null}}", {"/spec/configSecret/namespace"}},
      {"{configSecret: {name: s, namespace: ns}}", {}},
      {"{configSecret: null}", {}},
      {"{configSecret: text}", {}},
      {"{additionalManifests: {name: m}}", {"/spec/additionalManifests/namespace"}},
      {"{fetchConfig: {url: a, secretRef: {name: s}, git: {secretRef: {name: s}}, verify: {secretRef: {name: s}}}}",
       {"/spec/fetchConfig/secretRef/namespace", "/spec/fetchConfig/git/secretRef/namespace",
        "/spec/fetchConfig/verify/secretRef/namespace"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    Json answer = Mutate(Review("{spec: " + std::string(c.spec) + "}"));
    EXPECT_EQ(answer["response"]["uid"], "u-1");
    EXPECT_EQ(answer["response"]["allowed"], true);
    EXPECT_EQ(answer["response"].contains("patchType"), !c.paths.empty());
    std::vector<std::string> paths;
    for (const Json& op : PatchIn(answer)) {
      EXPECT_EQ(op["op"], "add");
      EXPECT_EQ(op["value"], "ns");
      paths.push_back(op["path"].get<std::string>());
    }
    EXPECT_EQ(paths, c.paths);
  }
  EXPECT_THAT(server_.asked(), IsEmpty()) << "nothing of that needs a right";
}

// I15: a finalizer must be removable, and labels changeable, from an object that is wrong.
TEST_F(AdmissionTest, LeavesAloneWhatIsDeletedOrUnchanged) {
  const std::string wrong = "{spec: {version: one, configSecret: {name: s}}}";
  const std::string going =
      "{metadata: {deletionTimestamp: '2026-01-02T03:04:05Z'}, spec: {version: two, configSecret: {name: s, namespace: "
      "secluded}}}";
  for (const Json& review : {Review(wrong, wrong), Review(going, wrong)}) {
    EXPECT_EQ(Mutate(review)["response"], Json({{"uid", "u-1"}, {"allowed", true}}));
    EXPECT_EQ(Validate(review)["response"], Json({{"uid", "u-1"}, {"allowed", true}}));
  }
  EXPECT_EQ(Validate(Review(wrong))["response"]["allowed"], false);
  EXPECT_EQ(Validate(Review(wrong, "{spec: {version: v1.0.0}}"))["response"]["allowed"], false);
}

// I15: what preflight would refuse.
TEST_F(AdmissionTest, RefusesWhatCanNotBeReconciled) {
  struct Case {
    std::string_view object, old, message;
    std::string_view kind = "InfrastructureProvider";
  };
  const Case cases[] = {
      {"{spec: {version: v1.0.0}}", "", ""},
      {"{}", "", ""},
      {"{spec: {version: one}}", "", "is invalid: spec.version: Invalid value: \"one\": "},
      {"{metadata: {name: mine}}", "", "is invalid: spec.fetchConfig: Required value: "},
      {"{metadata: {name: mine}}", "", "is invalid: [metadata.name: Invalid value: \"mine\": ", "CoreProvider"},
      {"{metadata: {name: cluster-api}}", "", "", "CoreProvider"},
      {"{spec: {manager: {syncPeriod: never}}}", "", "is invalid: spec.manager.syncPeriod: Invalid value: "},
      {"{spec: {manager: {debug: true, verbosity: 3}}}", "{spec: {manager: {debug: true}}}",
       "is invalid: spec.manager: Forbidden: can't change while debug is true"},
      {"{spec: {version: v1.0.0}}", "{spec: 5}", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.object);
    const Json response = Validate(Review(c.object, c.old, c.kind))["response"];
    EXPECT_EQ(response["allowed"], c.message.empty());
    if (c.message.empty()) continue;
    EXPECT_EQ(GetInt(response, {"status", "code"}), 422);
    EXPECT_THAT(GetString(response, {"status", "message"}), HasSubstr(std::string(c.message)));
  }
}

// I15
TEST_F(AdmissionTest, WarnsWhereSomethingChanged) {
  const std::string zero = "{spec: {deployment: {replicas: 0}}}";
  EXPECT_THAT(Validate(Review(zero))["response"]["warnings"].get<std::vector<std::string>>(),
              ElementsAre(StartsWith("spec.deployment.replicas: ")));
  EXPECT_FALSE(Validate(Review(zero, zero))["response"].contains("warnings"));
  EXPECT_TRUE(
      Validate(Review("{metadata: {annotations: {operator.cluster.x-k8s.io/force-delete: 'true'}}}", "{}"))["response"]
          .contains("warnings"));
  EXPECT_FALSE(Validate(Review("{spec: {version: v1.0.0}}"))["response"].contains("warnings"));
}

// T1: a reference into another namespace needs the right to get what it names, and is on record then.
TEST_F(AdmissionTest, RecordsWhoMayReferThere) {
  Json answer = Mutate(Review(kForeign));
  EXPECT_EQ(answer["response"]["allowed"], true);
  const std::string record = RecordIn(answer);
  EXPECT_EQ(GetString(*ParseJson(record), {"user"}), "alice");
  EXPECT_TRUE(api::RecordCovers(record, kKey, kAws, {{"spec.configSecret.namespace", "other", "Secret", "s"}}));
  EXPECT_EQ(PatchIn(answer)[0]["path"], "/metadata/annotations") << "which the object didn't have";
  ASSERT_EQ(server_.asked().size(), 1u);
  EXPECT_EQ(server_.asked()[0], *ParseJson(R"({"user":"alice","uid":"7","groups":["people"],"extra":{"scope":["x"]},
    "resourceAttributes":{"verb":"get","group":"","version":"v1","resource":"secrets","namespace":"other",
    "name":"s"}})"));

  answer =
      Mutate(Review("{spec: {configSecret: {name: s, namespace: other}, additionalManifests: {name: m, "
                    "namespace: other}}, metadata: {annotations: {a: b}}}"));
  ASSERT_EQ(PatchIn(answer).size(), 1u) << "annotations stay";
  EXPECT_TRUE(api::RecordCovers(RecordIn(answer), kKey, kAws,
                                {{"spec.configSecret.namespace", "other", "Secret", "s"},
                                 {"spec.additionalManifests.namespace", "other", "ConfigMap", "m"}}));
}

TEST_F(AdmissionTest, RefusesReferencesOfWhomMayNotRead) {
  const Json response = Mutate(By(Review(kForeign), "bob"))["response"];
  EXPECT_EQ(response["allowed"], false);
  EXPECT_EQ(GetInt(response, {"status", "code"}), 403);
  EXPECT_EQ(GetString(response, {"status", "message"}),
            "infrastructureproviders.operator.cluster.x-k8s.io \"aws\" is forbidden: spec.configSecret.namespace: "
            "Forbidden: user \"bob\" cannot get resource \"secrets\" in API group \"\" in the namespace \"other\", "
            "named \"s\": a reference into another namespace needs that right");
  EXPECT_EQ(response["status"]["details"]["causes"][0]["field"], "spec.configSecret.namespace");
  // One of two is enough, and each is said.
  Json two = Review(
      "{spec: {configSecret: {name: s, namespace: other}, additionalManifests: {name: s, namespace: "
      "other}}}");
  Json answer = Mutate(two);
  EXPECT_THAT(MessageIn(answer), HasSubstr("spec.additionalManifests.namespace: Forbidden: user \"alice\" cannot get "
                                           "resource \"configmaps\""));
  EXPECT_EQ(answer["response"]["status"]["details"]["causes"].size(), 1u);
  EXPECT_EQ(Mutate(By(two, "bob"))["response"]["status"]["details"]["causes"].size(), 2u);
}

// T1: the record stays with its references, whoever changes the rest.
TEST_F(AdmissionTest, KeepsARecordAsLongAsItHolds) {
  const std::string record = RecordIn(Mutate(Review(kForeign)));
  const std::string paused = "{spec: {paused: true, configSecret: {name: s, namespace: other}}}";
  const Json change = By(With(Review(paused, kForeign), "oldObject", record), "bob");
  EXPECT_EQ(RecordIn(Mutate(change)), record) << "whoever writes without it";
  EXPECT_EQ(RecordIn(Mutate(With(change, "object", "{}"))), record);
  EXPECT_EQ(PatchIn(Mutate(With(change, "object", record))), Json::array());
  EXPECT_EQ(server_.asked().size(), 1u) << "nobody but the writer was asked about";

  Json gone = With(With(Review("{}", kForeign), "oldObject", record), "object", record);
  EXPECT_EQ(PatchIn(Mutate(By(gone, "bob"))), *ParseJson(R"([{"op":"remove",
              "path":"/metadata/annotations/operator.cluster.x-k8s.io~1allowed-references"}])"));
  const std::string other = "{spec: {configSecret: {name: t, namespace: other}}}";
  Json moved = With(With(Review(other, kForeign), "oldObject", record), "object", record);
  EXPECT_EQ(Mutate(moved)["response"]["allowed"], false) << "Alice may not get that one";
}

TEST_F(AdmissionTest, ACopiedRecordIsNone) {
  const std::string record = RecordIn(Mutate(Review(kForeign)));
  Json copy = Review(kForeign);
  copy["request"]["object"]["metadata"]["name"] = "azure";
  EXPECT_EQ(Mutate(By(With(copy, "object", record), "bob"))["response"]["allowed"], false);
  Json void_one = With(Review("{spec: {paused: true, configSecret: {name: s, namespace: other}}}", kForeign),
                       "oldObject", "by hand");
  EXPECT_EQ(Mutate(By(void_one, "bob"))["response"]["allowed"], false);
  EXPECT_EQ(GetString(*ParseJson(RecordIn(Mutate(void_one))), {"user"}), "alice") << "who has the right";
}

// T1: a client may call itself as the operator does; a pasted record is judged all the same.
TEST_F(AdmissionTest, APastedRecordIsJudgedWhateverTheFieldManager) {
  const std::string pasted = RecordIn(Mutate(Review(kForeign)));
  Json paste = By(With(Review(kForeign, kForeign), "object", pasted), "bob");
  paste["request"]["options"]["fieldManager"] = "capi-operator";
  EXPECT_EQ(Mutate(paste)["response"]["allowed"], false);
}

// T1: a record is for one name, and at this time there is none.
TEST_F(AdmissionTest, RefusesReferencesOfAGeneratedName) {
  Json nameless = Review(kForeign);
  nameless["request"]["object"]["metadata"] = {{"generateName", "aws-"}};
  Json answer = Mutate(nameless);
  EXPECT_EQ(GetInt(answer, {"response", "status", "code"}), 403);
  EXPECT_THAT(MessageIn(answer), HasSubstr("metadata.generateName: Forbidden: "));
  nameless["request"]["object"]["spec"] = Json::object();
  EXPECT_EQ(Mutate(nameless)["response"]["allowed"], true);
}

// T1: the way out of a key that can't be read is open: nothing of that needs it.
TEST_F(AdmissionTest, WithoutTheKeyAReferenceCanBeTakenAway) {
  const std::string record = RecordIn(Mutate(Review(kForeign)));
  key_ = Error{Code::kUnavailable, "the key is away", {}};
  const Json gone = With(With(Review("{}", kForeign), "oldObject", record), "object", record);
  EXPECT_EQ(Mutate(gone)["response"]["allowed"], true);
  Json labelled = With(With(Review(kForeign, kForeign), "oldObject", record), "object", record);
  labelled["request"]["object"]["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_EQ(Mutate(labelled)["response"], Json({{"uid", "u-1"}, {"allowed", true}}));
  labelled["request"]["object"]["spec"]["paused"] = true;
  EXPECT_EQ(GetInt(Mutate(labelled), {"response", "status", "code"}), 503);
}

// T1: closed while nobody can tell.
TEST_F(AdmissionTest, RefusesForNowWhereNobodyCanTell) {
  key_ = Error{Code::kUnavailable, "the key is away", {}};
  Json answer = Mutate(Review(kForeign));
  EXPECT_EQ(answer["response"]["allowed"], false);
  EXPECT_EQ(GetInt(answer, {"response", "status", "code"}), 503);
  EXPECT_THAT(MessageIn(answer), HasSubstr("the key is away"));
  key_ = kKey;
  server_.Fail(500);
  clock_.Advance(kAccessAnswerLasts);
  EXPECT_EQ(GetInt(Mutate(Review(kForeign)), {"response", "status", "code"}), 503);
  EXPECT_EQ(Mutate(Review("{spec: {configSecret: {name: s}}}"))["response"]["allowed"], true);
}

// An object as large as the store takes, and what is no review at all.
TEST_F(AdmissionTest, TakesWhateverTheApiServerSends) {
  Json large = Review("{spec: {version: v1.0.0, configSecret: {name: s}}}");
  large["request"]["object"]["metadata"]["annotations"]["large"] = std::string(1u << 20, 'x');
  EXPECT_EQ(PatchIn(Mutate(large)).size(), 1u);
  EXPECT_EQ(Validate(large)["response"]["allowed"], true);
  large["request"]["object"]["spec"]["manifestPatches"] = Json::array({std::string(1u << 20, '[')});
  const Json refused = Validate(large);
  EXPECT_EQ(refused["response"]["allowed"], false);
  EXPECT_LT(ToJsonText(refused).size(), 10'000u) << "an answer of a size that people read";
  for (const Json& none : {Json(), Json::object(), Json("text"), Json{{"request", Json::object()}}}) {
    EXPECT_EQ(admission_.Mutate(ctx_, none).code(), Code::kInvalidArgument);
    EXPECT_EQ(admission_.Validate(none).code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace capi::ops
