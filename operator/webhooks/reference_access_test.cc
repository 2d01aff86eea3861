#include "operator/webhooks/reference_access.h"

#include <gtest/gtest.h>

#include "operator/webhooks/admission_testing.h"

namespace capi::ops {
namespace {

const std::vector<api::ForeignReference> kNone, kOne = {{"spec.configSecret.namespace", "other", "Secret", "s"}},
                                                kAnother = {{"spec.configSecret.namespace", "other", "Secret", "t"}};

// T1: who writes a reference is asked for his rights; who only touches the object gives it none.
TEST(RecordSteps, FollowWhoWroteTheReference) {
  const std::string record = "{metadata: {annotations: {operator.cluster.x-k8s.io/allowed-references: r}}}";
  const std::string another = "{metadata: {annotations: {operator.cluster.x-k8s.io/allowed-references: q}}}";
  struct Case {
    std::string_view name, object, old;
    std::vector<api::ForeignReference> now, before;
    RecordStep step;
    std::string_view manager = "kubectl";
  };
  const Case cases[] = {
      {"nothing to record", "{}", "", kNone, kNone, RecordStep::kRemove},
      {"the reference is gone", record, record, kNone, kOne, RecordStep::kRemove},
      {"created", "{}", "", kOne, kNone, RecordStep::kAsk},
      {"created with a record", record, "", kOne, kNone, RecordStep::kAsk},
      {"written", "{}", "{}", kOne, kNone, RecordStep::kAsk},
      {"changed", record, record, kAnother, kOne, RecordStep::kAsk},
      {"changed by the operator itself", record, record, kAnother, kOne, RecordStep::kAsk, "capi-operator"},
      {"something else changed", "{spec: {paused: true}}", record, kOne, kOne, RecordStep::kKeepOrAsk},
      {"never recorded, and its spec changed", "{spec: {paused: true}}", "{}", kOne, kOne, RecordStep::kKeepOrAsk},
      {"labels changed", "{metadata: {labels: {a: b}}}", "{}", kOne, kOne, RecordStep::kLeave},
      {"a record written by hand", record, "{}", kOne, kOne, RecordStep::kKeepOrAsk},
      {"another one written by hand", another, record, kOne, kOne, RecordStep::kKeepOrAsk},
      {"an empty one", "{metadata: {annotations: {operator.cluster.x-k8s.io/allowed-references: ''}}}", "{}", kOne,
       kOne, RecordStep::kKeepOrAsk},
      {"a record that stays", record, record, kOne, kOne, RecordStep::kLeave},
      {"a record taken away", "{}", record, kOne, kOne, RecordStep::kKeepOrAsk},
      {"the operator's own finalizer", "{metadata: {finalizers: [a]}}", "{}", kOne, kOne, RecordStep::kLeave,
       "capi-operator"},
      {"the version that the operator picked", "{spec: {version: v1.0.0}}", "{}", kOne, kOne, RecordStep::kLeave,
       "capi-operator"},
      {"a record added under the operator's name", record, "{}", kOne, kOne, RecordStep::kKeepOrAsk, "capi-operator"},
      {"one changed under it", another, record, kOne, kOne, RecordStep::kKeepOrAsk, "capi-operator"},
      {"one removed under it", "{}", record, kOne, kOne, RecordStep::kKeepOrAsk, "capi-operator"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Json review = testing::Review(c.object, c.old);
    review["request"]["options"]["fieldManager"] = c.manager;
    auto request = ParseAdmissionReview(review);
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(StepOf(*request, c.now, c.before), c.step);
  }
}

}  // namespace
}  // namespace capi::ops
