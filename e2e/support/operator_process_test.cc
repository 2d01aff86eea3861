// The harness itself: an operator that a test hasn't ended, and that doesn't run any more, fails that test.
#include "e2e/support/operator_process.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <csignal>

#include "e2e/support/cluster.h"

namespace capi::e2e {
namespace {

// One that ends by something else than its test.
std::unique_ptr<OperatorProcess> StartAndLose(kube::ControlPlane& plane, int signal) {
  auto process = std::make_unique<OperatorProcess>(plane.kubeconfig(),
                                                   std::vector<std::string>{"--leader-elect-namespace", "harness"});
  EXPECT_EQ(kill(process->pid(), signal), 0);
  EXPECT_TRUE(kube::Eventually([&] { return !process->running(); }));
  return process;
}

TEST(Harness, NoticesAnOperatorThatEndedByItself) {
  auto& plane = kube::ControlPlane::Shared();
  Cluster cluster(plane);
  cluster.CreateNamespace("harness");  // for its Lease, which nobody else waits for
  auto killed = StartAndLose(plane, SIGKILL), left = StartAndLose(plane, SIGKILL);
  EXPECT_NONFATAL_FAILURE(killed->Metrics(), "no metrics");
  EXPECT_NONFATAL_FAILURE(killed->Kill(), "it ended by itself");
  killed.reset();  // that has been said
  EXPECT_NONFATAL_FAILURE(left.reset(), "it ended by itself");
}

TEST(Harness, NoticesAnOperatorThatEndedInGoodOrderByItself) {
  auto& plane = kube::ControlPlane::Shared();
  Cluster cluster(plane);
  cluster.CreateNamespace("harness");
  auto terminated = StartAndLose(plane, SIGTERM), left = StartAndLose(plane, SIGTERM);
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(terminated->Terminate(), 0), "it ended by itself");
  terminated.reset();
  EXPECT_NONFATAL_FAILURE(left.reset(), "it ended by itself: 0");
}

}  // namespace
}  // namespace capi::e2e
