#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "cli/testing.h"
#include "fetch/github_testing.h"
#include "fetch/gitlab_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string Metadata(std::string_view series) {
  return "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n" + std::string(series);
}

constexpr std::string_view kComponents = R"(apiVersion: v1
kind: Namespace
metadata:
  name: p-system
---
apiVersion: p.example.com/v1
kind: Settings
metadata:
  name: c
  namespace: p-system
spec:
  one: ${ONE}
  two: ${TWO:=two}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: p-system}
spec: {template: {spec: {containers: [{name: manager, image: "example.com/p/manager:v1"}]}}}
)";

constexpr std::string_view kRendered = R"(apiVersion: v1
kind: Namespace
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-p
    clusterctl.cluster.x-k8s.io: ""
  name: p-system
---
apiVersion: p.example.com/v1
kind: Settings
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-p
    clusterctl.cluster.x-k8s.io: ""
  name: c
  namespace: p-system
spec:
  one: 1
  two: two
---
)";

constexpr std::string_view kBrokenTemplate = "a: ${A\n";

// A local repository of provider "p" with a release of each kind that is told apart.
class LocalRepository : public testing::Test {
 protected:
  void SetUp() override {
    Put("v1.0.0", "- {major: 1, minor: 0, contract: v1beta1}\n", kComponents);
    Put("v1.1.0", "- {major: 1, minor: 0, contract: v1beta1}\n- {major: 1, minor: 1, contract: v1beta2}\n",
        kComponents);
    Put("v2.0.0-rc.0", "- {major: 2, minor: 0, contract: v1beta2}\n", kComponents);
    config_ = folder_.Put("clusterctl.yaml", Config("latest"));
  }

  void Put(const std::string& version, std::string_view series, std::string_view components) {
    folder_.Put("repository/infrastructure-p/" + version + "/metadata.yaml", Metadata(series));
    folder_.Put("repository/infrastructure-p/" + version + "/infrastructure-components.yaml", components);
  }
  std::string Config(const std::string& version) {
    return "providers:\n- name: p\n  type: InfrastructureProvider\n  url: " + folder_.path() +
           "/repository/infrastructure-p/" + version + "/infrastructure-components.yaml\n";
  }
  Outcome Generate(std::vector<std::string> arguments, Variables environment = {{"ONE", "1"}}) {
    environment.emplace("HOME", folder_ / "home");
    std::vector<std::string> all = {"generate", "provider", "--config", config_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return Clusterctl(all, environment);
  }

  TestFolder folder_;
  std::string config_;
};

// L1.
TEST_F(LocalRepository, ObjectsGoToStandardOutputAndNothingElse) {
  Outcome outcome = Generate({"-i", "p"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, StartsWith(std::string(kRendered) + "apiVersion: apps/v1\nkind: Deployment\n"));
}

// L3.
TEST_F(LocalRepository, VersionsAreChosenAsClusterctlDoes) {
  const std::pair<std::string, std::string> cases[] = {
      {"p", "v1.1.0"}, {"P", "v1.1.0"}, {"p:v1.0.0", "v1.0.0"}, {"p:1.0.0", "v1.0.0"}, {"p:v2.0.0-rc.0", "v2.0.0-rc.0"},
  };
  for (const auto& [name, version] : cases) {
    EXPECT_THAT(Generate({"-i", name, "--describe"}).out, HasSubstr("Version:            " + version + "\n"));
  }
  folder_.Put("clusterctl.yaml", Config("v1.0.0"));
  EXPECT_THAT(Generate({"-i", "p", "--describe"}).out, HasSubstr("Version:            v1.0.0\n"));
}

// As pflag reads them.
TEST_F(LocalRepository, FlagsMayBeWrittenInManyWays) {
  const std::vector<std::string> cases[] = {{"-i", "p"},
                                            {"-ip"},
                                            {"-i=p"},
                                            {"--infrastructure=p"},
                                            {"-i", "no", "-i", "p"},
                                            {"-i", "p", "--raw=false"},
                                            {"-i", "p", "--write-to="}};
  for (const auto& arguments : cases) EXPECT_THAT(Generate(arguments).out, StartsWith(kRendered));
}

TEST_F(LocalRepository, IsDescribed) {
  Outcome outcome = Generate({"--infrastructure=p:v1.0.0", "--describe", "-n", "there"}, {});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out,
            "Name:               p\n"
            "Type:               InfrastructureProvider\n"
            "URL:                " +
                folder_.path() +
                "/repository/infrastructure-p/\n"
                "Version:            v1.0.0\n"
                "File:               infrastructure-components.yaml\n"
                "TargetNamespace:    there\n"
                "Variables:\n  - ONE\n  - TWO\n"
                "Images:\n  - example.com/p/manager:v1\n\n");
}

TEST_F(LocalRepository, RawKeepsVariables) {
  Outcome outcome = Generate({"-i", "p", "--raw"}, {});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("  one: ${ONE}\n  two: ${TWO:=two}\n"));
  EXPECT_THAT(outcome.out, HasSubstr("cluster.x-k8s.io/provider: infrastructure-p"));  // clusterctl labels them too
}

