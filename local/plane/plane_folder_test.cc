#include "local/plane/plane_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "local/plane/logs.h"
#include "local/plane/plane_lock.h"

namespace capi::local {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

// Root may remove whatever there is.
class NotRoot {
 public:
  explicit NotRoot(const std::string& folder) {
    if (!was_root_) return;
    EXPECT_EQ(chown(folder.c_str(), kNobody, kNobody), 0);
    EXPECT_EQ(seteuid(kNobody), 0);
  }
  ~NotRoot() {
    if (was_root_) EXPECT_EQ(seteuid(0), 0);
  }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool was_root_ = geteuid() == 0;
};

// Rule G1.
TEST(PlaneFolder, IsMadeOnceAndFoundAgain) {
  TempFolder temp;
  auto made = PlaneFolder::Make(temp / "a/b/");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->path(), fs::path(temp / "a/b").lexically_normal());
  EXPECT_EQ(ModeOf(made->path()), 0700u);
  EXPECT_EQ(made->id().size(), 16u);
  EXPECT_EQ(PlaneFolder::Make(temp / "a/b")->id(), made->id());
  EXPECT_EQ(PlaneFolder::Open(temp / "a/b")->id(), made->id());
  EXPECT_NE(PlaneFolder::Make(temp / "c")->id(), made->id());
}

// Rule G1: nothing of a stranger's is written over.
TEST(PlaneFolder, RefusesWhatIsNoPlanes) {
  TempFolder temp;
  ASSERT_TRUE(WriteFile(temp / "notes.txt", "mine").ok());
  auto full = PlaneFolder::Make(temp.path());
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.code(), Code::kFailedPrecondition);
  EXPECT_THAT(full.error().message, HasSubstr("--dir"));
  EXPECT_EQ(PlaneFolder::Make(temp / "notes.txt").code(), Code::kInvalidArgument);
  EXPECT_EQ(PlaneFolder::Make("").code(), Code::kInvalidArgument);
  EXPECT_EQ(PlaneFolder::Open(temp.path()).code(), Code::kNotFound);
  ASSERT_TRUE(WriteFile(temp / "capi-local.json", "{}").ok());
  EXPECT_EQ(PlaneFolder::Open(temp.path()).code(), Code::kFailedPrecondition);
}

// Rule G1: programs that its settings name run as this user.
TEST(PlaneFolder, RefusesWhatOthersHaveOrMayWriteInto) {
  TempFolder temp;
  const PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / "plane"), "plane");
  fs::create_directory(temp / "empty");
  for (const std::string& path : {folder.path(), temp / "empty"}) {
    for (mode_t mode : {0720, 0702}) {
      ASSERT_EQ(chmod(path.c_str(), mode), 0);
      const auto refused = PlaneFolder::Make(path);
      ASSERT_FALSE(refused.ok()) << path;
      EXPECT_EQ(refused.code(), Code::kPermissionDenied);
      EXPECT_THAT(refused.error().message, HasSubstr("chmod go-w /"));
    }
  }
  EXPECT_EQ(PlaneFolder::Open(folder.path()).code(), Code::kPermissionDenied);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_TRUE(PlaneFolder::Open(folder.path()).ok());
  if (geteuid() != 0) return;  // nobody else gives a folder away
  ASSERT_EQ(chown(folder.path().c_str(), 12345, 12345), 0);
  const auto theirs = PlaneFolder::Open(folder.path());
  ASSERT_FALSE(theirs.ok());
  EXPECT_THAT(theirs.error().message, HasSubstr("is another user's"));
  EXPECT_EQ(PlaneFolder::Make(folder.path()).code(), Code::kPermissionDenied);
}

TEST(PlaneFolder, KnowsWhetherItIsThereStill) {
  TempFolder temp;
  const PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / "plane"), "plane");
  EXPECT_TRUE(folder.CheckIsThere().ok());
  ASSERT_TRUE(folder.Remove().ok());
  EXPECT_EQ(folder.CheckIsThere().code(), Code::kUnavailable);
  ASSERT_TRUE(PlaneFolder::Make(temp / "plane").ok());
  EXPECT_EQ(folder.CheckIsThere().code(), Code::kUnavailable) << "it is another one";
}

TEST(ShellQuote, QuotesWhatAShellWouldPart) {
  EXPECT_EQ(ShellQuote("/home/me/a-b_c.d"), "/home/me/a-b_c.d");
  EXPECT_EQ(ShellQuote("my plane"), "'my plane'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$(x)"), "'$(x)'");
  EXPECT_EQ(ShellQuote(""), "''");
}

