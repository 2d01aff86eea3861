#include "cli/clusterctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/version.h"
#include "base/yaml/yaml.h"
#include "cli/suggestions.h"
#include "cli/testing.h"
#include "cli/version.h"

namespace capi::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

const BuildInfo kBuild = {"v1.12.1", "abc123", "clean", "2026-01-02T03:04:05Z", "gcc 12.2.0", "linux/amd64"};

TEST(FormatVersion, HasClusterctlsForms) {
  struct Case {
    std::string_view output, want;
  };
  const Case cases[] = {
      {"short", "v1.12.1\n"},
      {"",
       "clusterctl version: &version.Info{Major:\"1\", Minor:\"12\", GitVersion:\"v1.12.1\", GitCommit:\"abc123\", "
       "GitTreeState:\"clean\", BuildDate:\"2026-01-02T03:04:05Z\", GoVersion:\"\", Compiler:\"gcc 12.2.0\", "
       "Platform:\"linux/amd64\"}\n"},
      {"json",
       "{\n  \"clusterctl\": {\n    \"buildDate\": \"2026-01-02T03:04:05Z\",\n    \"compiler\": \"gcc 12.2.0\",\n"
       "    \"gitCommit\": \"abc123\",\n    \"gitTreeState\": \"clean\",\n    \"gitVersion\": \"v1.12.1\",\n"
       "    \"goVersion\": \"\",\n    \"major\": \"1\",\n    \"minor\": \"12\",\n    \"platform\": \"linux/amd64\"\n  "
       "}\n}\n"},
  };
  for (const Case& c : cases) {
    auto text = FormatVersion(kBuild, c.output);
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(*text, c.want);
  }
}

TEST(FormatVersion, YamlHoldsTheSameAsJson) {
  auto yaml = ParseYaml(FormatVersion(kBuild, "yaml").value());
  auto json = ParseJson(FormatVersion(kBuild, "json").value());
  ASSERT_TRUE(yaml.ok() && json.ok());
  EXPECT_EQ(*yaml, *json);
  EXPECT_THAT(FormatVersion(kBuild, "yaml").value(), HasSubstr("minor: \"12\""));
}

TEST(FormatVersion, RefusesOtherForms) {
  EXPECT_EQ(FormatVersion(kBuild, "xml").error().message, "invalid output format: xml");
}

TEST(CommandLine, PrintsItsVersion) {
  Outcome outcome = Clusterctl({"version", "-o", "short"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, std::string(kProjectVersion) + "\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

// Half a command is answered with its help, which names the whole of it.
TEST(CommandLine, HelpNamesTheWholeCommand) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "Usage: clusterctl [OPTIONS]"},
      {{"--help"}, "Usage: clusterctl [OPTIONS]"},
      {{"generate"}, "Usage: clusterctl generate [OPTIONS]"},
      {{"generate", "--help"}, "Usage: clusterctl generate [OPTIONS]"},
      {{"generate", "provider", "--help"}, "Usage: clusterctl generate provider [OPTIONS]"},
  };
  for (const auto& [arguments, want] : cases) {
    Outcome outcome = Clusterctl(arguments);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr(want));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

// The words of clusterctl v1.12.1, but for the hint behind "clusterctl generate".
TEST(CommandLine, ExitsWith1AndSaysWhy) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      // Names of clusters that are commands, too.
      {{"get", "kubeconfig", "version", "--kubeconfig", "/nowhere/k"},
       "Error: kubeconfig: /nowhere/k: No such file or directory\n"},
      {{"get", "kubeconfig", "generate", "--kubeconfig", "/nowhere/k"},
       "Error: kubeconfig: /nowhere/k: No such file or directory\n"},
      {{"version", "-o", "xml"}, "Error: invalid output format: xml\n"},
      {{"foo"}, "Error: unknown command \"foo\" for \"clusterctl\"\nRun 'clusterctl --help' for usage.\n"},
      {{"generate", "foo"},
       "Error: unknown command \"foo\" for \"clusterctl generate\"\nRun 'clusterctl generate --help' for usage.\n"},
      {{"version", "--no-such-flag=x"}, "Error: unknown flag: --no-such-flag\n"},
      {{"generate", "provider", "-x"}, "Error: unknown shorthand flag: 'x' in -x\n"},
      {{"version", "-v", "x"}, "Error: invalid argument \"x\" for flag --v\n"},
      {{"generate", "provider", "--raw=x"}, "Error: invalid argument \"x\" for flag --raw\n"},
      {{"generate", "provider", "--core"}, "Error: flag needs an argument: --core\n"},
      {{"get", "kubeconfig"}, "Error: please specify a workload cluster name\n"},
      {{"get", "kubeconfig", "a", "--config", "/nowhere/c.yaml"},
       "Error: failed to initialize the configuration reader: /nowhere/c.yaml: No such file or directory\n"},
  };
  for (const auto& [arguments, want] : cases) {
    Outcome outcome = Clusterctl(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_EQ(outcome.err, want);
  }
}

