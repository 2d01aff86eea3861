// The harness itself: an operator that a test hasn't ended, and that doesn't run any more, fails that test; so does one
// that has found a change by a resync (behaviour.md F6).
#include "e2e/support/operator_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/files.h"
#include "base/http/server/server.h"
#include "base/testing/environment.h"
#include "e2e/support/cluster.h"
#include "e2e/support/passes.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;

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

// A program in the operator's place, with this many changes in its metrics. Thread-compatible.
class StandIn {
 public:
  explicit StandIn(int found_by_resync) : before_(EnvironmentVariable("CAPI_OPERATOR")) {
    auto server = http::Server::Start({}, [this, found_by_resync](const http::ServerRequest&) {
      http::Response response;
      response.status = 200;
      response.body = "capi_operator_changes_found_by_resync_total " + std::to_string(found_by_resync) +
                      "\ncontroller_runtime_reconcile_total{} " + std::to_string(passes) + "\n";
      return response;
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(server).value();
    const std::string program = folder_.path() + "/program";
    std::string script = "#!/bin/sh\ntrap 'exit 0' TERM\n";
    script += "trap 'echo capi-operator: the lease was lost; exit 1' USR1\necho \"life $$\"\n";
    for (const char* what : {"probes", "metrics"}) {
      script += std::string("echo serving ") + what + " address=" + server_->address() + "\n";
    }
    // It waits for a line that nobody writes.
    script += "mkfifo \"$0.$$\"\nexec 3<>\"$0.$$\"\nread -r nothing <&3\n";
    EXPECT_TRUE(WriteFile(program, script, 0755).ok());
    setenv("CAPI_OPERATOR", program.c_str(), 1);
  }
  ~StandIn() { setenv("CAPI_OPERATOR", before_.c_str(), 1); }
  // As a machine that stands still makes it (F4).
  static void LoseLease(const OperatorProcess& process) {
    EXPECT_EQ(kill(process.pid(), SIGUSR1), 0);
    EXPECT_TRUE(kube::Eventually([&] { return !process.running(); }));
  }
  static std::unique_ptr<OperatorProcess> Start() {
    auto process = std::make_unique<OperatorProcess>("none");
    process->AllowLostLease();
    return process;
  }

  std::atomic<int> passes = 0;

 private:
  const std::string before_;
  TemporaryFolder folder_;
  std::unique_ptr<http::Server> server_;
};

// F6: whoever ends it.
TEST(Harness, NoticesAChangeFoundByResync) {
  StandIn stand_in(1);
  auto killed = StandIn::Start(), terminated = StandIn::Start(), left = StandIn::Start();
  EXPECT_NONFATAL_FAILURE(killed->Kill(), "F6: an event was lost");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(terminated->Terminate(), 0), "F6: an event was lost");
  EXPECT_NONFATAL_FAILURE(left.reset(), "F6: an event was lost");

  auto allowed = StandIn::Start();
  allowed->AllowFindsByResync();
  allowed->Kill();
  StandIn::Start()->KillAtOnce();
}

TEST(Harness, KeepsTheLogOfEachLife) {
  StandIn stand_in(0);
  auto process = StandIn::Start();
  const std::string first = "life 1 of 2 ends with\nlife " + std::to_string(process->pid()) + "\n";
  StandIn::LoseLease(*process);
  process->Restart();
  const std::string second = "life 2 of 2 ends with\nlife " + std::to_string(process->pid()) + "\n";
  EXPECT_THAT(process->Logs(), HasSubstr(first));
  EXPECT_THAT(process->Logs(), HasSubstr("the lease was lost\n---- the log of the operator's " + second));
  EXPECT_EQ(process->Log().find("lost"), std::string::npos) << "this life has its lease";
}

// F4: the whole time passed with nobody there, and the log that said why was gone then.
TEST(Harness, GoesOnWhereTheLeaseIsLost) {
  StandIn stand_in(0);
  auto process = StandIn::Start();
  const int first = process->pid();
  StandIn::LoseLease(*process);
  EXPECT_TRUE(process->Eventually([&] { return process->running() && process->pid() != first; }));

  // Once: one that loses it again and again has a fault.
  auto lose = [&] {
    StandIn::LoseLease(*process);
    return false;
  };
  EXPECT_FALSE(process->Eventually(lose, std::chrono::hours(1)));
}

// What the report of this test says of them.
std::string LostLeases() {
  const auto* result = ::testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result->test_property_count(); ++i) {
    if (std::string_view(result->GetTestProperty(i).key()) == "lost_leases") return result->GetTestProperty(i).value();
  }
  return "";
}

// F4: nobody was told of a test that began anew in the middle, but that it took long.
TEST(Harness, ReportsALeaseThatIsLost) {
  StandIn stand_in(0);
  auto allowed = StandIn::Start();
  StandIn::LoseLease(*allowed);
  allowed.reset();
  EXPECT_EQ(LostLeases(), "");

  auto process = std::make_unique<OperatorProcess>("none");
  EXPECT_EQ(process->Terminate(), 0);
  process->Restart();
  EXPECT_EQ(LostLeases(), "");
  StandIn::LoseLease(*process);
  process->Restart();
  EXPECT_EQ(LostLeases(), "1");
  StandIn::LoseLease(*process);
  process.reset();
  EXPECT_EQ(LostLeases(), "2");
  RecordProperty("lost_leases", 0);  // by this test itself
}

// F4: the count of the life before was waited for.
TEST(Harness, CountsPassesAnewWhereTheLeaseIsLost) {
  StandIn stand_in(0);
  auto process = StandIn::Start();
  stand_in.passes = 5;
  int touches = 0;
  auto touch = [&] {
    if (++touches > 1) {
      ++stand_in.passes;
      return;
    }
    StandIn::LoseLease(*process);
    stand_in.passes = 0;
  };
  EXPECT_TRUE(AwaitPass(*process, touch));
  EXPECT_EQ(touches, 3);
}

TEST(Harness, WaitsForNothingThatEndedByItself) {
  StandIn stand_in(0);
  auto process = StandIn::Start();
  EXPECT_EQ(kill(process->pid(), SIGKILL), 0);
  EXPECT_FALSE(process->Eventually([] { return false; }, std::chrono::hours(1)));
  EXPECT_NONFATAL_FAILURE(process.reset(), "it ended by itself");
}

TEST(Harness, TakesNoChangeForNone) {
  StandIn stand_in(0);
  StandIn::Start()->Kill();
  EXPECT_EQ(StandIn::Start()->Terminate(), 0);
  StandIn::Start().reset();
}

}  // namespace
}  // namespace capi::e2e
