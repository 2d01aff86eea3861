#include "kube/meta/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::kube {
namespace {

struct Case {
  std::string_view name, api_version, kind;
  std::string_view rest;  // metadata, spec and status
  HealthState state;
  std::string_view message;
};

void Check(const Case& c) {
  SCOPED_TRACE(c.name);
  Json json = Json::parse(c.rest);
  json["apiVersion"] = c.api_version;
  json["kind"] = c.kind;
  Health health = HealthOf(Object(json));
  EXPECT_EQ(static_cast<int>(health.state), static_cast<int>(c.state)) << health.message;
  EXPECT_THAT(health.message, testing::HasSubstr(c.message));
}

constexpr HealthState kCurrent = HealthState::kCurrent, kInProgress = HealthState::kInProgress,
                      kFailed = HealthState::kFailed, kTerminating = HealthState::kTerminating;

TEST(HealthOf, DeploymentByTheKstatusRules) {  // docs/behaviour.md I10
  const Case cases[] = {
      {"just made", "apps/v1", "Deployment", R"({"metadata":{"generation":1},"spec":{"replicas":1}})", kInProgress,
       "hasn't seen it"},
      {"spec changed", "apps/v1", "Deployment", R"({"metadata":{"generation":3},"status":{"observedGeneration":2}})",
       kInProgress, "generation 3 is not observed"},
      {"no pods yet", "apps/v1", "Deployment",
       R"({"metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":1}})",
       kInProgress, "1 of 2 replicas are there"},
      {"old pods serve", "apps/v1", "Deployment",
       R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"availableReplicas":1}})", kInProgress,
       "0 of 1 replicas are updated"},
      {"old pods go", "apps/v1", "Deployment",
       R"({"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":1,
         "availableReplicas":2}})",
       kInProgress, "1 old replicas are going"},
      {"not available", "apps/v1", "Deployment",
       R"({"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1}})", kInProgress,
       "0 of 1 replicas are available"},
      {"not ready", "apps/v1", "Deployment",
       R"({"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"availableReplicas":1}})", kInProgress,
       "0 of 1 replicas are ready"},
      {"counts right, condition not yet", "apps/v1", "Deployment",
       R"({"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"availableReplicas":1,
         "readyReplicas":1}})",
       kInProgress, "not Available"},
      {"rollout not declared done", "apps/v1", "Deployment",
       R"({"spec":{"progressDeadlineSeconds":600},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,
         "availableReplicas":1,"readyReplicas":1,"conditions":[{"type":"Available","status":"True"},
         {"type":"Progressing","status":"True","reason":"ReplicaSetUpdated"}]}})",
       kInProgress, "new ReplicaSet"},
      {"done", "apps/v1", "Deployment",
       R"({"metadata":{"generation":1},"spec":{"progressDeadlineSeconds":600},"status":{"observedGeneration":1,
         "replicas":1,"updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,
         "conditions":[{"type":"Available","status":"True"},
         {"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}})",
       kCurrent, "1 of 1 replicas are available"},
      {"done without a deadline", "apps/v1", "Deployment",
       R"({"spec":{"progressDeadlineSeconds":2147483647},"status":{"observedGeneration":1,"replicas":1,
         "updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,
         "conditions":[{"type":"Available","status":"True"}]}})",
       kCurrent, ""},
      {"scaled to zero", "apps/v1", "Deployment",
       R"({"spec":{"replicas":0},"status":{"observedGeneration":1,
         "conditions":[{"type":"Available","status":"True"}]}})",
       kCurrent, "0 of 0"},
      {"deadline passed", "apps/v1", "Deployment",
       R"({"status":{"observedGeneration":1,"conditions":[{"type":"Progressing","status":"False",
         "reason":"ProgressDeadlineExceeded","message":"timed out"}]}})",
       kFailed, "ProgressDeadlineExceeded: timed out"},
      {"going", "apps/v1", "Deployment", R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})", kTerminating,
       "being deleted"},
  };
  for (const Case& c : cases) Check(c);
}

