// What `local down --delete` asks before it deletes.
#include <gmock/gmock.h>

#include "cli/local/lock_holder_testing.h"
#include "cli/move/move_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A plane whose API server is the cluster a, with a process that holds its lock as the supervisor does.
class Down : public move::Moves {
 protected:
  void SetUp() override {
    folder_.Put("plane/capi-local.json", R"({"plane":"0123456789abcdef","format":1})");
    folder_.Put("plane/pki/kubeconfig", a_.Kubeconfig());
    // The person's is led elsewhere: nobody goes there.
    folder_.Put("plane/kubeconfig", b_.Kubeconfig());
    supervisor_.Hold(folder_ / "plane/lock", local::PlaneLock::Who::kSupervisor);
  }
  Outcome Delete() { return Clusterctl({"local", "down", "--delete", "--dir", folder_ / "plane"}); }
  bool IsRunning() const {
    const auto holder = local::SupervisorOf(folder_ / "plane/lock");
    return holder.ok() && holder->has_value();
  }
  bool IsThere() const { return std::filesystem::exists(folder_ / "plane"); }

  LockHolder supervisor_;
};

// G8: without the plane nobody knows the machines of its Clusters.
TEST_F(Down, DeletesNoPlaneThatHasClusters) {
  const Outcome got = Delete();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, AllOf(HasSubstr("still has Clusters (team/one, team/two)"), HasSubstr("local destroy"),
                             HasSubstr("nothing is ended or deleted")));
  EXPECT_TRUE(IsThere());
  EXPECT_TRUE(IsRunning()) << "it wasn't ended";
}

TEST_F(Down, DeletesNoPlaneThatCannotBeAsked) {
  a_.Forbid("GET", "clusters");
  const Outcome got = Delete();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("can't be asked whether it still has Clusters"));
  EXPECT_TRUE(IsThere());
}

// An API server that begins says of each kind that there is none.
TEST_F(Down, WaitsForAnApiServerThatBegins) {
  a_.BeginSlowly(2);
  const Outcome got = Delete();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("still has Clusters"));
  // As it stands, and of this plane.
  EXPECT_THAT(got.err, HasSubstr("`clusterctl local down --delete --dir " + (folder_ / "plane") + "`"));
  EXPECT_TRUE(IsThere());
}

// A plane that has data has Clusters, as far as anybody knows.
TEST_F(Down, DeletesNoPlaneWhoseKubeconfigIsGone) {
  std::filesystem::remove(folder_ / "plane/pki/kubeconfig");
  std::filesystem::create_directories(folder_ / "plane/etcd/member");
  const Outcome got = Delete();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("can't be asked whether it still has Clusters"));
  EXPECT_TRUE(IsThere());
  std::filesystem::remove_all(folder_ / "plane/etcd/member");
  EXPECT_EQ(Delete().code, 0) << "its API server has never come up";
}

TEST_F(Down, DeletesOneWithoutClusters) {
  for (const char* name : {"one", "two"}) a_.Remove("Cluster", "team", name);
  const Outcome got = Delete();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(IsThere());
}

// What people do who want to lose them.
TEST_F(Down, AsksNoPlaneThatWasEndedBefore) {
  EXPECT_EQ(Clusterctl({"local", "down", "--dir", folder_ / "plane"}).code, 0);
  EXPECT_EQ(Delete().code, 0);
  EXPECT_FALSE(IsThere());
}

TEST_F(Down, SaysThatNothingOfAHalfDeletedOneIsKept) {
  folder_.Put("plane/etcd.gone/wal", "x");
  const Outcome got = Clusterctl({"local", "down", "--dir", folder_ / "plane"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("The plane has ended"), HasSubstr("deleted by `local down --delete`"),
                             Not(HasSubstr("its data is kept"))));
  EXPECT_TRUE(IsThere());
}

}  // namespace
}  // namespace capi::cli
