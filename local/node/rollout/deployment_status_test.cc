#include "local/node/rollout/deployment_status.h"

#include <gtest/gtest.h>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "kube/meta/health.h"
#include "kube/meta/object_conditions.h"

namespace capi::local {
namespace {

const WallTime kNow = *ParseTime("2026-01-01T00:10:00Z");

// A Deployment that its controller has looked at, time after time.
class Watched {
 public:
  explicit Watched(std::string_view spec) : deployment_(Json{{"apiVersion", "apps/v1"}, {"kind", "Deployment"}}) {
    deployment_.json()["metadata"] = {{"name", "d"}, {"namespace", "n"}, {"generation", 1}};
    deployment_.json()["spec"] = ValueOrAbort(ParseYaml(spec), "yaml");
  }
  const Json& Look(const std::vector<PodState>& pods, Seconds later = Seconds(0), const std::string& failure = "") {
    again = WallTime::max();
    deployment_.json()["status"] = DeploymentStatus(deployment_, pods, failure, kNow + later, again);
    return deployment_.json()["status"];
  }
  // "True MinimumReplicasAvailable".
  std::string Condition(const char* type) const {
    auto all = kube::Conditions(deployment_);
    const kube::Condition* one = kube::FindCondition(all, type);
    return one == nullptr ? "" : one->status + " " + one->reason;
  }
  kube::Object& object() { return deployment_; }
  WallTime again{};

 private:
  kube::Object deployment_;
};

const PodState kWaits{.name = "w", .current = true},
    kServes{.name = "s", .current = true, .ready = true, .available = true},
    kOld{.name = "o", .ready = true, .available = true},
    kEnds{.name = "e", .ready = true, .available = true, .ends = true};

// G4: counts and conditions are those that kube's own controller writes.
TEST(DeploymentStatus, TellsCounts) {
  Watched deployment("{replicas: 2}");
  const Json& status = deployment.Look({kServes, kWaits, kOld, kEnds});
  EXPECT_EQ(status["observedGeneration"], 1);
  EXPECT_EQ(status["replicas"], 3);
  EXPECT_EQ(status["updatedReplicas"], 2);
  EXPECT_EQ(status["readyReplicas"], 2);
  EXPECT_EQ(status["availableReplicas"], 2);
  EXPECT_EQ(status["unavailableReplicas"], 1);
}

TEST(DeploymentStatus, IsAvailableWhenEnoughAre) {
  struct Case {
    const char* spec;
    std::vector<PodState> pods;
    const char* expected;
  };
  for (const Case& c :
       {Case{"{replicas: 1}", {kWaits}, "False MinimumReplicasUnavailable"},
        {"{replicas: 1}", {kServes}, "True MinimumReplicasAvailable"},
        {"{replicas: 1}", {kOld, kWaits}, "True MinimumReplicasAvailable"},
        {"{replicas: 1}", {kEnds}, "False MinimumReplicasUnavailable"},
        {"{replicas: 0}", {}, "True MinimumReplicasAvailable"},
        {"{replicas: 2, strategy: {rollingUpdate: {maxUnavailable: 1}}}", {kServes}, "True MinimumReplicasAvailable"},
        {"{replicas: 1, strategy: {type: Recreate}}", {}, "False MinimumReplicasUnavailable"}}) {
    Watched deployment(c.spec);
    deployment.Look(c.pods);
    EXPECT_EQ(deployment.Condition("Available"), c.expected) << c.spec;
  }
}

TEST(DeploymentStatus, TellsOfARollout) {
  Watched deployment("{replicas: 1, progressDeadlineSeconds: 60}");
  deployment.Look({kWaits});
  EXPECT_EQ(deployment.Condition("Progressing"), "True ReplicaSetUpdated");
  EXPECT_FALSE(kube::HealthOf(deployment.object()).ok());
  deployment.Look({kWaits}, Seconds(59));
  EXPECT_EQ(deployment.Condition("Progressing"), "True ReplicaSetUpdated");
  EXPECT_EQ(deployment.again, kNow + Seconds(60));
  deployment.Look({kWaits}, Seconds(60));
  EXPECT_EQ(deployment.Condition("Progressing"), "False ProgressDeadlineExceeded");
  EXPECT_EQ(kube::HealthOf(deployment.object()).state, kube::HealthState::kFailed);
  deployment.Look({kServes}, Seconds(70));
  EXPECT_EQ(deployment.Condition("Progressing"), "True NewReplicaSetAvailable");
  EXPECT_TRUE(kube::HealthOf(deployment.object()).ok());
}

// G4: a Pod that isn't ready any more is no rollout that takes too long; a new generation is one.
TEST(DeploymentStatus, TimesRolloutsAlone) {
  Watched deployment("{replicas: 1, progressDeadlineSeconds: 60}");
  deployment.Look({kServes});
  deployment.Look({kWaits}, Seconds(1000));
  EXPECT_EQ(deployment.Condition("Progressing"), "True NewReplicaSetAvailable");
  EXPECT_EQ(deployment.Condition("Available"), "False MinimumReplicasUnavailable");
  deployment.object().json()["metadata"]["generation"] = 2;
  deployment.Look({kWaits}, Seconds(2000));
  EXPECT_EQ(deployment.Condition("Progressing"), "True ReplicaSetUpdated");
  deployment.Look({kWaits}, Seconds(2060));
  EXPECT_EQ(deployment.Condition("Progressing"), "False ProgressDeadlineExceeded");
}

TEST(DeploymentStatus, TellsWhatFails) {
  Watched deployment("{replicas: 1}");
  deployment.Look({}, Seconds(0), "it is forbidden");
  EXPECT_EQ(deployment.Condition("ReplicaFailure"), "True FailedCreate");
  deployment.Look({kServes});
  EXPECT_EQ(deployment.Condition("ReplicaFailure"), "");
}

TEST(DeploymentStatus, IsTheSameAsLongAsNothingChanges) {
  Watched deployment("{replicas: 1}");
  Json first = deployment.Look({kServes});
  EXPECT_EQ(deployment.Look({kServes}, Seconds(100)), first) << "no write without a change";
  EXPECT_FALSE(SameStatus(deployment.Look({kServes, kOld}), first));
  deployment.object().json()["status"]["conditions"].push_back({{"type", "Other"}, {"status", "True"}});
  EXPECT_EQ(deployment.Look({kServes})["conditions"], first["conditions"]) << "it is the node's alone";
}

}  // namespace
}  // namespace capi::local
