// Exec credential plugins, with real programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/encoding.h"
#include "base/files.h"
#include "base/json.h"
#include "kube/client/config/config.h"
#include "kube/client/config/run_program.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ExecTest : public testing::Test {
 protected:
  ExecTest() {
    std::string pattern = testing::TempDir() + "exec_test_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    ctx_.clock = &clock_;
  }
  ~ExecTest() override { fs::remove_all(folder_); }

  // A kubeconfig whose plugin is this shell script; each run adds a line to runs().
  Config Load(std::string_view script, std::string_view more = "", std::string_view version = "v1") {
    std::string plugin = folder_ + "/plugin";
    EXPECT_TRUE(WriteFile(plugin,
                          "#!/bin/sh\necho \"$KUBERNETES_EXEC_INFO\" >>" + folder_ + "/runs\n" + std::string(script),
                          0700)
                    .ok());
    std::string text =
        "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
        "clusters: [{name: k, cluster: {server: 'https://h', certificate-authority-data: " +
        Base64Encode("CA") +
        ", extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]}}]\n"
        "users:\n- name: u\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/" +
        std::string(version) + "\n      command: ./plugin\n      interactiveMode: Never\n" + std::string(more);
    EXPECT_TRUE(WriteFile(folder_ + "/config", text).ok());
    auto config = LoadConfig({.kubeconfig = folder_ + "/config"});
    EXPECT_TRUE(config.ok()) << config.error().message;
    return config.ok() ? *config : Config{};
  }

  std::vector<Json> runs() {
    std::vector<Json> out;
    auto text = ReadFile(folder_ + "/runs");
    for (size_t at = 0; text.ok() && at < text->size();) {
      size_t end = text->find('\n', at);
      out.push_back(Json::parse(text->substr(at, end - at)));
      at = end + 1;
    }
    return out;
  }

  // Writes its process's id into "pid" and hangs.
  std::string Hang() const {
    return "echo $$ >" + folder_ + "/new; mv " + folder_ + "/new " + folder_ + "/pid; exec sleep 1000";
  }

  static std::string Print(std::string_view status, std::string_view version = "v1") {
    return "cat <<'E'\n{\"apiVersion\":\"client.authentication.k8s.io/" + std::string(version) +
           "\",\"kind\":\"ExecCredential\",\"status\":" + std::string(status) + "}\nE\n";
  }

  std::string folder_;
  FakeClock clock_;
  Context ctx_;
};

TEST_F(ExecTest, RunsOnceUntilItExpiresOrIsRefused) {
  std::string expires = FormatTime(clock_.Now() + std::chrono::hours(1));
  Config config = Load(Print(R"({"token":"t","expirationTimestamp":")" + expires + "\"}"));
  for (int i = 0; i < 3; ++i) {
    auto credential = config.credentials->Get(ctx_, nullptr);
    ASSERT_TRUE(credential.ok()) << credential.error().message;
    EXPECT_EQ(credential->authorization, "Bearer t");
  }
  EXPECT_EQ(runs().size(), 1u);
  auto first = *config.credentials->Get(ctx_, nullptr);
  auto second = config.credentials->Get(ctx_, &first);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(runs().size(), 2u) << "after a 401";
  EXPECT_TRUE(config.credentials->Get(ctx_, &first).ok());
  EXPECT_EQ(runs().size(), 2u) << "F8: after another 401 of the one before";
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(config.credentials->Get(ctx_, nullptr).ok());
  EXPECT_EQ(runs().size(), 3u) << "expired";
}

TEST_F(ExecTest, TellsThePluginWhatItMayKnow) {
  Config config =
      Load(R"(test "$ONE" = 1 && test "$1 $2" = "get token" || exit 3
)" + Print(R"({"token":"t"})"),
           "      args: [get, token]\n      env: [{name: ONE, value: '1'}]\n      provideClusterInfo: true\n");
  auto credential = config.credentials->Get(ctx_, nullptr);
  ASSERT_TRUE(credential.ok()) << credential.error().message;
  ASSERT_EQ(runs().size(), 1u);
  EXPECT_EQ(runs()[0], Json::parse(R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
    "spec":{"interactive":false,"cluster":{"server":"https://h","certificate-authority-data":"Q0E=",
    "config":{"audience":"a"}}}})"));
}

