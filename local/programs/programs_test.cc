#include "local/programs/programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "fetch/oci/image_testing.h"
#include "local/programs/testing.h"

namespace capi::local {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// G9: as Kubernetes has it, a container's command goes in the place of entrypoint and cmd, its args in that of cmd.
TEST(Programs, ContainersCommandsAndArgumentsCombineAsInKubernetes_G9) {
  TempFolder folder;
  const std::string root = folder.path();
  for (const char* name : {"manager", "other"}) ASSERT_TRUE(WriteFile(folder / name, "#!/bin/sh\n", 0755).ok());
  ASSERT_TRUE(WriteFile(folder / "broken", "#!/bin/none\n", 0755).ok());
  const Program image{.path = root + "/manager",
                      .entrypoint_arguments = {"-e"},
                      .cmd = {"-c"},
                      .root = root,
                      .environment = {{"PATH", "/"}},
                      .working_folder = root};
  using Words = std::vector<std::string>;
  struct Case {
    Words command, args, all;
  };
  const Case cases[] = {
      {{}, {}, {root + "/manager", "-e", "-c"}},     {{}, {"-a", "b"}, {root + "/manager", "-e", "-a", "b"}},
      {{"/manager"}, {}, {root + "/manager"}},       {{"/manager", "-x"}, {"-a"}, {root + "/manager", "-x", "-a"}},
      {{"/other"}, {"-a"}, {root + "/other", "-a"}}, {{"other"}, {}, {root + "/other"}},
      {{"./other"}, {}, {root + "/other"}},
  };
  for (const Case& c : cases) EXPECT_EQ(ArgumentsOf(image, c.command, c.args).value(), c.all);
  EXPECT_EQ(ArgumentsOf(image, {"/bin/sh", "-c"}, {}).code(), Code::kNotFound);
  EXPECT_EQ(ArgumentsOf(image, {"/broken"}, {}).code(), Code::kUnsupported);
  // One that was named stands for whatever program the container wants.
  const Program named{.path = "/usr/bin/true"};
  EXPECT_THAT(ArgumentsOf(named, {"/manager", "-x"}, {"-a"}).value(), ElementsAre("/usr/bin/true", "-x", "-a"));
  EXPECT_THAT(ArgumentsOf(named, {}, {"-a"}).value(), ElementsAre("/usr/bin/true", "-a"));
  Program bare = image;
  bare.path.clear();
  EXPECT_EQ(ArgumentsOf(bare, {}, {"-a"}).code(), Code::kNotFound);
  EXPECT_THAT(ArgumentsOf(bare, {"/other"}, {}).value(), ElementsAre(root + "/other"));
}

class Sources : public testing::Test {
 protected:
  Sources() {
    EXPECT_TRUE(WriteFile(folder_ / "manager", "#!/bin/sh\n", 0755).ok());
    options_.cache = folder_ / "cache";
    options_.getenv = Only({{"PATH", folder_ / "bin"}});
    registry_.set_registry_fault([this](const http::ServerRequest&) -> std::optional<http::Response> {
      return away_ ? std::optional(fetch::OciAnswer(503)) : std::nullopt;
    });
  }
  std::string Image(const std::string& rest) const { return registry_.host() + "/" + rest; }
  Result<Program> Find(const std::string& image) {
    auto programs = OpenPrograms(options_);
    if (!programs.ok()) return programs.error();
    return (*programs)->Find(fetch::Hurried(), image);
  }

