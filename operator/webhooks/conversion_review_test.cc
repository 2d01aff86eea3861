#include "operator/webhooks/conversion_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

Json Review(std::string_view objects, std::string_view to = "operator.cluster.x-k8s.io/v1alpha2") {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "ConversionReview"},
          {"request", {{"uid", "u-1"}, {"desiredAPIVersion", to}, {"objects", ParseYaml(objects).value()}}}};
}

// A3.
TEST(ReviewConversion, AnswersWithAllObjects) {
  auto answer = ReviewConversion(Review(R"([
{apiVersion: operator.cluster.x-k8s.io/v1alpha1, kind: CoreProvider, metadata: {name: a, namespace: ns}, spec: {secretName: s}},
{apiVersion: operator.cluster.x-k8s.io/v1alpha2, kind: CoreProvider, metadata: {name: b, namespace: ns}, spec: {}}])"));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(*answer, ParseYaml(R"({apiVersion: apiextensions.k8s.io/v1, kind: ConversionReview, response: {
uid: u-1, result: {status: Success}, convertedObjects: [
{apiVersion: operator.cluster.x-k8s.io/v1alpha2, kind: CoreProvider, metadata: {name: a, namespace: ns},
 spec: {configSecret: {name: s}}},
{apiVersion: operator.cluster.x-k8s.io/v1alpha2, kind: CoreProvider, metadata: {name: b, namespace: ns}, spec: {}}]}})")
                         .value());
}

// A3: of a list all are refused, with the name of the one that is wrong.
TEST(ReviewConversion, NamesTheObjectThatCannotBeConverted) {
  struct Case {
    std::string_view objects, to, message;
  };
  const Case cases[] = {
      {"[{apiVersion: operator.cluster.x-k8s.io/v1alpha1, kind: CoreProvider, metadata: {name: a, namespace: ns},"
       " spec: {deployment: {containers: [{name: m, image: {tga: v1}}]}}}]",
       "operator.cluster.x-k8s.io/v1alpha2",
       "CoreProvider ns/a: spec.deployment.containers[0].image.tga: unknown field"},
      {"[{apiVersion: example.com/v1, kind: Other, metadata: {name: a, namespace: ns}}]",
       "operator.cluster.x-k8s.io/v1alpha2", "Other ns/a: apiVersion: \"example.com/v1\": only"},
      {"[{apiVersion: operator.cluster.x-k8s.io/v1alpha1}]", "operator.cluster.x-k8s.io/v1",
       "object /: apiVersion: \"operator.cluster.x-k8s.io/v1\": only"},
      {"[5]", "operator.cluster.x-k8s.io/v1alpha2", "object /: must be an object"},
  };
  for (const auto& c : cases) {
    auto answer = ReviewConversion(Review(c.objects, c.to));
    ASSERT_TRUE(answer.ok());
    const Json& response = (*answer)["response"];
    EXPECT_EQ(response["uid"], "u-1");
    EXPECT_EQ(response["convertedObjects"], Json::array());
    EXPECT_EQ(response["result"]["status"], "Failure");
    EXPECT_THAT(GetString(response, {"result", "message"}), testing::HasSubstr(std::string(c.message)));
  }
}

TEST(ReviewConversion, RefusesWhatIsNoReview) {
  for (std::string_view body :
       {"{}", "[]", "null", "{apiVersion: apiextensions.k8s.io/v1, kind: ConversionReview}",
        "{apiVersion: apiextensions.k8s.io/v1beta1, kind: ConversionReview, request: {objects: []}}",
        "{apiVersion: admission.k8s.io/v1, kind: AdmissionReview, request: {objects: []}}",
        "{apiVersion: apiextensions.k8s.io/v1, kind: ConversionReview, request: {objects: {}}}"}) {
    EXPECT_EQ(ReviewConversion(ParseYaml(body).value()).code(), Code::kInvalidArgument) << body;
  }
}

}  // namespace
}  // namespace capi::ops
