#include "cli/clusterctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/version.h"
#include "base/yaml.h"
#include "cli/version.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  int code;
  std::string out, err;
};

Outcome Clusterctl(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "clusterctl");
  std::ostringstream out, err;
  int code = RunClusterctl(static_cast<int>(arguments.size()), arguments.data(), out, err);
  return {code, out.str(), err.str()};
}

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

TEST(CommandLine, ExitsWith1AndSaysWhy) {
  for (const std::vector<const char*>& arguments :
       {std::vector<const char*>{"version", "-o", "xml"}, {"no-such-command"}, {"version", "--no-such-flag"}, {}}) {
    Outcome outcome = Clusterctl(arguments);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, HasSubstr("Error: "));
  }
}

TEST(CommandLine, HelpNamesTheCommands) {
  Outcome outcome = Clusterctl({"--help"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("version"));
}

}  // namespace
}  // namespace capi::cli