  TempFolder folder_;
  std::atomic<bool> away_{false};
  fetch::OciStandIn registry_{std::map<std::string, fetch::OciArtifact>()};
  ProgramsOptions options_;
};

// G9: --binary goes before everything else, and asks nobody.
TEST_F(Sources, ABinaryGoesFirst_G9) {
  options_.binaries = {Image("org/manager") + "=" + (folder_ / "manager")};
  auto program = Find(Image("org/manager:v1"));
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(program->path, folder_ / "manager");
  EXPECT_EQ(program->root, "");
  EXPECT_TRUE(registry_.seen().empty());
  EXPECT_FALSE(std::filesystem::exists(options_.cache)) << "nothing is made that nobody needs";
}

TEST_F(Sources, WhatDoesntRunIsRefusedAtOnce_G9) {
  ASSERT_TRUE(WriteFile(folder_ / "data", "text").ok());
  const std::pair<std::string, const char*> cases[] = {
      {"manager=" + (folder_ / "data"), "may not be executed"},
      {"manager=" + (folder_ / "none"), "No such file"},
      {"manager=" + folder_.path(), "is no file"},
      {"manager", "write --binary IMAGE=VALUE"},
  };
  for (const auto& [entry, words] : cases) {
    options_.binaries = {entry};
    auto programs = OpenPrograms(options_);
    ASSERT_FALSE(programs.ok()) << words;
    EXPECT_THAT(programs.error().message, AllOf(HasSubstr("--binary"), HasSubstr(words)));
  }
  options_.binaries.clear();
  options_.builds = {"manager=example.com/m"};
  EXPECT_THAT(OpenPrograms(options_).error().message, AllOf(HasSubstr("--build"), HasSubstr("names no version")));
}

// What an earlier run has named may be gone by now, and isn't what this one is about.
TEST_F(Sources, OneThatIsNotCheckedIsRefusedWhereItIsNeeded_G9) {
  options_.binaries = {"gone=" + (folder_ / "none"), "manager=" + (folder_ / "manager")};
  options_.checks_binaries = false;
  EXPECT_TRUE(Find("manager:v1").ok());
  const auto gone = Find("gone:v1");
  ASSERT_FALSE(gone.ok());
  EXPECT_THAT(gone.error().message, AllOf(HasSubstr("--binary gone:v1"), HasSubstr("No such file")));
}

TEST_F(Sources, APathOfThisFolderIsMadeAbsolute_G9) {
  const std::string relative = std::filesystem::relative(folder_ / "manager");
  options_.binaries = {"manager=" + relative};
  auto program = Find("manager:v1");
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_TRUE(program->path.starts_with("/")) << program->path;
}

// G9: what nobody has, the message says who was asked, and what to do.
TEST_F(Sources, WhatIsNowhereSaysAllThatWasTried_G9) {
  auto program = Find(Image("org/manager:v1"));
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.code(), Code::kNotFound);
  EXPECT_THAT(program.error().message,
              AllOf(HasSubstr("no program for image " + Image("org/manager:v1")), HasSubstr("its image: "),
                    HasSubstr("no Go module is known for it"),
                    HasSubstr("--binary " + Image("org/manager:v1") + "=PATH"), HasSubstr("--build ")));
  away_ = true;
  EXPECT_EQ(Find(Image("org/manager:v1")).code(), Code::kUnavailable) << "it may be there later";
  EXPECT_EQ(Find("A b").code(), Code::kInvalidArgument);
}

// G9: credentials aren't asked for where nobody could give them.
TEST_F(Sources, AnImageBehindALoginSaysThatNoCredentialsAreGiven_G9) {
  registry_.set_registry_fault(
      [](const http::ServerRequest&) -> std::optional<http::Response> { return fetch::OciAnswer(401); });
  const std::string message = Find(Image("org/manager:v1")).error().message;
  EXPECT_THAT(message, AllOf(HasSubstr("is asked without credentials (imagePullSecrets aren't read)"),
                             Not(HasSubstr("OCI_USERNAME"))));
}

// G9: of both flags the entry that is the more exact counts.
TEST_F(Sources, TheMostExactEntryOfBothFlagsCounts_G9) {
  options_.binaries = {Image("org/manager") + "=" + (folder_ / "manager")};
  options_.builds = {Image("org/manager:v2") + "=example.com/m@v1.0.0"};
  EXPECT_EQ(Find(Image("org/manager:v1"))->source, "--binary");
  EXPECT_THAT(Find(Image("org/manager:v2")).error().message, HasSubstr("--build"));
  options_.binaries = {Image("org/manager:latest") + "=" + (folder_ / "manager")};
  EXPECT_EQ(Find(Image("org/manager"))->source, "--binary");
}