TEST_F(LocalRepository, ImagesAndVariablesComeFromTheFile) {
  folder_.Put("clusterctl.yaml",
              Config("latest") +
                  "ONE: 1.10\nimages:\n  all: {repository: mirror.example/x}\n  infrastructure-p/manager: {tag: v2}\n");
  Outcome outcome = Generate({"-i", "p"}, {{"TWO", "env"}});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("image: mirror.example/x/manager:v2\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  one: 1.1\n  two: env\n"));
  EXPECT_THAT(outcome.err,
              HasSubstr("clusterctl.yaml, line 5, column 6: ONE: a number, which is not read as it is written"));
}

// L3.
TEST_F(LocalRepository, OverridesGoFirstAndAreTold) {
  folder_.Put("home/.config/cluster-api/overrides/infrastructure-p/v1.1.0/infrastructure-components.yaml",
              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine, namespace: p-system}\n");
  EXPECT_THAT(Generate({"-i", "p"}).err,
              HasSubstr("\nError: infrastructure-components.yaml of folder " + folder_.path() +
                        "/repository/infrastructure-p v1.1.0: target namespace can't be defaulted. Please specify a "
                        "target namespace\n"));
  Outcome outcome = Generate({"-i", "p", "-n", "here"});
  EXPECT_THAT(outcome.out, HasSubstr("name: mine\n  namespace: here\n"));
  EXPECT_THAT(outcome.err, StartsWith("Using override=\""));
  EXPECT_THAT(outcome.err, HasSubstr(" provider=\"infrastructure-p\" version=\"v1.1.0\"\n"));
  EXPECT_THAT(Generate({"-i", "p:v1.0.0"}).err, IsEmpty());
}

TEST_F(LocalRepository, VerbosityTellsWhereFilesComeFrom) {
  for (const Variables& environment : {Variables{{"CLUSTERCTL_LOG_LEVEL", "5"}}, Variables{}}) {
    std::vector<std::string> arguments = {"-i", "p", "--describe"};
    if (environment.empty()) arguments.insert(arguments.end(), {"-v", "5"});
    std::string err = Generate(arguments, environment).err;
    EXPECT_THAT(err, StartsWith("Using configuration file=\"" + config_ + "\"\n"));
    EXPECT_THAT(err, HasSubstr("Fetching file=\"metadata.yaml\" provider=\"infrastructure-p\" version=\"v1.1.0\"\n"));
  }
  EXPECT_THAT(Generate({"-i", "p", "--describe", "-v", "0"}, {{"CLUSTERCTL_LOG_LEVEL", "5"}}).err, IsEmpty());
  folder_.Put("clusterctl.yaml", Config("latest") + "CLUSTERCTL_LOG_LEVEL: 5\n");
  EXPECT_THAT(Generate({"-i", "p", "--describe"}).err, StartsWith("Using configuration file="));
  EXPECT_EQ(Generate({"-i", "p"}, {{"CLUSTERCTL_LOG_LEVEL", "x"}}).err,
            "Error: CLUSTERCTL_LOG_LEVEL is \"x\": it must be a whole number\n");
}

