#include "local/programs/go_build.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "base/files.h"
#include "base/testing/await.h"
#include "base/testing/temp_folder.h"
#include "fetch/oci/image_name.h"
#include "local/programs/testing.h"

namespace capi::local {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GoBuild, PackagesAreReadAsGoNamesThem_G9) {
  const GoPackage package = ParseGoPackage("example.com/org/m/v2/cmd/manager@v2.0.1-rc.1").value();
  EXPECT_EQ(package.package, "example.com/org/m/v2/cmd/manager");
  EXPECT_EQ(package.version, "v2.0.1-rc.1");
  for (const char* text :
       {"", "example.com/m", "@v1.0.0", "example.com/m@", "example.com/m@latest", "example.com/m@1.0.0",
        "-flag.x/m@v1.0.0", "example.com/../m@v1.0.0", "no-host/m@v1.0.0", "example.com/a b@v1.0.0",
        "example.com/m@v1.0.0 -x", "./cmd@v1.0.0", "example.com/m@v1@v2"}) {
    auto read = ParseGoPackage(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.code(), Code::kInvalidArgument);
    EXPECT_THAT(read.error().message, HasSubstr("write MODULE[/PACKAGE]@VERSION"));
  }
}

// G9: Cluster API's own images are known, where it publishes them and with a version.
TEST(GoBuild, ClusterApisOwnImagesAreKnown_G9) {
  const std::pair<const char*, const char*> cases[] = {
      {"registry.k8s.io/cluster-api/cluster-api-controller:v1.12.1", "sigs.k8s.io/cluster-api@v1.12.1"},
      {"registry.k8s.io/cluster-api/kubeadm-bootstrap-controller:v1.11.0",
       "sigs.k8s.io/cluster-api/bootstrap/kubeadm@v1.11.0"},
      {"registry.k8s.io/cluster-api/kubeadm-control-plane-controller:v1.12.1",
       "sigs.k8s.io/cluster-api/controlplane/kubeadm@v1.12.1"},
      {"gcr.io/k8s-staging-cluster-api/capd-manager:v1.12.1",
       "sigs.k8s.io/cluster-api/test/infrastructure/docker@v1.12.1"},
      {"registry.k8s.io/cluster-api/cluster-api-controller", ""},
      {"registry.k8s.io/cluster-api/cluster-api-controller:latest", ""},
      {"registry.k8s.io/cluster-api/cluster-api-controller:v1.12.1"
       "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
       ""},
      {"registry.k8s.io/cluster-api/other:v1.12.1", ""},
      {"example.com/cluster-api/cluster-api-controller:v1.12.1", ""},
      {"capd-manager:v1.12.1", ""},
  };
  for (const auto& [image, package] : cases) {
    const auto known = KnownGoPackage(fetch::ParseImageName(image).value());
    EXPECT_EQ(known ? known->ToString() : "", package) << image;
    // The docker provider's module has Cluster API beside it, of its own version.
    EXPECT_EQ(known && !known->also.empty(), known && known->package.ends_with("docker")) << image;
  }
}

// G9: whoever names one of these packages, it is the same program, with its version in it.
TEST(GoBuild, ClusterApisOwnPackagesAreBuiltAlike_G9) {
  for (const char* image : {"registry.k8s.io/cluster-api/cluster-api-controller:v1.12.1",
                            "gcr.io/k8s-staging-cluster-api/capd-manager:v1.12.1"}) {
    const GoPackage known = *KnownGoPackage(fetch::ParseImageName(image).value());
    const GoPackage named = ParseGoPackage(known.ToString()).value();
    EXPECT_EQ(named.also, known.also) << image;
    EXPECT_EQ(named.version_variables, "sigs.k8s.io/cluster-api/version");
  }
  EXPECT_EQ(ParseGoPackage("example.com/m@v1.0.0")->version_variables, "");
}

// Or a zombie, which nobody here waits for.
bool IsGone(pid_t pid) {
  auto stat = ReadFile(fmt::format("/proc/{}/stat", pid));
  return !stat.ok() || stat->find(") Z ") != stat->npos;
}

// With a `go` that writes what it is asked, and builds what the test says.
class Builds : public testing::Test {
 protected:
  void WriteGo(const std::string& build) {
    std::filesystem::create_directories(folder_ / "bin");
    const std::string script = fmt::format(
        "#!/bin/sh\necho \"$@\" >>{0}/asked\necho \"$CGO_ENABLED $GOWORK [$GOFLAGS] $GOOS/$GOARCH\" >>{0}/environment\n"
        "test -f go.mod || exit 3\nif test \"$1\" = build; then\n"
        "while test \"$1\" != -o; do shift; done\n{1}\nfi\n",
        folder_.path(), build);
    ASSERT_TRUE(WriteFile(folder_ / "bin/go", script, 0755).ok());
  }
  Result<Program> Find(const GoPackage& package, const Context& ctx = {}) { return builds_.Find(ctx, package); }

  TempFolder folder_;
  GoBuilds builds_{folder_ / "builds", Only({{"PATH", "relative:" + (folder_ / "none") + ":" + (folder_ / "bin")}})};
  const GoPackage docker_ =
      *KnownGoPackage(*fetch::ParseImageName("gcr.io/k8s-staging-cluster-api/capd-manager:v1.12.1"));
};