// Rule G8: `down --delete` takes what is the plane's, and nothing else.
TEST(PlaneFolder, RemovesItsOwnAlone) {
  TempFolder temp;
  for (bool with_other : {false, true}) {
    PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / "plane"), "plane");
    ASSERT_TRUE(folder.MakeFolders().ok());
    ASSERT_TRUE(WriteFile(folder.Log("etcd"), "x").ok());
    if (with_other) ASSERT_TRUE(WriteFile(folder.path() + "/notes.txt", "mine").ok());
    // What an `up` that was killed may have left.
    ASSERT_TRUE(WriteFile(folder.path() + "/.capi-local.json.0123456789abcdef", "").ok());
    ASSERT_TRUE(WriteFile(folder.path() + "/..capi-local.json.0123456789abcdef.aBcDeF", "").ok());
    auto gone = folder.Remove();
    ASSERT_TRUE(gone.ok()) << gone.error().message;
    EXPECT_EQ(*gone, !with_other);
    EXPECT_EQ(fs::exists(folder.path()), with_other);
  }
  EXPECT_EQ(*ListDir(temp / "plane"), std::vector<std::string>{"notes.txt"});
}

// Rule G3: what is killed while it removes a plane leaves a folder that the next `up` takes.
TEST(PlaneFolder, ALockAloneIsNobodys) {
  TempFolder temp;
  ASSERT_TRUE(WriteFile(temp / "lock", "").ok());
  EXPECT_TRUE(PlaneFolder::Make(temp.path()).ok());
}

// Rule G8: with a part of its data nobody runs a plane that is half deleted.
TEST(PlaneFolder, OneThatIsHalfDeletedIsKnown) {
  TempFolder temp;
  const NotRoot user(temp.path());
  PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / "plane"), "plane");
  ASSERT_TRUE(folder.MakeFolders().ok());
  ASSERT_TRUE(WriteFile(folder.Etcd() + "/wal", "x").ok());
  ASSERT_TRUE(WriteFile(folder.Pods() + "/log", "x").ok());
  EXPECT_FALSE(folder.IsHalfDeleted());
  ASSERT_EQ(chmod(folder.Pods().c_str(), 0500), 0);
  EXPECT_FALSE(folder.Remove().ok());
  EXPECT_TRUE(folder.IsHalfDeleted());
  EXPECT_FALSE(fs::exists(folder.Etcd()));
  EXPECT_EQ(PlaneFolder::Open(folder.path())->id(), folder.id());
  ASSERT_EQ(chmod(folder.Pods().c_str(), 0700), 0);
  EXPECT_TRUE(*folder.Remove());
}

// Rule G8: all of the data, or none.
TEST(PlaneFolder, OneThatCannotBeDeletedKeepsItsData) {
  TempFolder temp;
  const NotRoot user(temp.path());
  PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / "plane"), "plane");
  ASSERT_TRUE(folder.MakeFolders().ok());
  ASSERT_TRUE(WriteFile(folder.Etcd() + "/wal", "x").ok());
  ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
  EXPECT_FALSE(folder.Remove().ok());
  EXPECT_TRUE(fs::exists(folder.Etcd() + "/wal"));
  ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
  EXPECT_TRUE(*folder.Remove());
}

// Rule G2: of two that make a plane at once one does, and both know it.
TEST(PlaneFolder, OneThatIsMadeMeanwhileIsNotMadeOver) {
  TempFolder temp;
  std::vector<std::string> ids(8);
  {
    std::vector<std::jthread> threads;
    for (std::string& id : ids) {
      threads.emplace_back([&] {
        auto made = PlaneFolder::Make(temp / "plane");
        id = made.ok() ? made->id() : made.error().message;
      });
    }
  }
  const std::string there = PlaneFolder::Open(temp / "plane")->id();
  for (const std::string& id : ids) EXPECT_EQ(id, there);
  EXPECT_EQ(*ListDir(temp / "plane"), std::vector<std::string>{"capi-local.json"});
}

TEST(PlaneFolder, KeepsSocketsWhereTheirNamesAreShort) {
  TempFolder temp;
  PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / std::string(100, 'x')), "plane");
  auto with = [](const std::string& runtime) {
    return [runtime](const std::string&) { return std::optional<std::string>(runtime); };
  };
  EXPECT_LT(folder.Private(with(folder.path())).size(), 60u);
  EXPECT_LT(folder.Private(with("")).size(), 60u);
  EXPECT_EQ(folder.Private(with("/tmp")), "/tmp/capi-local-" + folder.id());
}