// L1.
TEST_F(LocalRepository, WriteToWritesAllOrNothing) {
  std::string path = folder_ / "out.yaml";
  Outcome outcome = Generate({"-i", "p", "--write-to", path});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(ReadFile(path).value(), StartsWith(std::string(kRendered)));
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);  // values of variables may be credentials

  std::string before = ReadFile(path).value();
  EXPECT_EQ(Generate({"-i", "p", "--write-to", path}, {}).code, 1);  // ONE isn't set
  EXPECT_EQ(ReadFile(path).value(), before);

  ASSERT_EQ(symlink(path.c_str(), (folder_ / "link").c_str()), 0);
  EXPECT_EQ(Generate({"-i", "p", "-n", "other", "--write-to", folder_ / "link"}).code, 0);
  EXPECT_THAT(ReadFile(path).value(), HasSubstr("name: other\n"));
  EXPECT_EQ(lstat((folder_ / "link").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));

  EXPECT_EQ(Generate({"-i", "p", "--write-to", "/dev/null"}).code, 0);
  ASSERT_EQ(stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  EXPECT_THAT(Generate({"-i", "p", "--write-to", "-"}).out, StartsWith(std::string(kRendered)));
  EXPECT_THAT(Generate({"-i", "p", "--write-to", folder_ / "none/out.yaml"}).err,
              StartsWith("Error: failed to write to destination file: "));
}

// What is wrong, where, what to do: exit code 1 and nothing on standard output.
TEST_F(LocalRepository, ErrorsAreToldInClusterctlsWords) {
  Put("v3.0.0", "- {major: 1, minor: 0, contract: v1beta1}\n", kComponents);
  Put("v3.1.0", "- {major: 3, minor: 1, contract: v99}\n", kComponents);
  Put("v3.2.0", "", kComponents);
  Put("v3.3.0", "- {major: 3, minor: 3, contract: v1beta2}\n", kBrokenTemplate);
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{},
       "at least one of --core, --bootstrap, --control-plane, --infrastructure, --ipam, --runtime-extension, "
       "--addon should be set"},
      {{"-i", ""}, "at least one of --core"},
      {{"-i", "p", "--addon", "p"}, "only one of --core"},
      {{"-i", "a:b:c"}, "invalid provider name \"a:b:c\". Provider name should be in the form name[:version]"},
      {{"-i", "nope"}, "failed to get configuration for the InfrastructureProvider with name nope. Please check"},
      {{"-i", "p:v1.1.0"},
       "failed to perform variable substitution: value for variables [ONE] is not set. "
       "Please set the value using os environment variables or the clusterctl config file"},
      {{"-i", "p:v9.9.9"}, "(versions there: v3.3.0, v3.2.0, v3.1.0, v3.0.0, v2.0.0-rc.0, v1.1.0, v1.0.0)"},
      {{"-i", "p:new"}, "invalid version \"new\": write a semantic version like v1.2.3"},
      {{"-i", "p:v3.0.0"},
       "invalid provider metadata: version v3.0.0 for the provider p does not match any release series"},
      {{"-i", "p:v3.1.0"},
       "current version of clusterctl is only compatible with provider implementing v1beta2, v1beta1 "
       "contract versions, detected v99 for provider p"},
      {{"-i", "p:v3.2.0"},
       "invalid provider metadata: releaseSeries is empty in metadata.yaml for provider infrastructure-p"},
      {{"-i", "p:v3.3.0"}, "infrastructure-p v3.3.0: variable at line 1, column 4: missing closing brace"},
  };
  for (const auto& [arguments, want] : cases) {
    SCOPED_TRACE(want);
    Outcome outcome = Generate(arguments, {});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("Error: "));
    EXPECT_THAT(outcome.err, HasSubstr(want));
  }
}