TEST_F(Builds, AProgramIsBuiltOnce_G9) {
  WriteGo("cp /bin/sh \"$2\"");
  auto first = Find(docker_);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(CheckRuns(first->path).ok());
  EXPECT_EQ(first->source, "Go module sigs.k8s.io/cluster-api/test/infrastructure/docker@v1.12.1");
  EXPECT_EQ(first->root, "");
  EXPECT_EQ(Find(docker_)->path, first->path);
  const std::string asked = *ReadFile(folder_ / "asked");
  EXPECT_EQ(std::count(asked.begin(), asked.end(), '\n'), 2) << asked;
  EXPECT_THAT(asked, HasSubstr("get sigs.k8s.io/cluster-api/test/infrastructure/docker@v1.12.1 "
                               "sigs.k8s.io/cluster-api@v1.12.1\n"));
  EXPECT_THAT(asked, HasSubstr("-X sigs.k8s.io/cluster-api/version.gitVersion=v1.12.1"));
  EXPECT_THAT(*ReadFile(folder_ / "environment"), HasSubstr("0 off [] " + std::string(ThisPlatform()) + "\n"));
  EXPECT_THAT(*ListDir(std::filesystem::path(first->path).parent_path()), ElementsAre("program"));
  GoPackage newer = docker_;
  newer.version = "v1.12.2";
  EXPECT_NE(Find(newer)->path, first->path);
}

TEST_F(Builds, OneThatFailsSaysWhyAndLeavesNothing_G9) {
  WriteGo("echo first; echo no such package >&2; exit 2");
  auto built = Find(docker_);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.code(), Code::kFailedPrecondition);
  EXPECT_THAT(built.error().message,
              AllOf(HasSubstr("`go build` ends with 2"), HasSubstr("no such package"), HasSubstr(".log")));
  EXPECT_EQ(ListDir(folder_ / "builds")->size(), 1u) << "its log";
  WriteGo("cp /bin/sh \"$2\"");
  EXPECT_TRUE(Find(docker_).ok()) << "the next try may succeed";
}

TEST_F(Builds, WithoutGoNothingIsBuilt_G9) {
  auto built = Find(docker_);
  EXPECT_EQ(built.code(), Code::kNotFound);
  EXPECT_THAT(built.error().message, HasSubstr("there is no `go` in PATH"));
}

TEST_F(Builds, EndsWithItsContext_G9) {
  WriteGo("exec sleep 1000");
  auto built = Find(docker_, Context{}.WithTimeout(Millis(300)));
  EXPECT_EQ(built.code(), Code::kDeadlineExceeded);
}

// G8: `down` doesn't wait for compilers, and leaves none.
TEST_F(Builds, WhatItStartedEndsWithItsContext_G9) {
  WriteGo(
      fmt::format("trap '' INT TERM; sleep 1000 & echo $! >{0}/compiler.new; mv {0}/compiler.new {0}/compiler\n"
                  "echo x >$GOTMPDIR/left; wait",
                  folder_.path()));
  std::stop_source stop;
  std::optional<Result<Program>> built;
  std::thread builds([&] { built = Find(docker_, Context{}.WithStop(stop.get_token())); });
  ASSERT_TRUE(Await([&] { return ReadFile(folder_ / "compiler").ok(); }));
  EXPECT_EQ(Find({.package = "example.com/other", .version = "v1.0.0"}, Context{}.WithTimeout(Millis(50))).code(),
            Code::kDeadlineExceeded)
      << "it waits for its turn, and no longer than it may";
  stop.request_stop();
  builds.join();
  EXPECT_EQ(built->code(), Code::kCancelled);
  const pid_t compiler = std::stoi(*ReadFile(folder_ / "compiler"));
  EXPECT_TRUE(Await([&] { return IsGone(compiler); }));
  EXPECT_EQ(ListDir(folder_ / "builds")->size(), 1u) << "its log";
}

// What is built already is there whatever is built meanwhile.
TEST_F(Builds, WhatIsBuiltWaitsForNoOther_G9) {
  WriteGo("cp /bin/sh \"$2\"");
  ASSERT_TRUE(Find(docker_).ok());
  WriteGo(fmt::format("touch {}/began; exec sleep 1000", folder_.path()));
  std::stop_source stop;
  std::thread builds([&] {
    EXPECT_FALSE(Find({.package = "example.com/m", .version = "v1.0.0"}, Context{}.WithStop(stop.get_token())).ok());
  });
  ASSERT_TRUE(Await([&] { return ReadFile(folder_ / "began").ok(); }));
  EXPECT_TRUE(Find(docker_, Context{}.WithTimeout(Seconds(10))).ok());
  stop.request_stop();
  builds.join();
}

TEST_F(Builds, OneThatHangsIsEnded_G9) {
  WriteGo("exec sleep 1000");
  GoBuilds impatient(folder_ / "builds", Only({{"PATH", folder_ / "bin"}}), {}, Millis(300));
  auto built = impatient.Find({}, docker_);
  EXPECT_EQ(built.code(), Code::kFailedPrecondition);
  EXPECT_THAT(built.error().message, HasSubstr("takes longer than"));
}

// G3: what outlives a build is known by its environment.
TEST_F(Builds, ItsProcessesHaveTheVariablesThatAreGiven_G9) {
  WriteGo(fmt::format("echo \"$MARK\" >{}/mark; cp /bin/sh \"$2\"", folder_.path()));
  GoBuilds marked(folder_ / "builds", Only({{"PATH", folder_ / "bin"}}), {"MARK=plane"});
  ASSERT_TRUE(marked.Find({}, docker_).ok());
  EXPECT_EQ(*ReadFile(folder_ / "mark"), "plane\n");
}

}  // namespace
}  // namespace capi::local
