#include "e2e/support/operator_process.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "base/files.h"
#include "base/http/client.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "base/testing/environment.h"
#include "base/testing/process_status.h"
#include "e2e/support/passes.h"
#include "kube/testing/control_plane.h"

namespace capi::e2e {
namespace {

// resources.limits.memory of manifests/ and of the chart.
constexpr size_t kMemory = 64u << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // takes several times as much
#else
constexpr bool kSanitized = false;
#endif

std::string Program() { return IsSet("CAPI_OPERATOR") ? EnvironmentVariable("CAPI_OPERATOR") : CAPI_OPERATOR_PATH; }

Result<http::Response> Get(const std::string& address, const std::string& path) {
  auto client = TRY(http::Client::Create("http://" + address, {}));
  return client->Do(Context{}.WithTimeout(Seconds(5)), {.target = path});
}

std::string_view LastLines(std::string_view text, size_t count) {
  size_t at = text.size();
  // The line feed at its end begins none.
  for (size_t i = 0; i < count && at != 0; ++i) {
    const size_t before = at < 2 ? text.npos : text.rfind('\n', at - 2);
    at = before == text.npos ? 0 : before + 1;
  }
  return text.substr(at);
}

size_t StatusNumber(int pid, std::string_view name) {
  auto number = ProcessStatus(pid, name);
  EXPECT_TRUE(number.ok()) << number.error().message;
  return number.ok() ? *number : 0;
}

// Of the test that runs, with this one.
int CountLostLease() {
  static Mutex mu;
  static const ::testing::TestInfo* of = nullptr;
  static int count = 0;
  MutexLock lock(mu);
  const auto* now = ::testing::UnitTest::GetInstance()->current_test_info();
  if (now != of) count = 0;
  of = now;
  return ++count;
}

}  // namespace

OperatorProcess::OperatorProcess(Unstarted, const std::string& kubeconfig, std::vector<std::string> arguments) {
  argv_ = {Program(), "--kubeconfig", kubeconfig, "--diagnostics-address=127.0.0.1:0", "--health-addr=127.0.0.1:0"};
  argv_.insert(argv_.end(), arguments.begin(), arguments.end());
  if (kSanitized) return;
  auto limit = kube::MemoryLimit::Create(kMemory);
  if (limit.ok()) {
    limit_ = *std::move(limit);
    return;
  }
  fmt::print(stderr, "the operator's memory isn't limited here: {}\n", limit.error().message);
}

OperatorProcess::OperatorProcess(const std::string& kubeconfig, std::vector<std::string> arguments,
                                 std::vector<std::string> environment)
    : OperatorProcess(Unstarted{}, kubeconfig, std::move(arguments)) {
  environment_ = std::move(environment);
  Start();
}

std::unique_ptr<OperatorProcess> OperatorProcess::Launch(const std::string& kubeconfig,
                                                         std::vector<std::string> arguments) {
  std::unique_ptr<OperatorProcess> process(new OperatorProcess(Unstarted{}, kubeconfig, std::move(arguments)));
  process->Launch();
  return process;
}

OperatorProcess::~OperatorProcess() {
  if (!process_) return;
  if (!ended_by_test_) {
    const bool ran = running();
    ExpectNothingFoundByResync();
    const int code = process_->Stop(SIGTERM);
    EXPECT_TRUE((ran && code == 0) || LostItsLease())
        << (ran ? "it doesn't end well: " : "it ended by itself: ") << code;
  }
  ExpectItHadMemoryEnough();
  ReportLostLease();
  if (::testing::Test::HasFailure()) fmt::print(stderr, "{}", Logs());
}

void OperatorProcess::Launch() {
  if (process_) ReportLostLease();
  ++lives_;
  auto started = capi::Process::Start({.argv = argv_,
                                       .log_file = LogFile(lives_),
                                       .environment = environment_,
                                       .cgroup = limit_ ? limit_->folder() : ""});
  ASSERT_TRUE(started.ok()) << started.error().message;
  process_ = std::move(started).value();
  ended_by_test_ = false;
}

void OperatorProcess::Start() {
  Launch();
  ASSERT_NE(process_, nullptr);
  AwaitReady();
}

void OperatorProcess::AwaitReady() {
  bool ready = kube::Eventually(
      [&] {
        if (!process_->running()) return true;
        std::string address = AddressOf("serving probes");
        if (address.empty()) return false;
        auto answer = Get(address, "/readyz");
        return answer.ok() && answer->status == 200;
      },
      Seconds(30));
  ASSERT_TRUE(ready && process_->running()) << "the operator isn't ready:\n" << process_->LogTail(40);
}

// One that isn't ready yet has no metrics, and has found nothing.
void OperatorProcess::ExpectNothingFoundByResync() const {
  if (finds_by_resync_ || !running() || AddressOf("serving metrics").empty()) return;
  EXPECT_EQ(FoundByResync(*this), 0) << "F6: an event was lost:\n" << Log();
}

void OperatorProcess::ExpectItHadMemoryEnough() const {
  if (!limit_) return;
  auto kills = limit_->Kills();
  EXPECT_TRUE(kills.ok()) << kills.error().message;
  EXPECT_EQ(kills.ok() ? *kills : 0, 0u) << "the kernel killed it: it wanted more than 64 MiB";
}

void OperatorProcess::Kill() {
  ExpectNothingFoundByResync();
  KillAtOnce();
}

void OperatorProcess::KillAtOnce() {
  EXPECT_TRUE(running() || ended_by_test_ || LostItsLease()) << "it ended by itself:\n" << Log();
  ended_by_test_ = true;
  process_->Stop(SIGKILL);
}

int OperatorProcess::Terminate() {
  ExpectNothingFoundByResync();
  EXPECT_TRUE(running() || ended_by_test_ || LostItsLease()) << "it ended by itself:\n" << Log();
  ended_by_test_ = true;
  return process_->Stop(SIGTERM);
}

bool OperatorProcess::LostItsLease() const {
  return process_->Wait(Millis(0)) == 1 && Log().ends_with("capi-operator: the lease was lost\n");
}

void OperatorProcess::ReportLostLease() const {
  if (may_lose_lease_ || !LostItsLease()) return;
  const int count = CountLostLease();
  fmt::print(stderr, "---- lost leases of the operator in this test: {}\n", count);
  ::testing::Test::RecordProperty("lost_leases", count);
}

void OperatorProcess::Restart() { Start(); }

bool OperatorProcess::Eventually(const std::function<bool()>& done, Millis timeout, Millis every) {
  bool is_done = false;
  auto over = [&] { return (is_done = done()) || EndedByItself(); };
  if (!kube::Eventually(over, timeout, every) || is_done || !LostItsLease()) return is_done;
  Restart();
  kube::Eventually(over, timeout, every);
  return is_done;
}

std::string OperatorProcess::Log() const {
  auto text = ReadFile(LogFile(lives_));
  return text.ok() ? *text : "";
}

std::string OperatorProcess::LogFile(int life) const { return fmt::format("{}/operator.{}.log", folder_.path(), life); }

std::string OperatorProcess::Logs() const {
  constexpr int kLives = 5;  // a test of crashes has hundreds
  std::string out;
  for (int life = std::max(1, lives_ - kLives + 1); life <= lives_; ++life) {
    auto text = ReadFile(LogFile(life));
    out += fmt::format("---- the log of the operator's life {} of {} ends with\n{}", life, lives_.load(),
                       text.ok() ? LastLines(*text, 60) : text.error().message + "\n");
  }
  return out;
}

std::string OperatorProcess::AddressOf(std::string_view what) const {
  for (const auto& line : Split(Log(), '\n')) {
    size_t at = line.find(" address=");
    if (line.find(what) != line.npos && at != line.npos) {
      std::string rest = line.substr(at + 9);
      return rest.substr(0, rest.find(' '));
    }
  }
  return "";
}

std::string OperatorProcess::Metrics() const {
  auto answer = Get(AddressOf("serving metrics"), "/metrics");
  bool answered = answer.ok() && answer->status == 200;
  EXPECT_TRUE(answered) << "no metrics: " << (answer.ok() ? std::to_string(answer->status) : answer.error().message);
  return answered ? answer->body : "";
}

std::optional<std::string> OperatorProcess::MetricsIfAny() const {
  auto answer = Get(AddressOf("serving metrics"), "/metrics");
  if (!answer.ok() || answer->status != 200) return std::nullopt;
  return std::move(answer->body);
}

size_t OperatorProcess::ResidentKiB() const { return StatusNumber(pid(), "VmRSS"); }
size_t OperatorProcess::Threads() const { return StatusNumber(pid(), "Threads"); }

size_t OperatorProcess::Descriptors() const {
  auto names = ListDir(fmt::format("/proc/{}/fd", pid()));
  EXPECT_TRUE(names.ok()) << names.error().message;
  return names.ok() ? names->size() : 0;
}

}  // namespace capi::e2e