TEST(PlaneFolder, MakesThePrivateFolderForItselfAlone) {
  TempFolder temp;
  const std::string folder = temp / "private";
  ASSERT_TRUE(PlaneFolder::MakePrivate(folder).ok());
  EXPECT_EQ(ModeOf(folder), 0700u);
  ASSERT_TRUE(WriteFile(folder + "/secret", "x").ok());
  ASSERT_TRUE(PlaneFolder::MakePrivate(folder).ok());
  EXPECT_TRUE(ListDir(folder)->empty());
  // One that others may look into isn't ours to use.
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_FALSE(PlaneFolder::MakePrivate(folder).ok());
  PlaneFolder::RemovePrivate(folder);
  EXPECT_TRUE(fs::exists(folder));
  // Nor is what a link leads to.
  ASSERT_EQ(symlink("/", (temp / "link").c_str()), 0);
  EXPECT_FALSE(PlaneFolder::MakePrivate(temp / "link").ok());
}

// Rule G3: whoever ends a plane removes its private folder, whatever the environment is by then.
TEST(PlaneFolder, FindsThePrivateFolderOfAnEarlierRun) {
  TempFolder temp;
  PlaneFolder folder = ValueOrAbort(PlaneFolder::Make(temp / "plane"), "plane");
  const std::string own = temp / ("capi-local-" + folder.id()), other = temp / "other";
  for (const std::string& path : {own, other}) {
    ASSERT_TRUE(PlaneFolder::MakePrivate(path).ok());
    ASSERT_TRUE(folder.TellPrivate(path).ok());
    folder.RemovePrivates();
  }
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(fs::exists(other)) << "its name is no private folder's of this plane";
}

// Rule G2: one plane for a folder, and its holder is known as long as it lives.
void CheckLock(PlaneLock::Who who) {
  TempFolder temp;
  const std::string path = temp / "lock";
  EXPECT_EQ(*SupervisorOf(path), std::nullopt);
  int ready[2], end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto lock = PlaneLock::TryTake(path, who);
    char byte = lock.ok() && *lock ? 'y' : 'n';
    // As the supervisor does. Who found the lock free once saw it still at work on its last things.
    if (who == PlaneLock::Who::kSupervisor) {
      std::move(**lock).KeepUntilExit();
      lock = std::optional<PlaneLock>();
    }
    [[maybe_unused]] ssize_t n = write(ready[1], &byte, 1);
    close(end[1]);
    n = read(end[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  auto refused = PlaneLock::TryTake(path);
  ASSERT_TRUE(refused.ok());
  EXPECT_FALSE(*refused);
  EXPECT_FALSE(*PlaneLock::TryTake(path, PlaneLock::Who::kSupervisor));
  EXPECT_EQ(*SupervisorOf(path), who == PlaneLock::Who::kSupervisor ? std::optional(child) : std::nullopt);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(*SupervisorOf(path), std::nullopt);
  EXPECT_TRUE(*PlaneLock::TryTake(path));
  for (int fd : {ready[0], ready[1], end[0], end[1]}) close(fd);
}

TEST(PlaneLock, IsOneProcessesAndEndsWithIt) { CheckLock(PlaneLock::Who::kSupervisor); }

// Rule G8: who ends a plane holds its lock meanwhile, and isn't taken for the supervisor.
TEST(PlaneLock, OfOneThatEndsThePlaneIsNoSupervisors) { CheckLock(PlaneLock::Who::kOther); }

// Rule G8: no signal goes to pid 0 or -1, which would be other processes.
TEST(PlaneLock, AHolderWithoutAPidIsRefused) {
  TempFolder temp;
  const int fd = open((temp / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);  // the kernel tells -1 for its holder
  EXPECT_EQ(SupervisorOf(temp / "lock").code(), Code::kFailedPrecondition);
  close(fd);
}

TEST(Logs, AreCutWhereTheyAreTooLong) {
  TempFolder temp;
  ASSERT_TRUE(WriteFile(temp / "etcd.log", "12345").ok());
  ASSERT_TRUE(WriteFile(temp / "short.log", "1234").ok());
  ASSERT_TRUE(WriteFile(temp / "other", "12345").ok());
  BoundLogs(temp.path(), 4);
  EXPECT_EQ(*ReadFile(temp / "etcd.log"), "");
  EXPECT_EQ(*ReadFile(temp / "etcd.log.old"), "12345");
  EXPECT_EQ(*ReadFile(temp / "short.log"), "1234");
  EXPECT_EQ(*ReadFile(temp / "other"), "12345");
}

}  // namespace
}  // namespace capi::local