// L6. Nobody listens at the port of a socket that is bound alone.
TEST(CommandLine, AClusterThatIsAwayIsToldWithWhatToLookAt) {
  const int bound = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(bound, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(bound, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string server = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  TestFolder folder;
  const std::string kubeconfig = folder.Put(
      "k", "apiVersion: v1\nkind: Config\ncurrent-context: x\nclusters: [{name: c, cluster: {server: '" + server +
               "'}}]\nusers: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n");
  const std::vector<std::string> cases[] = {
      {"describe", "cluster", "a"}, {"describe", "providers"}, {"why", "aws"}, {"upgrade", "plan"}, {"move"}};
  for (std::vector<std::string> arguments : cases) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    arguments.insert(arguments.end(), {"--kubeconfig", kubeconfig});
    if (arguments[0] == "move") arguments.insert(arguments.end(), {"--to-kubeconfig", kubeconfig});
    Outcome outcome = Clusterctl(arguments, {{"HOME", folder.path()}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("GET " + server));
    EXPECT_THAT(outcome.err, EndsWith("Connection refused\nIs the cluster up, and is this the right kubeconfig? "
                                      "(--kubeconfig, --kubeconfig-context)\n"));
  }
  close(bound);
}

TEST(IsAway, IsWhatThatServerDoesNotAnswer) {  // L6
  const std::string server = "https://a:6443", request = "GET https://a:6443/api: ";
  const std::pair<Error, bool> cases[] = {
      {{Code::kUnavailable, request + "Connection refused", {}}, true},
      {{Code::kDeadlineExceeded, request + "no answer within 30 s", {}}, true},
      {{Code::kDeadlineExceeded, "GET https://a:64430/api: no answer", {}}, false},
      {{Code::kDeadlineExceeded, "not ready after 1 s", {}}, false},
      {{Code::kPermissionDenied, request + "no right", {}}, false},
  };
  for (const auto& [error, away] : cases) EXPECT_EQ(IsAway(error, server), away) << error.message;
}

TEST(CommandLine, WhereThereIsNoKubeconfigItSaysWhereItLooked) {
  TestFolder folder;
  const std::vector<std::string> cases[] = {{"describe", "cluster", "a"},
                                            {"describe", "providers"},
                                            {"why", "aws"},
                                            {"upgrade", "plan"},
                                            {"get", "kubeconfig", "a"}};
  for (const std::vector<std::string>& arguments : cases) {
    Outcome outcome = Clusterctl(arguments, {{"HOME", folder.path()}});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "Error: no kubeconfig: there is no " + (folder / ".kube/config") + " and this is no pod\n")
        << testing::PrintToString(arguments);
  }
}

TEST(CommandLine, HelpNamesWhatThereIs) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "version"},
      {{"--help"}, "generate"},
      {{"help"}, "generate"},
      {{"generate"}, "provider"},
      {{"help", "generate", "provider"}, "--target-namespace"},
      {{"generate", "provider", "-h"}, "Examples:"},
  };
  for (const auto& [arguments, want] : cases) {
    Outcome outcome = Clusterctl(arguments);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr(want));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

}  // namespace
}  // namespace capi::cli