TEST_F(ExecTest, GivesClientCertificates) {
  Config config = Load(Print(R"({"clientCertificateData":"C","clientKeyData":"K"})", "v1beta1"), "", "v1beta1");
  auto credential = config.credentials->Get(ctx_, nullptr);
  ASSERT_TRUE(credential.ok()) << credential.error().message;
  EXPECT_EQ(credential->authorization, "");
  EXPECT_EQ(credential->client_cert_pem, "C");
  EXPECT_EQ(credential->client_key_pem, "K");
}

TEST_F(ExecTest, AFailureSaysWhy) {
  struct Case {
    std::string script, message;
  };
  const Case cases[] = {
      {"echo 'log in first' >&2; exit 7", "exit code 7: log in first"},
      {"kill -9 $$", "exit code 137"},
      {"echo hello", "no JSON object"},
      {"echo '{\"kind\":\"Other\"}'", "no ExecCredential"},
      {Print("{}"), "neither token nor certificate"},
      {Print(R"({"clientCertificateData":"C"})"), "without its key"},
      {Print(R"({"token":"hidden","expirationTimestamp":"soon"})"), "expirationTimestamp is no time"},
      {Print(R"({"token":"hidden"})", "v1beta1"), "answered in client.authentication.k8s.io/v1beta1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.script);
    auto credential = Load(c.script).credentials->Get(ctx_, nullptr);
    ASSERT_FALSE(credential.ok());
    EXPECT_EQ(credential.code(), Code::kUnauthenticated);
    EXPECT_THAT(credential.error().message, HasSubstr("credential plugin " + folder_ + "/plugin: "));
    EXPECT_THAT(credential.error().message, HasSubstr(c.message));
    EXPECT_THAT(credential.error().message, testing::Not(HasSubstr("hidden")));
  }
}

TEST_F(ExecTest, AMissingProgramSaysHowToGetIt) {
  Config config = Load("", "      installHint: see example.org\n");
  fs::remove(folder_ + "/plugin");
  auto credential = config.credentials->Get(ctx_, nullptr);
  ASSERT_FALSE(credential.ok());
  EXPECT_THAT(credential.error().message, HasSubstr("there is no such program; see example.org"));
}

TEST_F(ExecTest, AStopKillsAPluginThatHangs) {
  Config config = Load(Hang());
  std::stop_source stop;
  std::jthread stopper([&] {
    while (!ReadFile(folder_ + "/pid").ok()) std::this_thread::yield();
    stop.request_stop();
  });
  auto credential = config.credentials->Get(ctx_.WithStop(stop.get_token()), nullptr);
  ASSERT_FALSE(credential.ok());
  EXPECT_EQ(credential.code(), Code::kCancelled);
  auto pid = ReadFile(folder_ + "/pid");
  ASSERT_TRUE(pid.ok());
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(std::atoi(pid->c_str()))));
}

// F8: a person may need longer to log in than a call may take.
TEST_F(ExecTest, ADeadlineLeavesThePluginToRunOn) {
  Config config = Load("while ! test -e " + folder_ + "/go; do sleep 0.01; done\n" + Print(R"({"token":"t"})"));
  auto late = config.credentials->Get(Context{}.WithTimeout(Millis(50)), nullptr);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(late.error().message, HasSubstr("waiting for credential plugin " + folder_ + "/plugin"));
  ASSERT_TRUE(WriteFile(folder_ + "/go", "").ok());
  auto credential = config.credentials->Get(Context{}.WithTimeout(Seconds(60)), nullptr);
  ASSERT_TRUE(credential.ok()) << credential.error().message;
  EXPECT_EQ(credential->authorization, "Bearer t");
  EXPECT_EQ(runs().size(), 1u) << "the same run";
}

// F8: by the clock that is passed in; nobody waits in this test.
TEST_F(ExecTest, IsKilledAfterTenMinutes) {
  Config config = Load(Hang());
  std::jthread clock([&] {
    while (!ReadFile(folder_ + "/pid").ok()) std::this_thread::yield();
    clock_.Advance(std::chrono::minutes(10));
  });
  auto credential = config.credentials->Get(ctx_, nullptr);
  ASSERT_FALSE(credential.ok());
  EXPECT_EQ(credential.code(), Code::kUnauthenticated);
  EXPECT_THAT(credential.error().message, HasSubstr("still running after 10 minutes"));
}