// G9: nothing is put into the root folder.
TEST_F(Sources, WithoutACacheNothingIsPulledOrBuilt_G9) {
  options_.cache = "";
  options_.binaries = {Image("org/manager") + "=" + (folder_ / "manager")};
  EXPECT_TRUE(Find(Image("org/manager:v1")).ok());
  auto none = Find(Image("org/other:v1"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.code(), Code::kFailedPrecondition);
  EXPECT_THAT(none.error().message, HasSubstr("set HOME, or XDG_CACHE_HOME"));
}

// G9: how long a registry asks to be left alone is handed on.
TEST_F(Sources, ARegistrysTimeIsHandedOn_G9) {
  registry_.set_registry_fault([](const http::ServerRequest&) -> std::optional<http::Response> {
    http::Response answer = fetch::OciAnswer(429);
    answer.headers.Set("Retry-After", "3600");
    return answer;
  });
  auto none = Find(Image("org/manager:v1"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.code(), Code::kRateLimited);
  EXPECT_EQ(none.error().retry_after, Seconds(3600));
}

TEST_F(Sources, KnownModulesAreBuiltWhereNobodyHasTheImage_G9) {
  options_.pulls = false;
  const std::string image = "registry.k8s.io/cluster-api/cluster-api-controller:v1.12.1";
  EXPECT_THAT(Find(image).error().message,
              AllOf(HasSubstr("a build of sigs.k8s.io/cluster-api@v1.12.1: there is no `go` in PATH"),
                    Not(HasSubstr("its image"))));
  std::filesystem::create_directories(folder_ / "bin");
  const char* go =
      "#!/bin/sh\nif test $1 = build; then while test \"$1\" != -o; do shift; done; cp /bin/sh \"$2\"; fi\n";
  ASSERT_TRUE(WriteFile(folder_ / "bin/go", go, 0755).ok());
  auto program = Find(image);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(program->source, "Go module sigs.k8s.io/cluster-api@v1.12.1");
  // What is built is there, and no registry is waited for.
  std::vector<std::string> hosts;
  options_.pulls = true;
  options_.registry = [&](const std::string& host) {
    hosts.push_back(host);
    return fetch::OciOptions();
  };
  EXPECT_EQ(Find(image)->path, program->path);
  EXPECT_EQ(hosts, std::vector<std::string>());
  options_.pulls = false;
  options_.builds = {Image("org/manager") + "=example.com/org/manager/cmd@v1.2.3"};
  EXPECT_EQ(Find(Image("org/manager:v7"))->source, "Go module example.com/org/manager/cmd@v1.2.3");
  EXPECT_TRUE(registry_.seen().empty()) << "--build was named: it goes before the image";
  options_.builds.clear();
  options_.builds_known = false;
  EXPECT_FALSE(Find(image).ok());
}

TEST_F(Sources, CredentialsGoToTheirHostAlone_G9) {
  std::vector<std::string> hosts;
  options_.registry = [&](const std::string& host) {
    hosts.push_back(host);
    return fetch::OciOptions();
  };
  EXPECT_FALSE(Find(Image("org/manager:v1")).ok());
  EXPECT_THAT(hosts, testing::Each(registry_.host()));
  EXPECT_FALSE(hosts.empty());
}

TEST(Programs, TheCacheIsWhereCachesAre_G9) {
  EXPECT_EQ(CacheFolder(Only({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}})), "/x/capi-operator");
  EXPECT_EQ(CacheFolder(Only({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}})), "/h/.cache/capi-operator");
  EXPECT_EQ(CacheFolder(Only({})), "");
}

}  // namespace
}  // namespace capi::local
