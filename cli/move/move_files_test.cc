// `clusterctl move` into files and out of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "base/files.h"
#include "base/testing/length.h"
#include "cli/move/directory.h"
#include "cli/move/move_testing.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;

class Directories : public Moves {
 protected:
  Directories() { std::filesystem::create_directory(folder_ / "files"); }
  Outcome Into() { return Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "files"}); }
  // Before it appears.
  bool Saved(const std::string& name) {
    return std::filesystem::exists(folder_ / "files/.clusterctl-move-unfinished/" + name + ".yaml");
  }
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
  for (int n = 0; n < writes; n += ByLength(3, 1, 1)) {
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
  a_.OnRead([&](const std::string& target) {
    if (target.find("/machines/one-m") != target.npos) a_.Remove("Machine", "team", "one-m");
  });
  Outcome got = Into();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("no file was written; run the same command again: failed to read Machine team/one-m"));
  EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  EXPECT_TRUE(ListDir(folder_ / "files").value().empty());
  std::filesystem::create_directory(folder_ / "files/.clusterctl-move-unfinished");
  EXPECT_THAT(OutOf().err, HasSubstr("the move into this folder hasn't ended. Run it again, with --to-directory"));
  ASSERT_EQ(Into().code, 0);
  EXPECT_EQ(OutOf().code, 0);
}

// L17.
TEST_F(Directories, HoldWhatCameWhileClustersWerePaused) {
  std::atomic<bool> made = false;
  a_.OnWrite([&](const std::string&, const std::string&) {
    if (!made.exchange(true)) fleet_.Make("Template", "late", "one");
  });
  ASSERT_EQ(Into().code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "files/Template_team_late.yaml"));
}

// L17: nor where the source is no longer what the files say.
TEST_F(Directories, AreNotWrittenOfWhatHasChanged) {
  const std::pair<std::function<void()>, const char*> cases[] = {
      {[&] { fleet_.Make("Template", "late", "one"); }, "Template team/late came while objects were being copied"},
      {[&] {
         Json one = *a_.Find("Cluster", "team", "one");
         one["spec"].erase("paused");
         a_.Put(one);
       },
       "not all of the source is paused: Cluster team/one was resumed"},
  };
  for (const auto& [change, why] : cases) {
    SCOPED_TRACE(why);
    a_.OnRead([&, change = change](const std::string& target) {
      if (target.find("/machines/one-m") == target.npos) return;
      a_.OnRead({});
      change();
    });
    Outcome got = Into();
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr(fmt::format("no file was written; run the same command again: {}", why)));
    EXPECT_TRUE(ListDir(folder_ / "files").value().empty());
    EXPECT_FALSE(IsPaused(kube::Object(*a_.Find("Cluster", "team", "one"))));
  }
  ASSERT_EQ(Into().code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "files/Template_team_late.yaml"));
}

// L17: what has changed since it was read is read again.
TEST_F(Directories, HoldAnEditOfTheLastMoment) {
  a_.OnRead([&](const std::string& target) {
    if (!target.starts_with("/api/v1/namespaces/team/secrets?") || !Saved("Secret_team_two-kubeconfig")) return;
    a_.OnRead({});
    Json secret = *a_.Find("Secret", "team", "two-kubeconfig");
    secret["data"]["value"] = "ZWRpdGVk";
    a_.Put(secret);
  });
  ASSERT_EQ(Into().code, 0);
  EXPECT_THAT(ReadFile(folder_ / "files/Secret_team_two-kubeconfig.yaml", 1 << 20).value(), HasSubstr("ZWRpdGVk"));
}

// L17: nor of what was made again since it was looked at.
TEST_F(Directories, AreNotWrittenOfWhatWasMadeAgain) {
  a_.OnRead([&](const std::string& target) {
    const bool again = target.find("/secrets/two-kubeconfig") != target.npos;
    if (!again && !target.starts_with("/api/v1/namespaces/team/secrets?")) return;
    if (!Saved("Secret_team_two-kubeconfig")) return;
    Json secret = *a_.Find("Secret", "team", "two-kubeconfig");
    if (again) secret["metadata"].erase("uid");
    a_.Put(secret);
  });
  Outcome got = Into();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("no file was written; run the same command again: failed to read Secret "
                                 "team/two-kubeconfig: it was deleted and made again meanwhile\n"));
  EXPECT_TRUE(ListDir(folder_ / "files").value().empty());
}

// L17: in files all Clusters are paused; only those stay so of which the record says it.
TEST_F(Directories, SayOnlyOfThoseThatStaySoThatTheyArePaused) {
  ASSERT_EQ(Into().code, 0);
  Outcome got = OutOf();
  EXPECT_THAT(got.err, HasSubstr("Cluster team/two is paused, and stays so\n"));
  EXPECT_THAT(got.err, testing::Not(HasSubstr("Cluster team/one is paused")));
}

