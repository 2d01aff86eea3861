#include "base/processes/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/processes/temporary_folder.h"
#include "base/testing/await.h"

namespace capi {
namespace {

using testing::HasSubstr;

Process& Launch(std::unique_ptr<Process>& keep, ProcessOptions options) {
  auto process = Process::Start(std::move(options));
  if (!process.ok()) ADD_FAILURE() << process.error().message;
  keep = std::move(process).value();
  return *keep;
}

TEST(Process, OutputEnvironmentFolderAndExitCodeAreAsAsked) {
  TemporaryFolder folder;
  std::unique_ptr<Process> keep;
  Process& process = Launch(keep, {.argv = {"/bin/sh", "-c", "pwd; echo $COLOUR; echo trouble >&2; exit 3"},
                                   .log_file = folder.path() + "/log",
                                   .output_file = folder.path() + "/output",
                                   .folder = folder.path(),
                                   .environment = {"COLOUR=green"}});
  EXPECT_EQ(process.Wait(Seconds(30)), 3);
  EXPECT_FALSE(process.running());
  EXPECT_EQ(*ReadFile(folder.path() + "/output"), folder.path() + "\ngreen\n");
  EXPECT_EQ(process.LogTail(), "trouble");
}

TEST(Process, HasOnlyTheEnvironmentThatIsGivenWhereItInheritsNone) {
  TemporaryFolder folder;
  std::unique_ptr<Process> keep;
  Process& process = Launch(keep, {.argv = {"/usr/bin/env"},
                                   .output_file = folder.path() + "/output",
                                   .environment = {"COLOUR=green"},
                                   .inherit_environment = false});
  EXPECT_EQ(process.Wait(Seconds(30)), 0);
  EXPECT_EQ(*ReadFile(folder.path() + "/output"), "COLOUR=green\n");
}

TEST(Process, StopsBySignalAndByForceWhereThatIsIgnored) {
  std::unique_ptr<Process> keep;
  EXPECT_EQ(Launch(keep, {.argv = {"/bin/sleep", "1000"}}).Stop(SIGTERM), 128 + SIGTERM);

  TemporaryFolder folder;
  Process& stubborn = Launch(keep, {.argv = {"/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"},
                                    .log_file = folder.path() + "/log"});
  ASSERT_TRUE(Await([&] { return stubborn.LogTail() == "ready"; }));
  EXPECT_FALSE(stubborn.Wait(Millis(1)).has_value());
  EXPECT_EQ(stubborn.Stop(SIGTERM, Millis(50)), 128 + SIGKILL);
}

TEST(Process, MissingProgramIsNotFound) {
  auto process = Process::Start({.argv = {"/no/such/program"}});
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.code(), Code::kNotFound);
  EXPECT_THAT(process.error().message, HasSubstr("/no/such/program"));
}

TEST(Process, WhatCanNotBeHadIsNamedAndIsNotTheProgram) {
  TemporaryFolder folder;
  const std::string none = folder.path() + "/none";
  const std::pair<ProcessOptions, std::string> cases[] = {
      {{.argv = {"/bin/true"}, .log_file = none + "/log"}, none + "/log: No such"},
      {{.argv = {"/bin/true"}, .output_file = none + "/out"}, none + "/out: No such"},
      {{.argv = {"/bin/true"}, .folder = none}, none + ": No such"},
      {{.argv = {"/bin/true"}, .cgroup = none}, none + "/cgroup.procs: No such"},
  };
  for (const auto& [options, words] : cases) {
    auto process = Process::Start(options);
    ASSERT_FALSE(process.ok()) << words;
    EXPECT_EQ(process.code(), Code::kInternal) << words;
    EXPECT_THAT(process.error().message, HasSubstr("/bin/true can't be started: " + words));
  }
}

size_t OpenDescriptors() { return ListDir("/proc/self/fd").value().size(); }

// A process that is started again and again while there are few must not take the last ones.
TEST(Process, WithoutDescriptorsThereIsNoneAndNoneIsLost) {
  TemporaryFolder folder;
  const size_t before = OpenDescriptors();
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  struct rlimit was {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
  for (rlim_t more : {1, 2, 3}) {  // the log, the output, the pipe
    const struct rlimit few = {static_cast<rlim_t>(next) + more, was.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    auto process = Process::Start(
        {.argv = {"/bin/true"}, .log_file = folder.path() + "/log", .output_file = folder.path() + "/output"});
    setrlimit(RLIMIT_NOFILE, &was);
    ASSERT_FALSE(process.ok()) << more;
    EXPECT_THAT(process.error().message, HasSubstr("Too many open files"));
    EXPECT_EQ(OpenDescriptors(), before) << more;
  }
}

// Others use up the user's threads: that is an error like others, and nothing is left.
TEST(Process, WithoutAThreadThereIsNone) {
  pthread_attr_t was, huge;
  ASSERT_EQ(pthread_getattr_default_np(&was), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);  // more than addresses
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  auto process = Process::Start({.argv = {"/bin/sleep", "1000"}});
  pthread_setattr_default_np(&was);
  ASSERT_FALSE(process.ok());
  EXPECT_EQ(process.code(), Code::kUnavailable);
  EXPECT_THAT(process.error().message, HasSubstr("/bin/sleep: no thread"));
}

// A test that is killed leaves no servers behind.
TEST(Process, DiesWithItsParent) {
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  pid_t parent = fork();
  if (parent == 0) {
    auto child = Process::Start({.argv = {"/bin/sleep", "1000"}});
    pid_t pid = child.ok() ? (*child)->pid() : -1;
    [[maybe_unused]] ssize_t n = write(channel[1], &pid, sizeof pid);
    pause();
    _exit(0);
  }
  pid_t child = -1;
  ASSERT_EQ(read(channel[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ASSERT_GT(child, 0);
  ASSERT_EQ(kill(child, 0), 0);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  // Gone, or a zombie where nobody reaps orphans.
  EXPECT_TRUE(Await([&] {
    auto stat = ReadFile("/proc/" + std::to_string(child) + "/stat");
    return !stat.ok() || stat->find(") Z ") != std::string::npos;
  }));
  close(channel[0]);
  close(channel[1]);
}

TEST(RunProgram, GivesOutputOrTheReasonOfFailure) {
  EXPECT_EQ(*RunProgram({"/bin/echo", "hello"}, "", Seconds(30)), "hello\n");
  auto failed = RunProgram({"/bin/sh", "-c", "echo no luck >&2; exit 2"}, "", Seconds(30));
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("exit code 2: no luck"));
  EXPECT_EQ(RunProgram({"/bin/sleep", "1000"}, "", Millis(20)).code(), Code::kDeadlineExceeded);
}

TEST(TemporaryFolder, GoesWithItsOwner) {
  std::string path;
  {
    TemporaryFolder folder;
    path = folder.path();
    ASSERT_TRUE(WriteFile(path + "/file", "content").ok());
  }
  EXPECT_EQ(access(path.c_str(), F_OK), -1);
}

}  // namespace
}  // namespace capi