// F8: one who has what is needed doesn't wait for one who hasn't; nor does one who is in a hurry.
TEST_F(ExecTest, ARunHoldsUpNobodyElse) {
  std::string expires = FormatTime(clock_.Now() + std::chrono::hours(1));
  Config config = Load("test $(wc -l <" + folder_ + "/runs) = 1 || { " + Hang() + "; }\n" +
                       Print(R"({"token":"t","expirationTimestamp":")" + expires + "\"}"));
  auto first = config.credentials->Get(ctx_, nullptr);
  ASSERT_TRUE(first.ok());
  std::stop_source stop;
  std::jthread refused(
      [&] { EXPECT_EQ(config.credentials->Get(ctx_.WithStop(stop.get_token()), &*first).code(), Code::kCancelled); });
  while (!ReadFile(folder_ + "/pid").ok()) std::this_thread::yield();
  EXPECT_TRUE(config.credentials->Get(ctx_, nullptr).ok()) << "the old one is still good";
  EXPECT_EQ(config.credentials->Get(Context{}.WithTimeout(Millis(50)), &*first).code(), Code::kDeadlineExceeded);
  std::stop_source other;
  other.request_stop();
  EXPECT_EQ(config.credentials->Get(Context{}.WithStop(other.get_token()), &*first).code(), Code::kCancelled);
  auto pid = ReadFile(folder_ + "/pid");
  EXPECT_TRUE(fs::exists("/proc/" + std::to_string(std::atoi(pid->c_str())))) << "somebody waits for it still";
  stop.request_stop();
  refused.join();
  EXPECT_EQ(runs().size(), 2u);
}

TEST_F(ExecTest, GoesWithItsSource) {
  Config config = Load(Hang());
  EXPECT_FALSE(config.credentials->Get(Context{}.WithTimeout(Millis(50)), nullptr).ok());
  while (!ReadFile(folder_ + "/pid").ok()) std::this_thread::yield();
  config.credentials.reset();
  auto pid = ReadFile(folder_ + "/pid");
  EXPECT_FALSE(fs::exists("/proc/" + std::to_string(std::atoi(pid->c_str()))));
}

// F7: an exception beside the calls ended the process.
TEST_F(ExecTest, WhatARunThrowsIsItsError) {
  class Broken : public FakeClock {
   public:
    MonoTime Monotonic() override {
      if (std::this_thread::get_id() != test_) throw std::runtime_error("out of order");
      return FakeClock::Monotonic();
    }

   private:
    const std::thread::id test_ = std::this_thread::get_id();
  };
  Config config = Load(Print(R"({"token":"t"})"));
  Broken broken;
  Context ctx;
  ctx.clock = &broken;
  auto credential = config.credentials->Get(ctx, nullptr);
  ASSERT_FALSE(credential.ok());
  EXPECT_THAT(credential.error().message, HasSubstr("exception: out of order"));
  EXPECT_TRUE(config.credentials->Get(ctx_, nullptr).ok()) << "the next run begins anew";
}

// L10, L22: what waits for Ctrl-C keeps that from its own threads, and not from a plugin that asks for a password.
TEST(RunProgram, SignalsThatTheCallerBlocksEndIt) {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  for (int number : {SIGINT, SIGTERM}) {
    const auto former = ::signal(number, SIG_DFL);  // a shell has what it runs behind itself ignore SIGINT
    auto ended =
        RunProgram(Context{}, {.command = "sh", .args = {"-c", fmt::format("kill -{} $$; echo alive", number)}});
    ::signal(number, former);
    ASSERT_TRUE(ended.ok()) << ended.error().message;
    EXPECT_EQ(ended->exit_code, 128 + number);
    EXPECT_EQ(ended->out, "");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(ExecTest, ManyCallersRunItOnce) {
  Config config = Load(Print(R"({"token":"t"})"));
  std::vector<std::jthread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] { EXPECT_TRUE(config.credentials->Get(ctx_, nullptr).ok()); });
  }
  callers.clear();
  EXPECT_EQ(runs().size(), 1u);
}

}  // namespace
}  // namespace capi::kube
