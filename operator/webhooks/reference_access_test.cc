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
  struct Case {
    std::string_view name, object, old;
    std::vector<api::ForeignReference> now, before;
    bool genuine;
    RecordStep step;
    std::string_view manager = "kubectl";
  };
  const Case cases[] = {
      {"nothing to record", "{}", "", kNone, kNone, false, RecordStep::kRemove},
      {"the reference is gone", record, record, kNone, kOne, true, RecordStep::kRemove},
      {"created", "{}", "", kOne, kNone, false, RecordStep::kAsk},
      {"created with a record", record, "", kOne, kNone, false, RecordStep::kAsk},
      {"written", "{}", "{}", kOne, kNone, false, RecordStep::kAsk},
      {"changed", record, record, kAnother, kOne, true, RecordStep::kAsk},
      {"changed by the operator itself", record, record, kAnother, kOne, true, RecordStep::kAsk, "capi-operator"},
      {"something else changed", "{spec: {paused: true}}", record, kOne, kOne, true, RecordStep::kKeep},
      {"never recorded, and its spec changed", "{spec: {paused: true}}", "{}", kOne, kOne, false, RecordStep::kAsk},
      {"never recorded, and its labels changed", "{metadata: {labels: {a: b}}}", "{}", kOne, kOne, false,
       RecordStep::kLeave},
      {"a record written by hand", record, "{}", kOne, kOne, false, RecordStep::kAsk},
      {"another one written by hand", "{metadata: {annotations: {operator.cluster.x-k8s.io/allowed-references: q}}}",
       record, kOne, kOne, false, RecordStep::kAsk},
      {"an empty one", "{metadata: {annotations: {operator.cluster.x-k8s.io/allowed-references: ''}}}", "{}", kOne,
       kOne, false, RecordStep::kAsk},
      {"a void record that stays", record, record, kOne, kOne, false, RecordStep::kLeave},
      {"a void record taken away", "{}", record, kOne, kOne, false, RecordStep::kAsk},
      {"the operator's own finalizer", "{metadata: {finalizers: [a]}}", "{}", kOne, kOne, false, RecordStep::kLeave,
       "capi-operator"},
      {"the version that the operator picked", "{spec: {version: v1.0.0}}", "{}", kOne, kOne, false, RecordStep::kLeave,
       "capi-operator"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Json review = testing::Review(c.object, c.old);
    review["request"]["options"]["fieldManager"] = c.manager;
    auto request = ParseAdmissionReview(review);
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(StepOf(*request, c.now, c.before, c.genuine), c.step);
  }
}

}  // namespace
}  // namespace capi::ops
