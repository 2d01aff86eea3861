// L24: the manual pages say what --help says.
#include "cli/man.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::StartsWith;

// Tables whose world is nowhere.
class ManTest : public testing::Test {
 protected:
  ManTest() : world_{From({}), in_, out_, err_}, line_(world_) { AddCommands(line_); }

  std::istringstream in_;
  std::ostringstream out_, err_;
  World world_;
  CommandLine line_;
};

TEST_F(ManTest, APageHasTheFlagsArgumentsAndExamplesOfItsCommand) {
  CLI::App* generate = FindCommand(line_.root(), "generate");
  std::string page = ManPage(line_, *FindCommand(*generate, "cluster"), "v1");
  EXPECT_THAT(page, StartsWith(".TH \"CLUSTERCTL\\-GENERATE\\-CLUSTER\" \"1\" \"\" \"clusterctl v1\" \"clusterctl\"\n"
                               ".SH NAME\nclusterctl\\-generate\\-cluster \\- Print the objects"));
  EXPECT_THAT(page, HasSubstr("\\fBclusterctl generate cluster\\fR [NAME] [flags]\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-n, \\-\\-target\\-namespace VALUE\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-list\\-variables\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".SH OPTIONS OF ALL COMMANDS\n"));
  EXPECT_THAT(page, HasSubstr("\\-\\-control\\-plane\\-machine\\-count 3"));
  EXPECT_THAT(page, HasSubstr("kubernetes\\-version v1.34.0 \\e\n")) << "a backslash at the end of a line joins none";
  EXPECT_THAT(page, HasSubstr("\\fBclusterctl\\-generate\\fR(1)"));
}

TEST_F(ManTest, EveryCommandHasAPage) {
  auto pages = ManPages(line_, line_.root(), "v1");
  for (const char* name : {"clusterctl.1", "clusterctl-generate.1", "clusterctl-generate-provider.1",
                           "clusterctl-completion-bash.1", "clusterctl-man.1"})
    EXPECT_THAT(pages, Contains(Key(name)));
  EXPECT_THAT(pages.at("clusterctl.1"), HasSubstr("\\fBclusterctl\\-why\\fR(1)"));
  EXPECT_THAT(pages.at("clusterctl.1"), Not(HasSubstr("OF ALL COMMANDS")));
  for (const auto& [name, text] : pages) {
    EXPECT_THAT(text, HasSubstr(".SH EXIT STATUS\n")) << name;
    EXPECT_THAT(text, Not(HasSubstr("\n'"))) << name << ": troff would take it for a request";
  }
}

TEST_F(ManTest, ExitCodesThatSaySomethingAreTold) {
  auto pages = ManPages(line_, line_.root(), "v1");
  EXPECT_THAT(pages.at("clusterctl-why.1"), HasSubstr(".SH EXIT STATUS\n0, or 1 where something failed. An error"));
  EXPECT_THAT(pages.at("clusterctl-diff.1"),
              HasSubstr(".SH EXIT STATUS\n0 where nothing differs, 1 where something does, and 2 where something "
                        "failed. An error"));
  EXPECT_THAT(pages.at("clusterctl-lint.1"), HasSubstr(".SH EXIT STATUS\n0, or 1 where there is an error in the files "
                                                       "(with \\-\\-strict, or a warning), or something failed."));
}

TEST(Man, PrintsAndWrites) {
  TestFolder folder;
  Outcome one = Clusterctl({"man", "generate", "yaml"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr(".SH SYNOPSIS\n\\fBclusterctl generate yaml\\fR [flags]"));
  EXPECT_EQ(Clusterctl({"man", "--write-to", folder / "a/man1"}).code, 0);
  EXPECT_EQ(ReadFile(folder / "a/man1/clusterctl-generate-yaml.1").value(), one.out);
  EXPECT_EQ(Clusterctl({"man", "generate", "--write-to", folder / "b"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "b/clusterctl.1")) << "it is above what was asked for";
}

TEST(Man, NamesWhatIsWrong) {
  TestFolder folder;
  EXPECT_THAT(Clusterctl({"man", "generat"}).err, HasSubstr("unknown command \"generat\""));
  folder.Put("file", "");
  EXPECT_THAT(Clusterctl({"man", "--write-to", folder / "file/man1"}).err, HasSubstr("--write-to"));
}

}  // namespace
}  // namespace capi::cli
