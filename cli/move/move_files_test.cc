// `clusterctl move` into files and out of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "cli/move/move_testing.h"
#include "cli/move/record.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;

class Directories : public Moves {
 protected:
  Directories() { std::filesystem::create_directory(folder_ / "files"); }
  Outcome Into() { return Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "files"}); }
  Outcome OutOf() { return Run({"--to-kubeconfig", folder_ / "b", "--from-directory", folder_ / "files"}); }
};

// L17.
TEST_F(Directories, HoldAllThatMoves) {
  Outcome into = Into();
  ASSERT_EQ(into.code, 0) << into.err;
  EXPECT_EQ(Essences(a_), before_);
  EXPECT_THAT(ListDir(folder_ / "files").value(),
              testing::ElementsAre(
                  "ClusterClass_team_quick.yaml", "Cluster_team_one.yaml", "Cluster_team_two.yaml",
                  "Identity__identity.yaml", "MachineDeployment_team_one-md.yaml", "MachineDeployment_team_two-md.yaml",
                  "Machine_team_one-m.yaml", "Machine_team_two-m.yaml", "Secret_provider_credentials.yaml",
                  "Secret_team_one-kubeconfig.yaml", "Secret_team_two-kubeconfig.yaml", "Template_team_template.yaml"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "files"))
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(0600));
  Outcome out_of = OutOf();
  ASSERT_EQ(out_of.code, 0) << out_of.err;
  EXPECT_EQ(Essences(b_), AllBut("foreign"));
  // A second time all of it is there already, and stays as it is.
  Json one = *b_.Find("Cluster", "team", "one");
  one["spec"] = {{"paused", true}};
  b_.Put(one);
  Essentials restored = Essences(b_);
  EXPECT_EQ(OutOf().code, 0);
  EXPECT_EQ(Essences(b_), restored);
}

// L17.
TEST_F(Directories, AreReadOnAfterAnInterruption) {
  ASSERT_EQ(Into().code, 0);
  allowance_.Set(-1);
  ASSERT_EQ(OutOf().code, 0);
  const int writes = allowance_.taken();
  const Essentials restored = Essences(b_);
  for (int n = 0; n < writes; ++n) {
    SCOPED_TRACE(n);
    for (const Json& object : b_.All()) {
      if (object["kind"] == "Provider") continue;
      b_.Remove(object["kind"], GetString(object, {"metadata", "namespace"}), object["metadata"]["name"]);
    }
    b_.Remove("Namespace", "", "team");
    allowance_.Set(n);
    ASSERT_EQ(OutOf().code, 1);
    allowance_.Set(-1);
    ASSERT_EQ(OutOf().code, 0);
    ASSERT_EQ(Essences(b_), restored);
  }
}

// L17: where the files can't be written, or not in time, nothing stays paused, and no half is read.
TEST_F(Directories, AreWholeOrNotRead) {
  a_.OnWrite([&](const std::string&, const std::string&) { a_.Remove("Machine", "team", "one-m"); });
  Outcome got = Into();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("failed to read Machine team/one-m"));
  EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  EXPECT_TRUE(ListDir(folder_ / "files").value().empty());
  std::filesystem::create_directory(folder_ / "files/.clusterctl-move-unfinished");
  EXPECT_THAT(OutOf().err, HasSubstr("the move into this folder hasn't ended. Run it again, with --to-directory"));
  ASSERT_EQ(Into().code, 0);
  EXPECT_EQ(OutOf().code, 0);
}

// L17.
TEST_F(Directories, WithOtherFilesAreTold) {
  folder_.Put("files/old.yaml", "x");
  EXPECT_THAT(Into().err,
              HasSubstr("has files that aren't of this move, and that --from-directory would read: old.yaml\n"));
  EXPECT_THAT(OutOf().err, HasSubstr("old.yaml: is no Kubernetes object"));
  EXPECT_THAT(Run({"--to-kubeconfig", folder_ / "b", "--from-directory", folder_ / "none"}).err,
              HasSubstr("no such folder"));
  EXPECT_THAT(Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "files/old.yaml"}).err,
              HasSubstr("is no folder"));
}

}  // namespace
}  // namespace capi::cli::move