TEST(HealthOf, OtherWorkloads) {
  const Case cases[] = {
      {"set behind", "apps/v1", "StatefulSet", R"({"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":2,
         "readyReplicas":1}})",
       kInProgress, "1 of 2 replicas are ready"},
      {"set rolling", "apps/v1", "StatefulSet", R"({"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,
         "currentRevision":"a","updateRevision":"b"}})",
       kInProgress, "0 of 1 replicas are updated"},
      {"set done", "apps/v1", "StatefulSet", R"({"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}},
         "status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"currentRevision":"a",
         "updateRevision":"a"}})",
       kCurrent, "1 of 1"},
      {"set with a partition", "apps/v1", "StatefulSet", R"({"spec":{"replicas":3,"updateStrategy":{"rollingUpdate":
         {"partition":2}}},"status":{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":1,
         "currentRevision":"a","updateRevision":"b"}})",
       kCurrent, "3 of 3"},
      {"daemons unseen", "apps/v1", "DaemonSet", R"({"status":{"desiredNumberScheduled":0}})", kInProgress, "seen"},
      {"daemons behind", "apps/v1", "DaemonSet", R"({"status":{"observedGeneration":1,"desiredNumberScheduled":2,
         "currentNumberScheduled":2,"updatedNumberScheduled":1}})",
       kInProgress, "1 of 2 replicas are updated"},
      {"daemons on no node", "apps/v1", "DaemonSet", R"({"status":{"observedGeneration":1,
         "desiredNumberScheduled":0}})",
       kCurrent, "0 of 0"},
      {"daemons updated by hand", "apps/v1", "DaemonSet", R"({"spec":{"updateStrategy":{"type":"OnDelete"}},
         "status":{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2,
         "numberReady":2}})",
       kCurrent, "2 of 2"},
      {"and not ready", "apps/v1", "DaemonSet", R"({"spec":{"updateStrategy":{"type":"OnDelete"}},
         "status":{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2,
         "numberReady":1}})",
       kInProgress, "1 of 2 replicas are ready"},
      {"job to start", "batch/v1", "Job", R"({})", kInProgress, "hasn't started"},
      {"job runs", "batch/v1", "Job", R"({"status":{"startTime":"2026-01-01T00:00:00Z","active":1}})", kCurrent,
       "1 active"},
      {"job done", "batch/v1", "Job", R"({"status":{"conditions":[{"type":"Complete","status":"True"}]}})", kCurrent,
       "complete"},
      {"job failed", "batch/v1", "Job", R"({"status":{"startTime":"x","conditions":[{"type":"Failed","status":"True",
         "reason":"BackoffLimitExceeded","message":"too often"}]}})",
       kFailed, "BackoffLimitExceeded: too often"},
      {"pod crashes", "v1", "Pod", R"({"status":{"phase":"Running","containerStatuses":[{"state":{"waiting":
         {"reason":"CrashLoopBackOff"}}}]}})",
       kFailed, "CrashLoopBackOff"},
      {"pod waits for its image", "v1", "Pod", R"({"status":{"phase":"Pending","containerStatuses":[{"state":
         {"waiting":{"reason":"ImagePullBackOff"}}}]}})",
       kInProgress, "ImagePullBackOff"},
      {"pod without a node", "v1", "Pod", R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",
         "status":"False","reason":"Unschedulable","message":"0/3 nodes"}]}})",
       kInProgress, "0/3 nodes"},
      {"pod ready", "v1", "Pod", R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
       kCurrent, "ready"},
      {"claim", "v1", "PersistentVolumeClaim", R"({"status":{"phase":"Pending"}})", kInProgress, "Pending"},
  };
  for (const Case& c : cases) Check(c);
}

