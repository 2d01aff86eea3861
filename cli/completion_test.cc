#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "cli/completion_scripts.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// The words before the tab.
std::vector<std::string> Words(const std::vector<std::string>& typed, Variables environment = {{"HOME", "/nowhere"}}) {
  std::vector<std::string> arguments = {"__complete"};
  arguments.insert(arguments.end(), typed.begin(), typed.end());
  Outcome outcome = Clusterctl(arguments, std::move(environment));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  std::vector<std::string> out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) out.push_back(line.substr(0, line.find('\t')));
  return out;
}

// L7.
TEST(Complete, CommandsAndFlags) {
  const std::pair<std::vector<std::string>, std::vector<std::string>> cases[] = {
      {{"ge"}, {"generate", "get"}},
      {{"generate", ""}, {"cluster", "provider", "yaml"}},
      {{"generate", "y"}, {"yaml"}},
      {{"no-such-command", "x"}, {}},
      {{"bundle", ""}, {"create", "list-images", "load"}},
      {{"preload", "-o", ""}, {"json", "yaml"}},
      {{"config", "repositories", "--o"}, {"--output"}},
      {{"--v=5", "completion", "f"}, {"fish"}},
      {{"-v", "generate", "generate", "pr"}, {"provider"}},  // a flag's value is no command
      {{"get", "kubeconfig", "--kubeconfig"}, {"--kubeconfig", "--kubeconfig-context"}},
      {{"get", "kubeconfig", "a", "--namesp"}, {"--namespace"}},
  };
  for (const auto& [typed, want] : cases) {
    EXPECT_EQ(Words(typed), want) << testing::PrintToString(typed);
  }
  EXPECT_THAT(Words({}), AllOf(Contains("version"), Not(Contains("__complete"))));
  EXPECT_THAT(Words({""}), Contains("generate"));
  EXPECT_THAT(Words({"version", "--"}), AllOf(Contains("--output"), Contains("--config"), Contains("--help")));
}

TEST(Complete, ADescriptionIsOneLine) {
  Outcome outcome = Clusterctl({"__complete", "generate", "prov"});
  EXPECT_EQ(outcome.out, "provider\tPrint the objects of a provider's release as YAML.\n");
}

TEST(Complete, ProvidersOfTheConfiguration) {
  TestFolder folder;
  std::string config = folder.Put(
      "c.yaml",
      "providers: [{name: awkward, type: InfrastructureProvider, url: /r/infrastructure-awkward/v1/x.yaml}]\n");
  std::vector<std::string> base = {"generate", "provider", "--config", config};
  auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = base;
    all.insert(all.end(), more.begin(), more.end());
    return Words(all);
  };
  EXPECT_THAT(with({"-i", "aw"}), ElementsAre("awkward", "aws"));
  EXPECT_THAT(with({"--infrastructure", "aw"}), ElementsAre("awkward", "aws"));
  EXPECT_THAT(with({"--infrastructure=aw"}), ElementsAre("--infrastructure=awkward", "--infrastructure=aws"));
  EXPECT_THAT(with({"--core", ""}), ElementsAre("cluster-api"));
  EXPECT_THAT(with({"--raw", ""}), IsEmpty());
}

TEST(Complete, ContextsOfTheKubeconfig) {
  TestFolder folder;
  auto file = [&](const char* name) {
    return folder.Put(std::string(name) + ".yaml",
                      "apiVersion: v1\nkind: Config\ncontexts: [{name: " + std::string(name) +
                          ", context: {cluster: c}}]\nclusters: [{name: c, cluster: {}}]\n");
  };
  std::string one = file("one"), two = file("two");
  std::vector<std::string> flag = {"get", "kubeconfig", "--kubeconfig-context", ""};
  EXPECT_THAT(Words({"get", "kubeconfig", "--kubeconfig", one, "--kubeconfig-context", ""}), ElementsAre("one"));
  EXPECT_THAT(Words(flag, {{"KUBECONFIG", one + ":" + two + ":" + (folder / "no such file")}}),
              ElementsAre("one", "two"));
  EXPECT_THAT(Words(flag, {{"HOME", folder / "home"}}), IsEmpty());
}

// A shell that completes shows no errors.
TEST(Complete, NothingWhereNothingCanBeKnown) {
  TestFolder folder;
  std::string broken = folder.Put("broken", "{");
  EXPECT_THAT(Words({"generate", "provider", "--config", broken, "-i", "a"}), IsEmpty());
  EXPECT_THAT(Words({"get", "kubeconfig", "--kubeconfig", broken, ""}), IsEmpty());
  EXPECT_THAT(Words({"get", "kubeconfig", "--namespace", "a"}), IsEmpty());
}

TEST(Completion, PrintsTheScriptOfEachShell) {
  const std::pair<std::string, std::string> cases[] = {{"bash", "complete -F"},
                                                       {"zsh", "#compdef clusterctl"},
                                                       {"fish", "complete --command clusterctl"},
                                                       {"powershell", "Register-ArgumentCompleter"}};
  for (const auto& [shell, words] : cases) {
    Outcome outcome = Clusterctl({"completion", shell});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, ScriptOf(shell));
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(words), HasSubstr("__complete")));
  }
  EXPECT_THAT(Clusterctl({"completion", "tcsh"}).err, StartsWith("Error: unknown command \"tcsh\""));
}

}  // namespace
}  // namespace capi::cli