// F2, L1: as clusterctl refuses it, but with the variable's name.
TEST_F(LocalRepository, AValueThatIsNoTextIsRefusedWhereOneBelongs) {
  Put("v1.2.0", "- {major: 1, minor: 2, contract: v1beta2}\n",
      std::string(kComponents) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: ${P}}\n");
  EXPECT_EQ(Generate({"-i", "p"}, {{"ONE", "1"}, {"P", "secret"}}).code, 0);
  Outcome outcome = Generate({"-i", "p"}, {{"ONE", "1"}, {"P", "4711"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("the value of P makes stringData.p a number, and it has to be a text"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("4711")));
}

// L4: clusterctl refuses these. They can't run beside a Cluster API of today, but can be looked at.
TEST_F(LocalRepository, OldContractsArePrintedWithAWarning) {
  Put("v0.4.0", "- {major: 0, minor: 4, contract: v1alpha4}\n", kComponents);
  Outcome outcome = Generate({"-i", "p:v0.4.0"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith(kRendered));
  EXPECT_EQ(outcome.err,
            "Warning: p v0.4.0 has the old contract v1alpha4; it can be printed, but not be installed beside a Cluster "
            "API of contract v1beta2\n");
}

TEST_F(LocalRepository, UrlsMayComeFromTheEnvironment) {
  folder_.Put("clusterctl.yaml",
              "providers:\n- {name: p, type: InfrastructureProvider, url: "
              "\"file://${REPOSITORY}/infrastructure-p/latest/infrastructure-components.yaml\"}\n");
  EXPECT_EQ(Generate({"-i", "p"}, {{"ONE", "1"}, {"REPOSITORY", folder_ / "repository"}}).code, 0);
}

class FromGitHub : public testing::Test {
 protected:
  static std::vector<fetch::GitHubRelease> Releases() {
    std::map<std::string, std::string> files = {
        {"metadata.yaml", Metadata("- {major: 1, minor: 0, contract: v1beta2}\n")},
        {"infrastructure-components.yaml", std::string(kComponents)}};
    return {{"v1.0.1", files}, {"v1.0.0", files}, {"v1.0.2", {}}};
  }
  Outcome Generate(std::vector<std::string> arguments, Variables environment = {}) {
    std::string config = folder_.Put("clusterctl.yaml",
                                     "ONE: \"1\"\nproviders:\n- name: p\n  type: InfrastructureProvider\n"
                                     "  url: https://github.com/o/r/releases/latest/infrastructure-components.yaml\n");
    fetch::GitHubOptions hosts = github_.options();
    environment["CLUSTERCTL_GITHUB_API_URL"] = hosts.api_url;
    environment["CLUSTERCTL_GITHUB_URL"] = hosts.download_url;
    std::vector<std::string> all = {"generate", "provider", "-i", "p", "--config", config};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return Clusterctl(all, environment);
  }

  TestFolder folder_;
  fetch::GitHubStandIn github_{Releases()};
};

// The newest release has no files yet: the one before it is the latest.
TEST_F(FromGitHub, TheLatestWithFilesIsPrinted) {
  Outcome outcome = Generate({});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith(std::string(kRendered)));
  EXPECT_THAT(Generate({"--describe"}).out,
              HasSubstr("URL:                https://github.com/o/r/releases/\nVersion:            v1.0.1\n"));
}

TEST_F(FromGitHub, TheTokenComesFromTheEnvironment) {
  github_.MakePrivate();
  EXPECT_EQ(Generate({}, {{"GITHUB_TOKEN", "secret-token"}}).code, 0);
  bool sent = false;
  for (const auto& request : github_.seen()) sent = sent || request.authorization == "Bearer secret-token";
  EXPECT_TRUE(sent);
}

TEST_F(FromGitHub, ARateLimitSaysWhatToDo) {
  http::Response limited = fetch::TextResponse(403, R"({"message": "API rate limit exceeded"})");
  limited.headers.Set("X-RateLimit-Remaining", "0");
  github_.AnswerApiWith(limited);
  Outcome outcome = Generate({}, {{"GITHUB_TOKEN", "secret-token"}});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("rate limit"));
  EXPECT_THAT(outcome.err, HasSubstr("GITHUB_TOKEN"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("secret-token")));
}

// I16, L3: a generic package on a GitLab of one's own, whatever its host is called.
class FromGitLab : public testing::Test {
 protected:
  static std::vector<fetch::GitLabPackage> Packages() {
    std::map<std::string, std::string> files = {
        {"metadata.yaml", Metadata("- {major: 1, minor: 0, contract: v1beta2}\n")},
        {"infrastructure-components.yaml", std::string(kComponents)}};
    return {{.version = "v1.0.1", .files = files}, {.version = "v1.0.0", .files = files}};
  }
  Outcome Generate(const std::string& provider, std::string_view in_url, Variables environment = {},
                   std::string_view more = "") {
    std::string config = folder_.Put(
        "clusterctl.yaml", "ONE: \"1\"\nproviders:\n- name: p\n  type: InfrastructureProvider\n  url: " +
                               gitlab_.url(in_url, "infrastructure-components.yaml") + "\n" + std::string(more));
    return Clusterctl({"generate", "provider", "-i", provider, "--config", config}, environment);
  }
  std::string LastComponents() const {
    std::string last;
    for (const auto& request : gitlab_.seen()) {
      if (request.host == "gitlab" && request.target.ends_with("/infrastructure-components.yaml"))
        last = request.target;
    }
    return last;
  }

  TestFolder folder_;
  fetch::GitLabStandIn gitlab_{Packages()};
  const fetch::TrustedCa trusted_{gitlab_.ca_file()};
};

TEST_F(FromGitLab, TheVersionIsThatOfTheNameOrOfTheUrl) {
  const std::string_view cases[][3] = {{"p", "v1.0.0", "v1.0.0"},
                                       {"p", "latest", "v1.0.1"},
                                       {"p:v1.0.0", "latest", "v1.0.0"},
                                       {"p:v1.0.1", "v1.0.0", "v1.0.1"}};
  for (const auto& [name, in_url, want] : cases) {
    Outcome outcome = Generate(std::string(name), in_url);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith(kRendered));
    EXPECT_THAT(LastComponents(), HasSubstr("/generic/p/" + std::string(want) + "/"));
  }
  EXPECT_THAT(Generate("p:v1.0.7", "latest").err, HasSubstr("(versions there: v1.0.1, v1.0.0)"));
}

// T10: of the environment, or of the file; the file names the host.
TEST_F(FromGitLab, TheTokenComesFromTheConfiguration) {
  gitlab_.MakePrivate("glpat-secret");
  EXPECT_EQ(Generate("p", "latest", {{"GITLAB_ACCESS_TOKEN", "glpat-secret"}}).code, 0);
  EXPECT_EQ(Generate("p", "latest", {}, "gitlab-access-token: glpat-secret\n").code, 0);
  Outcome without = Generate("p", "latest");
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(
      without.err,
      HasSubstr("a private project needs a token: GITLAB_ACCESS_TOKEN for a host that the configuration file names"));
  Outcome wrong = Generate("p", "latest", {{"GITLAB_ACCESS_TOKEN", "glpat-other"}});
  EXPECT_THAT(wrong.err, HasSubstr("GitLab refused the token"));
  EXPECT_THAT(wrong.err, testing::Not(HasSubstr("glpat")));
}

}  // namespace
}  // namespace capi::cli