// L17: a folder is an end of its own. What is being restored from one isn't saved into it, nor resumed with another.
TEST_F(Directories, AreDifferentEnds) {
  std::filesystem::create_directory(folder_ / "others");
  const std::vector<std::string> out_of_others = {"--to-kubeconfig", folder_ / "b", "--from-directory",
                                                  folder_ / "others"};
  ASSERT_EQ(Into().code, 0);
  fleet_.MakeCluster("three", false);
  ASSERT_EQ(Run({"--kubeconfig", folder_ / "a", "--to-directory", folder_ / "others"}).code, 0);
  // The restoration of Cluster three alone is interrupted.
  for (const std::string& name : ListDir(folder_ / "others").value())
    if (std::filesystem::exists(folder_ / "files/" + name)) std::filesystem::remove(folder_ / "others/" + name);
  b_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method == "POST" && target.find("/machines") != target.npos) allowance_.Set(0);
  });
  ASSERT_EQ(Run(out_of_others).code, 1);
  b_.OnWrite({});
  allowance_.Set(-1);
  MakeReady(b_);
  Outcome into = Run({"--kubeconfig", folder_ / "b", "--to-directory", folder_ / "others"});
  EXPECT_EQ(into.code, 1);
  EXPECT_THAT(into.err, HasSubstr("Cluster team/three is part of another move that hasn't ended"));
  ASSERT_EQ(OutOf().code, 0);
  EXPECT_TRUE(IsPaused(kube::Object(*b_.Find("Cluster", "team", "three"))));
  EXPECT_FALSE(IsPaused(kube::Object(*b_.Find("Cluster", "team", "one"))));
  ASSERT_EQ(Run(out_of_others).code, 0);
  EXPECT_FALSE(IsPaused(kube::Object(*b_.Find("Cluster", "team", "three"))));
  EXPECT_TRUE(b_.Find("Machine", "team", "three-m"));
}

// L17: a copy of a folder is the same end, wherever it lies.
TEST_F(Directories, GoOnFromACopy) {
  ASSERT_EQ(Into().code, 0);
  b_.OnWrite([&](const std::string& method, const std::string& target) {
    if (method == "POST" && target.find("/machines") != target.npos) allowance_.Set(0);
  });
  ASSERT_EQ(OutOf().code, 1);
  b_.OnWrite({});
  allowance_.Set(-1);
  std::filesystem::rename(folder_ / "files", folder_ / "elsewhere");
  Outcome got = Run({"--to-kubeconfig", folder_ / "b", "--from-directory", folder_ / "elsewhere"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_FALSE(IsPaused(kube::Object(*b_.Find("Cluster", "team", "one"))));
}

// L17: what stays paused though nobody wanted it is told.
TEST_F(Directories, TellOfWhatStaysPaused) {
  ASSERT_EQ(Into().code, 0);
  EXPECT_THAT(OutOf().err, testing::Not(HasSubstr("is still paused")));
  Json one = *b_.Find("Cluster", "team", "one");
  one["spec"]["paused"] = true;
  b_.Put(one);
  Outcome got = OutOf();
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.err, HasSubstr("Warning: Cluster team/one is still paused in the target"));
  EXPECT_THAT(got.err, testing::Not(HasSubstr("Cluster team/two is still paused")));
}

// L17: what another move has under way in the target isn't taken for what is restored.
TEST_F(Directories, AreNotRestoredOverAnotherMove) {
  ASSERT_EQ(Into().code, 0);
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  Json& one = there.Add("Cluster", "one");
  one["spec"] = {{"paused", true}};
  one["metadata"]["annotations"][std::string(kRecordAnnotation)] = ToText({{"b", "z"}});
  there.Made();
  allowance_.Set(-1);
  Outcome got = OutOf();
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr("the target cluster has part of another move that hasn't ended"));
  EXPECT_THAT(got.err, HasSubstr("Cluster team/one"));
  EXPECT_EQ(allowance_.taken(), 0);
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

kube::Object PausedCluster(const Record* record) {
  kube::Object object(Json{{"kind", "Cluster"}, {"metadata", {{"name", "a"}}}, {"spec", {{"paused", true}}}});
  if (record != nullptr) object.set_annotation(kRecordAnnotation, ToText(*record));
  return object;
}

// L17: the file of what a move has paused is the one that Cluster API's clusterctl writes.
TEST(FileText, IsOneLineOfJson) {
  const Ends ends{"x", DirectoryEnd("/backup")};
  Record mine{ends}, theirs{ends, true};
  const char* plain = "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"paused\":true}}\n";
  EXPECT_EQ(FileText(PausedCluster(nullptr)), plain);
  EXPECT_EQ(FileText(PausedCluster(&mine)), plain);
  EXPECT_NE(FileText(PausedCluster(&theirs)).find("wasPaused"), std::string::npos);
  kube::Object resumed(Json{{"kind", "Cluster"}, {"metadata", {{"name", "a"}}}});
  resumed.set_annotation(kRecordAnnotation, ToText(mine));
  EXPECT_EQ(FileText(resumed), "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"a\"}}\n");
  EXPECT_EQ(FileText(kube::Object(Json{{"a", "<b>&\u2028\"ü\""}})),
            "{\"a\":\"\\u003cb\\u003e\\u0026\\u2028\\\"ü\\\"\"}\n");
}

}  // namespace
}  // namespace capi::cli::move
