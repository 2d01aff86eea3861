// What every command that reads and tells something has in common: its formats (structured.h), and that nothing that
// others wrote steers the terminal.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/yaml/yaml.h"
#include "cli/commands.h"
#include "cli/describe/api_testing.h"
#include "cli/frame/structured.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// With arguments that each needs.
const std::map<std::string, std::vector<std::string>> kReading = {
    {"clusterctl bundle list-images", {"bundle", "list-images", "bundle.tar"}},
    {"clusterctl config repositories", {"config", "repositories"}},
    {"clusterctl describe cluster", {"describe", "cluster", "c"}},
    {"clusterctl describe providers", {"describe", "providers"}},
    {"clusterctl history", {"history", "docker"}},
    {"clusterctl init list-images", {"init", "list-images"}},
    {"clusterctl lint", {"lint", "-"}},
    {"clusterctl local status", {"local", "status"}},
    {"clusterctl publish", {"publish", "-u", "oci://registry.example.com/provider:v1.0.0"}},
    {"clusterctl upgrade plan", {"upgrade", "plan"}},
    {"clusterctl why", {"why", "docker"}},
};
constexpr const char* kFormats[] = {"table", "text", "wide", "json", "yaml", "name"};

void FindWithOutput(CLI::App& command, std::set<std::string>& out) {
  if (command.get_option_no_throw("--output") != nullptr) out.insert(NameOf(command));
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; })) FindWithOutput(*below, out);
}

// L1: `version` has those that its scripts know, and `preload` those that kubectl takes objects in.
TEST(Output, TheCommandsOfTheTableAreAllThatHaveFormats) {
  std::istringstream in;
  std::ostringstream out, err;
  World world{From({}), in, out, err};
  CommandLine line(world);
  AddCommands(line);
  std::set<std::string> found, wanted = {"clusterctl preload", "clusterctl version"};
  FindWithOutput(line.root(), found);
  for (const auto& [name, arguments] : kReading) wanted.insert(name);
  EXPECT_EQ(found, wanted);
}

TEST(Output, EachReadingCommandTakesEachFormat) {
  for (const auto& [name, arguments] : kReading) {
    for (std::string format : {"table", "text", "wide", "json", "yaml", "name", "xml"}) {
      SCOPED_TRACE(name + " " + format);
      std::vector<std::string> all = arguments;
      all.insert(all.end(), {"-o", format, "--config", "/nowhere/clusterctl.yaml"});
      Outcome outcome = Clusterctl(all, {{"HOME", "/nowhere"}});
      EXPECT_EQ(outcome.code, name == "clusterctl local status" && format != "xml" ? 3 : 1);  // G8: no plane
      EXPECT_EQ(outcome.err.find("invalid output format") != std::string::npos, format == "xml") << outcome.err;
    }
  }
}

constexpr std::string_view kMistaken =
    "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
    "metadata: {name: docker, namespace: capd}\nspec: {version: v1.12.0, colour: red}\n";

// A server with one provider, whose words would steer a terminal.
class OutputTest : public testing::Test {
 protected:
  OutputTest() {
    fake_.selector = "";
    Json condition = {{"type", "Ready"}, {"status", "False"}, {"reason", "Unheard"}, {"message", "red \x1b[31m words"}};
    Json entry = {{"version", "v1.12.0"}, {"outcome", "Failed"}, {"message", "red \x1b[31m words"}, {"time", "t"}};
    fake_.lists["/apis/operator.cluster.x-k8s.io/v1alpha2/infrastructureproviders"] = {
        {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
         {"kind", "InfrastructureProvider"},
         {"metadata", {{"name", "docker"}, {"namespace", "capd"}, {"generation", 1}}},
         {"status",
          {{"observedGeneration", 1}, {"conditions", Json::array({condition})}, {"history", Json::array({entry})}}}}};
    for (const char* plural : {"deployments", "daemonsets", "statefulsets"})
      fake_.lists[fmt::format("/apis/apps/v1/{}", plural)] = {};
    folder_.Put("config", fmt::format("{{apiVersion: v1, kind: Config, current-context: a, "
                                      "contexts: [{{name: a, context: {{cluster: a, namespace: ns}}}}], "
                                      "clusters: [{{name: a, cluster: {{server: 'http://{}'}}}}]}}",
                                      fake_.address()));
  }
  Outcome Run(std::vector<std::string> arguments, const std::string& format) {
    arguments.insert(arguments.end(), {"-o", format});
    return Clusterctl(arguments, {{"KUBECONFIG", folder_ / "config"}, {"HOME", folder_.path()}},
                      std::string(kMistaken));
  }

  describe::FakeCluster fake_;
  TestFolder folder_;
};

// L9, L16, L19.
TEST_F(OutputTest, TheSameFactsInEachFormat) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"config", "repositories"}, "infrastructure-docker"},
      {{"describe", "providers"}, "infrastructureprovider.operator.cluster.x-k8s.io/docker"},
      {{"history", "docker"}, "infrastructureprovider.operator.cluster.x-k8s.io/docker"},
      {{"lint", "--offline", "-"}, "InfrastructureProvider capd/docker"},
      {{"why", "docker"}, "infrastructureprovider.operator.cluster.x-k8s.io/docker"},
  };
  for (const auto& [arguments, name] : cases) {
    SCOPED_TRACE(arguments[0]);
    std::map<std::string, std::string> got;
    for (const char* format : kFormats) {
      Outcome outcome = Run(arguments, format);
      EXPECT_THAT(outcome.err, Not(HasSubstr("output format")));
      EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
      got[format] = outcome.out;
    }
    EXPECT_EQ(got["table"], got["text"]);
    EXPECT_NE(got["table"], "");
    EXPECT_NE(got["wide"], "");
    EXPECT_THAT(got["name"], HasSubstr(name + "\n"));
    auto json = ParseJson(got["json"]), yaml = ParseYaml(got["yaml"]);
    ASSERT_TRUE(json.ok() && yaml.ok());
    EXPECT_EQ(*json, *yaml);
    EXPECT_THAT(got["json"], HasSubstr("docker"));
  }
}

TEST(Format, WhatIsNamedTwiceIsOneObject) {
  EXPECT_EQ(Format(OutputFormat::kName, {.table = "t", .names = {"a", "b", "a"}}), "a\nb\n");
  EXPECT_EQ(Format(OutputFormat::kWide, {.table = "t"}), "t");
  EXPECT_EQ(Format(OutputFormat::kWide, {.table = "t", .wide = "w"}), "w");
}

// No exception leaves a command, whatever a server sends.
TEST(Format, BadUtf8IsReplaced) {
  EXPECT_EQ(Format(OutputFormat::kJson, {.table = "", .facts = Json("a\xff")}), "\"a\xef\xbf\xbd\"\n");
}

}  // namespace
}  // namespace capi::cli
