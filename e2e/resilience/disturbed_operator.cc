#include "e2e/resilience/disturbed_operator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <utility>

#include "base/strings.h"
#include "base/testing/length.h"

namespace capi::e2e {
namespace {

constexpr Millis kLook{150};  // a look costs the test more than the operator's work costs the operator
constexpr Seconds kPhase{120};
constexpr Millis kStill{1500};    // the words of a status are written once a second, the last ones too
constexpr Seconds kSettled{300};  // U3: a migration that failed is tried again after 15 s, 30 s and so on
// An operator that is to die at a certain request must not end before, however busy the machine is.
const std::vector<std::string> kPatient = {"--leader-elect-lease-duration=90s", "--leader-elect-renew-deadline=80s"};

// Counts requests, and kills an operator right after one of them. The proxy may hold on to it for longer than a phase
// takes. Thread-safe.
class Killer {
 public:
  explicit Killer(int n) : n_(n), victim_(promise_.get_future().share()) {}
  void Aim(OperatorProcess* victim) { promise_.set_value(victim); }
  void Count() {
    if (++requests_ == n_) victim_.get()->KillAtOnce();
  }
  int requests() const { return requests_; }
  bool due() const { return n_ > 0 && requests_ >= n_; }

 private:
  const int n_;
  std::atomic<int> requests_ = 0;
  std::promise<OperatorProcess*> promise_;
  std::shared_future<OperatorProcess*> victim_;
};

}  // namespace

DisturbedOperator::DisturbedOperator(kube::ControlPlane& plane, std::string ns, bool alone)
    : ns_(std::move(ns)), cluster_(plane) {
  auto proxy = kube::FaultProxy::Start(plane.config());
  EXPECT_TRUE(proxy.ok()) << proxy.error().message;
  proxy_ = std::move(proxy).value();
  kubeconfig_ = proxy_->WriteKubeconfig(folder_.path());
  cluster_.CreateNamespace(ns_);
  arguments_ = {"--leader-elect-namespace", ns_};
  if (alone) arguments_.insert(arguments_.end(), {"--namespace", ns_});
}

std::unique_ptr<OperatorProcess> DisturbedOperator::Launch(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = arguments_;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return OperatorProcess::Launch(kubeconfig_, arguments);
}

void DisturbedOperator::Unlock() {
  auto deleted =
      cluster_.client().Delete(cluster_.ctx(), kube::Builtin("Lease"), ns_, "controller-leader-election-capi-operator");
  EXPECT_TRUE(deleted.ok() || deleted.code() == Code::kNotFound) << deleted.error().message;
}

Undisturbed DisturbedOperator::LiveOnce(const Scenario& scenario) {
  Undisturbed life;
  life.before = TakeAll(scenario);
  for (const Phase& phase : scenario.phases) {
    proxy_->Reset();
    phase.begin();
    auto process = Launch(kPatient);
    EXPECT_TRUE(kube::Eventually(phase.over, kPhase, kLook))
        << scenario.name << ": " << phase.name << " didn't end: " << scenario.Describe(cluster_);
    life.requests.push_back(static_cast<int>(proxy_->requests().size()));
    life.ends.push_back(TakeSettled(scenario.OfTheReleases()));
    EXPECT_EQ(process->Terminate(), 0);
  }
  ExpectNothingLeft(scenario, life);
  return life;
}

Snapshot DisturbedOperator::TakeAll(const Scenario& scenario) {
  cluster_.client().mapper().Invalidate();  // kinds have come and gone
  return Take(scenario.OfAllKinds());
}

void DisturbedOperator::ExpectNothingLeft(const Scenario& scenario, const Undisturbed& life) {
  // What the cluster makes of our objects - pods, endpoints - goes some time after them.
  std::string difference;
  kube::Eventually(
      [&] {
        difference = Difference(life.before, TakeAll(scenario));
        return difference.empty();
      },
      Seconds(60), Millis(300));
  EXPECT_EQ(difference, "") << ns_ << ", " << scenario.name << ": at the end it isn't as it was before the beginning";
}

int DisturbedOperator::Crash(const Scenario& scenario, size_t index, const std::vector<int>& kills,
                             const Undisturbed& expected) {
  const Phase& phase = scenario.phases[index];
  std::string what = fmt::format("{}: {} with a crash after request {}", ns_, phase.name, fmt::join(kills, ", "));
  SCOPED_TRACE(what);
  phase.begin();
  int crashes = 0;
  for (size_t i = 0;; ++i) {
    auto killer = std::make_shared<Killer>(i < kills.size() ? kills[i] : 0);
    proxy_->SetFaults([killer](const kube::ProxyRequest&) -> kube::Fault {
      killer->Count();
      return {};
    });
    auto process = Launch(kPatient);
    killer->Aim(process.get());
    bool ended = kube::Eventually([&] { return !process->running() || phase.over(); }, kPhase, kLook);
    proxy_->SetFaults(nullptr);  // what is left to do counts no more
    if (process->running() && !killer->due()) {
      EXPECT_TRUE(ended) << "it didn't end: " << scenario.Describe(cluster_);
      EXPECT_EQ(AwaitEnd(scenario, expected.ends[index]), "");
      process->AwaitReady();  // it may have had nothing to do
      EXPECT_EQ(process->Terminate(), 0);
      return crashes;
    }
    process->KillAtOnce();
    EXPECT_TRUE(killer->due()) << "it ended by itself:\n" << process->Log();
    if (!killer->due()) return crashes;
    ++crashes;
    Unlock();
  }
}

void DisturbedOperator::StartOperator(std::vector<std::string> arguments) {
  said_before_.clear();
  operator_ = Launch(arguments);
  AllowForFaults();
}

void DisturbedOperator::KeepOperator() {
  if (operator_->running()) return;
  EXPECT_TRUE(operator_->LostItsLease()) << "it ended by itself:\n" << operator_->Log();
  said_before_ = Said();
  Unlock();
  operator_ = Launch();
  AllowForFaults();
}

void DisturbedOperator::AllowForFaults() {
  operator_->AllowFindsByResync();
  operator_->AllowLostLease();
}

void DisturbedOperator::EndOperator() {
  // It may be about to lose its lease.
  EXPECT_TRUE(operator_->Terminate() == 0 || operator_->LostItsLease()) << operator_->Log();
  operator_.reset();
}

std::string DisturbedOperator::Said() const {
  std::string said = said_before_;
  for (const auto& line : Split(operator_->Log(), '\n')) {
    if (line.find("watch keeps failing") == line.npos && line.find("lease not renewed") == line.npos) {
      said += line + "\n";
    }
  }
  return said;
}

std::string DisturbedOperator::AwaitEnd(const Scenario& scenario, const Snapshot& expected) {
  std::string difference;
  kube::Eventually(
      [&] {
        if (operator_) KeepOperator();
        difference = Difference(expected, Take(scenario.OfTheReleases()));
        return difference.empty();
      },
      kSettled, kLook);
  return difference;
}

Snapshot DisturbedOperator::Take(const Scope& scope) {
  Result<Snapshot> snapshot = Snapshot();
  // A kind that comes or goes in this moment.
  kube::Eventually([&] {
    snapshot = TakeSnapshot(cluster_.client(), cluster_.ctx(), scope);
    return snapshot.ok();
  });
  EXPECT_TRUE(snapshot.ok()) << snapshot.error().message;
  return snapshot.ok() ? std::move(snapshot).value() : Snapshot();
}

Snapshot DisturbedOperator::TakeSettled(const Scope& scope) {
  Snapshot now = Take(scope);
  MonoTime since = SystemClock().Monotonic();
  std::string change;
  bool settled = kube::Eventually(
      [&] {
        Snapshot before = std::exchange(now, Take(scope));
        change = Difference(before, now);
        if (!change.empty()) since = SystemClock().Monotonic();
        return SystemClock().Monotonic() - since >= kStill;
      },
      kPhase, Millis(300));
  EXPECT_TRUE(settled) << ns_ << ": the state goes on changing: " << change;
  return now;
}

unsigned TestSeed(unsigned count) {
  std::uint64_t seed =
      IsSet("CAPI_TEST_SEED") ? std::stoul(EnvironmentVariable("CAPI_TEST_SEED")) : FirstSeed(count) + 1;
  fmt::print("CAPI_TEST_SEED={}\n", seed);
  return static_cast<unsigned>(seed);
}

}  // namespace capi::e2e
