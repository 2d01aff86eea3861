#include "operator/webhooks/admission_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/webhooks/admission_testing.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

TEST(ParseAdmissionReview, TakesTheRequestApart) {
  auto request = ParseAdmissionReview(testing::Review("{spec: {version: v1.0.0}}", "{spec: {version: v0.9.0}}"));
  ASSERT_TRUE(request.ok()) << request.error().message;
  EXPECT_EQ(request->uid, "u-1");
  EXPECT_EQ(request->id, (api::ProviderId{api::ProviderType::kInfrastructure, "ns", "aws"}));
  EXPECT_TRUE(request->update);
  EXPECT_EQ(GetString(request->user, {"username"}), "alice");
  EXPECT_EQ(request->field_manager, "kubectl");
  EXPECT_EQ(GetString(request->object.json(), {"spec", "version"}), "v1.0.0");
  EXPECT_EQ(GetString(request->old.json(), {"spec", "version"}), "v0.9.0");
}

TEST(ParseAdmissionReview, TellsWhatChanged) {
  struct Case {
    std::string_view object, old;
    bool spec, annotations;
  };
  const Case cases[] = {
      {"{}", "", true, true},
      {"{spec: {a: 1}}", "{spec: {a: 1}}", false, false},
      {"{spec: {a: 1}}", "{spec: {a: 2}}", true, false},
      {"{spec: {a: 1}}", "{}", true, false},
      {"{spec: {a: 1}, status: {b: 1}, metadata: {finalizers: [x]}}", "{spec: {a: 1}}", false, false},
      {"{metadata: {annotations: {a: b}}}", "{}", false, true},
      {"{metadata: {annotations: {a: b}}}", "{metadata: {annotations: {a: c}}}", false, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.object);
    auto request = ParseAdmissionReview(testing::Review(c.object, c.old));
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(request->SpecChanged(), c.spec);
    EXPECT_EQ(request->AnnotationsChanged(), c.annotations);
  }
}

TEST(ParseAdmissionReview, RefusesWhatIsNoReviewOfOurKinds) {
  struct Case {
    std::string_view patch, message;
  };
  const Case cases[] = {
      {"{kind: ConversionReview}", "the body must be a AdmissionReview of admission.k8s.io/v1 with a request"},
      {"{apiVersion: admission.k8s.io/v1beta1}", "the body must be"},
      {"{request: null}", "the body must be"},
      {"{request: []}", "the body must be"},
      {"{request: {kind: {group: apps}}}", "request.kind: apps/v1alpha2, InfrastructureProvider isn't a provider kind"},
      {"{request: {kind: {version: v1alpha1}}}", "request.kind: operator.cluster.x-k8s.io/v1alpha1"},
      {"{request: {kind: {kind: Cluster}}}", "request.kind: operator.cluster.x-k8s.io/v1alpha2, Cluster isn't"},
      {"{request: {kind: null}}", "request.kind: "},
      {"{request: {kind: {kind: CoreProvider}}}", "request.object: isn't of the request's kind and version"},
      {"{request: {uid: null}}", "request.uid: must be set"},
      {"{request: {operation: DELETE}}", "request.operation: \"DELETE\" isn't one of"},
      {"{request: {userInfo: null}}", "request.userInfo.username: must be set"},
      {"{request: {object: null}}", "request.object: must be an object"},
      {"{request: {object: text}}", "request.object: must be an object"},
      {"{request: {object: {metadata: 5}}}", "request.object.metadata: must be an object"},
      {"{request: {object: {apiVersion: operator.cluster.x-k8s.io/v1alpha1}}}", "request.object: isn't of"},
      {"{request: {oldObject: null}}", "request.oldObject: must be an object"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.patch);
    Json review = testing::Review("{}", "{}");
    review.merge_patch(ParseYaml(c.patch).value());
    auto request = ParseAdmissionReview(review);
    ASSERT_FALSE(request.ok());
    EXPECT_EQ(request.code(), Code::kInvalidArgument);
    EXPECT_THAT(request.error().message, HasSubstr(std::string(c.message)));
  }
  for (const char* body : {"{}", "[]", "null", "5", "text"}) {
    EXPECT_EQ(ParseAdmissionReview(ParseYaml(body).value()).code(), Code::kInvalidArgument) << body;
  }
}

// As the API server's own refusals, which tools and people read.
TEST(Denials, AreStatusesInTheApiServersWords) {
  auto request = ParseAdmissionReview(testing::Review("{}"));
  ASSERT_TRUE(request.ok());
  using Kind = api::FieldError::Kind;
  const api::FieldError bad{Kind::kInvalid, "spec.version", "one", "no version", ""};
  const api::FieldError lacks{Kind::kRequired, "spec.configSecret.name", "", "name of the object", ""};
  EXPECT_EQ(DenyInvalid(*request, {bad}), ParseYaml(R"({apiVersion: admission.k8s.io/v1, kind: AdmissionReview,
    response: {uid: u-1, allowed: false, status: {status: Failure, code: 422, reason: Invalid,
      message: 'InfrastructureProvider.operator.cluster.x-k8s.io "aws" is invalid: spec.version: Invalid value: "one": no version',
      details: {group: operator.cluster.x-k8s.io, kind: InfrastructureProvider, name: aws, causes: [
        {reason: FieldValueInvalid, field: spec.version, message: 'Invalid value: "one": no version'}]}}}})")
                                              .value());
  EXPECT_EQ(testing::MessageIn(DenyInvalid(*request, {bad, lacks, bad})),
            "InfrastructureProvider.operator.cluster.x-k8s.io \"aws\" is invalid: [spec.version: Invalid value: "
            "\"one\": no version, spec.configSecret.name: Required value: name of the object]");
  const api::FieldError forbidden{Kind::kForbidden, "spec.a", "", "no", ""};
  Json denied = DenyForbidden(*request, {forbidden});
  EXPECT_EQ(GetInt(denied, {"response", "status", "code"}), 403);
  EXPECT_EQ(GetString(denied, {"response", "status", "reason"}), "Forbidden");
  EXPECT_EQ(testing::MessageIn(denied),
            "infrastructureproviders.operator.cluster.x-k8s.io \"aws\" is forbidden: spec.a: Forbidden: no");
  Json later = DenyForNow(*request, "the API server is away");
  EXPECT_EQ(GetInt(later, {"response", "status", "code"}), 503);
  EXPECT_FALSE(GetBool(later, {"response", "allowed"}, true));
  EXPECT_THAT(testing::MessageIn(later), HasSubstr("try again: the API server is away"));
}

}  // namespace
}  // namespace capi::ops