TEST(HealthOf, ReplicaSets) {
  const Case cases[] = {
      {"replicas unlabelled", "apps/v1", "ReplicaSet", R"({"status":{"observedGeneration":1}})", kInProgress,
       "0 of 1 replicas are labelled"},
      {"replicas not available", "apps/v1", "ReplicaSet",
       R"({"status":{"observedGeneration":1,"fullyLabeledReplicas":1}})", kInProgress, "0 of 1 replicas are available"},
      {"replicas not ready", "apps/v1", "ReplicaSet",
       R"({"status":{"observedGeneration":1,"fullyLabeledReplicas":1,"availableReplicas":1}})", kInProgress,
       "0 of 1 replicas are ready"},
      {"replicas too many", "apps/v1", "ReplicaSet",
       R"({"status":{"observedGeneration":1,"fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":2,
         "replicas":2}})",
       kInProgress, "1 replicas too many are going"},
      {"replicas there", "apps/v1", "ReplicaSet",
       R"({"status":{"observedGeneration":1,"fullyLabeledReplicas":1,"availableReplicas":1,"readyReplicas":1,
         "replicas":1}})",
       kCurrent, "1 of 1"},
      {"quota", "apps/v1", "ReplicaSet", R"({"status":{"observedGeneration":1,"conditions":[{"type":"ReplicaFailure",
         "status":"True","reason":"FailedCreate","message":"exceeded quota"}]}})",
       kInProgress, "exceeded quota"},
  };
  for (const Case& c : cases) Check(c);
}

TEST(HealthOf, ApisAndAnythingElse) {
  const Case cases[] = {
      {"new CRD", "apiextensions.k8s.io/v1", "CustomResourceDefinition", R"({})", kInProgress, "not established"},
      {"names taken", "apiextensions.k8s.io/v1", "CustomResourceDefinition", R"({"status":{"conditions":[
         {"type":"NamesAccepted","status":"False","reason":"ShortNamesConflict","message":"taken"},
         {"type":"Established","status":"True"}]}})",
       kFailed, "ShortNamesConflict"},
      {"bad CA", "apiextensions.k8s.io/v1", "CustomResourceDefinition", R"({"status":{"conditions":[
         {"type":"Established","status":"False","reason":"InvalidCABundle"}]}})",
       kFailed, "InvalidCABundle"},
      {"installing", "apiextensions.k8s.io/v1", "CustomResourceDefinition", R"({"status":{"conditions":[
         {"type":"Established","status":"False","reason":"Installing"}]}})",
       kInProgress, "Installing"},
      {"established", "apiextensions.k8s.io/v1", "CustomResourceDefinition", R"({"status":{"conditions":[
         {"type":"Established","status":"True"}]}})",
       kCurrent, "established"},
      {"api service down", "apiregistration.k8s.io/v1", "APIService", R"({"status":{"conditions":[
         {"type":"Available","status":"False","reason":"MissingEndpoints"}]}})",
       kInProgress, "MissingEndpoints"},
      {"balancer", "v1", "Service", R"({"spec":{"type":"LoadBalancer"}})", kInProgress, "cluster IP"},
      {"balancer with an address", "v1", "Service", R"({"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}})",
       kCurrent, ""},
      {"no balancer", "v1", "Service", R"({"spec":{}})", kCurrent, ""},
      {"config", "v1", "ConfigMap", R"({"data":{}})", kCurrent, ""},
      {"not ready", "x.io/v1", "Thing", R"({"status":{"conditions":[{"type":"Ready","status":"False",
         "message":"soon"}]}})",
       kInProgress, "soon"},
      {"stalled", "x.io/v1", "Thing", R"({"status":{"conditions":[{"type":"Ready","status":"True"},
         {"type":"Stalled","status":"True","message":"stuck"}]}})",
       kFailed, "stuck"},
      {"reconciling", "x.io/v1", "Thing", R"({"status":{"conditions":[{"type":"Ready","status":"True"},
         {"type":"Reconciling","status":"True","message":"busy"}]}})",
       kInProgress, "busy"},
      {"another group's Deployment", "x.io/v1", "Deployment", R"({"spec":{"replicas":3}})", kCurrent, ""},
      {"status is no object", "apps/v1", "Deployment", R"({"status":"odd"})", kInProgress, ""},
  };
  for (const Case& c : cases) Check(c);
}

}  // namespace
}  // namespace capi::kube
