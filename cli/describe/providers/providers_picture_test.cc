#include "cli/describe/providers/providers_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/strings.h"
#include "cli/describe/grid.h"
#include "cli/testing.h"

namespace capi::cli::describe {
namespace {

using testing::HasSubstr;
using testing::Not;

const WallTime kNow = ParseTime("2026-01-11T00:00:00Z").value();
const WallTime kLater = ParseTime("2026-01-11T01:02:03Z").value();

ProvidersTree TreeOf(std::vector<std::string> names, const std::string& message = "") {
  ProvidersInput in;
  for (std::string& name : names) {
    ProviderObject& one = in.objects.emplace_back();
    one.provider.id = {api::ProviderType::kInfrastructure, "ns", std::move(name)};
    one.provider.status.conditions = {{"Ready", message.empty() ? "True" : "False",
                                       message.empty() ? "WorkloadsReady" : "WorkloadsNotReady", message, 0,
                                       "2026-01-10T23:59:00Z"}};
    in.workloads.push_back({"Deployment", "ns", one.provider.id.name + "-manager",
                            api::ManifestLabel(one.provider.id.type, one.provider.id.name), "v1", true, ""});
  }
  return BuildProvidersTree(in);
}

// Where a picture is shown. Thread-compatible.
struct Place {
  explicit Place(std::optional<TerminalSize> terminal, Variables variables = {}) {
    world.getenv = From(std::move(variables));
    size = terminal.value_or(TerminalSize{});
    if (terminal) window = [this] { return size; };
  }
  PictureOptions Options(OutputFormat format = OutputFormat::kTable, bool colours = false) const {
    return {format, colours, window};
  }
  // What was written since.
  std::string Out() {
    std::string text = out.str();
    out.str("");
    return text;
  }
  std::istringstream in;
  std::ostringstream out, err;
  TerminalSize size;
  std::function<TerminalSize()> window;
  World world{From({}), in, out, err};
};

// What stays on the terminal at last: what follows the last sequence that erases.
std::string Screen(const std::string& written) {
  const size_t at = written.rfind("\x1b[J");
  return at == written.npos ? written : written.substr(at + 3);
}

// L16: without a terminal each change is a picture of its own, with its time, and nothing that steers one.
TEST(ProvidersPicture, IsPrintedAtEachChange) {
  Place place(std::nullopt);
  ProvidersPicture picture(place.world, place.Options(OutputFormat::kWide));
  picture.Show(TreeOf({"aws"}), "", kNow);
  std::string first = place.Out();
  EXPECT_THAT(first, testing::StartsWith("--- 2026-01-11T00:00:00Z\nNAME "));
  EXPECT_THAT(first, HasSubstr("InfrastructureProvider/aws"));
  picture.Show(TreeOf({"aws"}), "", kLater);
  EXPECT_EQ(place.Out(), "") << "it is older, and else the same";
  picture.Show(TreeOf({"aws", "docker"}), "", kLater);
  EXPECT_THAT(place.out.str(), testing::StartsWith("\n--- 2026-01-11T01:02:03Z\nNAME "));
  EXPECT_THAT(place.Out(), HasSubstr("InfrastructureProvider/docker"));
  picture.Show(TreeOf({"docker"}), "", kLater);
  EXPECT_THAT(place.out.str(), Not(HasSubstr("aws"))) << "one that was deleted has gone";
  EXPECT_THAT(place.Out(), HasSubstr("InfrastructureProvider/docker"));
  picture.Show(TreeOf({}), "", kLater);
  EXPECT_THAT(place.Out(), HasSubstr("There are no providers in the cluster"));
  picture.End(kLater);
  EXPECT_EQ(place.Out(), "");
  EXPECT_EQ(place.err.str(), "");
}

// L16: as kubectl's --watch has them: a document for each change.
TEST(ProvidersPicture, ProgramsGetADocumentForEachChange) {
  struct Case {
    OutputFormat format;
    const char* between;
  };
  for (const Case& c :
       {Case{OutputFormat::kJson, ""}, Case{OutputFormat::kYaml, "---\n"}, Case{OutputFormat::kName, "\n"}}) {
    Place place(TerminalSize{80, 24});
    ProvidersPicture picture(place.world, place.Options(c.format, true));
    picture.Show(TreeOf({"aws"}), "", kNow);
    const std::string first = place.Out();
    EXPECT_EQ(first, ProvidersOutput(TreeOf({"aws"}), {.format = c.format}, 0, kNow));
    picture.Show(TreeOf({"aws"}, "0 of 1"), "", kLater);
    const std::string second = place.Out();
    if (c.format == OutputFormat::kName) {
      EXPECT_EQ(second, "") << "their names are the same";
    } else {
      EXPECT_THAT(second, testing::StartsWith(c.between));
      EXPECT_THAT(second, HasSubstr("0 of 1"));
    }
    picture.Show(TreeOf({"docker"}), "", kLater);
    EXPECT_EQ(place.Out(), c.between + ProvidersOutput(TreeOf({"docker"}), {.format = c.format}, 0, kNow));
    EXPECT_EQ(first.find('\x1b'), first.npos);
    picture.End(kLater);
  }
}

// L16: what can't be read is told once, and an outage when it begins and when it ends.
TEST(ProvidersPicture, WhatIsLackingIsToldOnce) {
  Place place(std::nullopt);
  ProvidersPicture picture(place.world, place.Options());
  for (int i = 0; i < 2; ++i) picture.Show(TreeOf({"aws"}), "Warning: Deployments can't be read\n", kNow);
  for (int i = 0; i < 2; ++i) picture.Lose({Code::kUnavailable, "no \x1b[2J answer", {}}, kLater);
  for (int i = 0; i < 2; ++i) picture.Show(TreeOf({"aws"}), "Warning: Deployments can't be read\n", kLater);
  EXPECT_EQ(place.err.str(),
            "Warning: Deployments can't be read\n"
            "Warning: the cluster can't be asked since 2026-01-11T01:02:03Z, which is tried again: no ?[2J answer\n"
            "The cluster answers again\n");
}

// L16: on a terminal it stays in its place, and at last on the screen, whole.
TEST(ProvidersPicture, IsDrawnAnewInItsPlace) {
  Place place(TerminalSize{300, 24});
  ProvidersPicture picture(place.world, place.Options());
  picture.Show(TreeOf({"aws"}), "Warning: Deployments can't be read\n", kNow);
  const std::string first = place.Out();
  EXPECT_EQ(first.find('\x1b'), first.npos) << "no colours were asked for: NO_COLOR";
  EXPECT_THAT(first, HasSubstr("\n\nWarning: Deployments can't be read\n2026-01-11T00:00:00Z  Ctrl-C ends\n"));
  const size_t lines = Split(first, '\n').size() - 1;
  picture.Show(TreeOf({"aws", "docker"}), "", kLater);
  EXPECT_THAT(place.out.str(), testing::StartsWith("\r\x1b[" + std::to_string(lines) + "A\x1b[J"));
  EXPECT_THAT(Screen(place.Out()), HasSubstr("InfrastructureProvider/docker"));
  picture.Lose({Code::kUnavailable, "no answer", {}}, kLater);
  EXPECT_THAT(Screen(place.out.str()), HasSubstr("Warning: the cluster can't be asked since 2026-01-11T01:02:03Z"));
  EXPECT_THAT(Screen(place.Out()), HasSubstr("InfrastructureProvider/docker"));
  picture.Show(TreeOf({"docker"}), "Warning: x\n", kLater);
  EXPECT_THAT(Screen(place.out.str()), Not(HasSubstr("can't be asked")));
  EXPECT_THAT(Screen(place.Out()), Not(HasSubstr("aws")));
  EXPECT_EQ(place.err.str(), "") << "it would stand in the picture";
  picture.Lose({Code::kUnavailable, "no answer", {}}, kLater);
  place.Out();
  picture.End(kLater);
  EXPECT_EQ(Screen(place.Out()), ProvidersOutput(TreeOf({"docker"}), {}, 300, kLater));
  EXPECT_EQ(
      place.err.str(),
      "Warning: x\nWarning: the cluster can't be asked since 2026-01-11T01:02:03Z, which is tried again: no answer\n")
      << "what stays on the screen may be old";
}

// L16: the reason stands at the end of a warning, and isn't cut off.
TEST(ProvidersPicture, AWarningIsWrapped) {
  Place place(TerminalSize{60, 40});
  ProvidersPicture picture(place.world, place.Options());
  picture.Show(TreeOf({"aws"}), "Warning: Deployments with the label a.b/c can't be read: you may not list them\n",
               kNow);
  picture.Lose({Code::kUnavailable, "failed to list coreproviders: no answer", {}}, kLater);
  const std::string screen = Screen(place.Out());
  EXPECT_THAT(screen, HasSubstr("you may not list them\n"));
  EXPECT_THAT(screen, HasSubstr("no answer\n"));
  for (const std::string& line : Split(screen, '\n')) EXPECT_LT(DisplayWidth(line), 60U) << line;
}

// L16: no line is as wide as the window, nor are there as many as it has rows; it may have become another one.
TEST(ProvidersPicture, FitsTheWindow) {
  const std::vector<std::string> names = {"aws", "azure", "docker", "gcp", "nutanix", "vsphere"};
  for (const auto& [columns, rows] : {std::pair{300, 50}, {80, 24}, {80, 12}, {40, 10}, {20, 5}, {1, 1}}) {
    Place place(TerminalSize{300, 50});
    ProvidersPicture picture(place.world, place.Options(OutputFormat::kWide, true));
    picture.Show(TreeOf(names), "", kNow);
    place.size = {columns, rows};
    std::string words;
    for (int i = 0; i < 5; ++i) words += "Warning: Deployments can't be read: " + std::string(200, 'y') + " no right\n";
    picture.Show(TreeOf(names, std::string(100, 'x') + " and more words\x1b[2J"), words, kLater);
    picture.Lose({Code::kUnavailable, "failed to list coreproviders: no answer", {}}, kLater);
    const std::string screen = Screen(place.Out());
    const std::vector<std::string> lines = Split(screen, '\n');
    EXPECT_LE(lines.size(), static_cast<size_t>(std::max(rows, 4))) << columns << "x" << rows << "\n" << screen;
    for (const std::string& line : lines) EXPECT_LT(DisplayWidth(line), static_cast<size_t>(std::max(columns, 2)));
    EXPECT_EQ(screen.find("\x1b[2J"), screen.npos);
    EXPECT_EQ(screen.find("lines more") != screen.npos, columns >= 20 && rows < 50) << screen;
    if (columns >= 80) EXPECT_THAT(screen, HasSubstr("Warning: the cluster can't be asked since"));
    picture.End(kLater);
  }
}

// L16: a low window has room for what isn't as it should be first.
TEST(ProvidersPicture, HealthyWorkloadsGiveWay) {
  Place place(TerminalSize{300, 12});
  ProvidersPicture picture(place.world, place.Options());
  picture.Show(TreeOf({"aws", "docker", "gcp"}), "", kNow);
  EXPECT_THAT(place.Out(), HasSubstr("Deployment/gcp-manager"));
  picture.Show(TreeOf({"aws", "azure", "docker", "gcp"}), "", kNow);
  EXPECT_THAT(Screen(place.out.str()), Not(HasSubstr("Deployment/")));
  EXPECT_THAT(Screen(place.out.str()), HasSubstr("Ctrl-C ends; healthy workloads have no room\n"));
  EXPECT_THAT(Screen(place.Out()), HasSubstr("InfrastructureProvider/gcp"));
}

// L16: what can't draw gets lines.
TEST(ProvidersPicture, ADumbTerminalIsNotSteered) {
  Place place(TerminalSize{80, 24}, {{"TERM", "dumb"}});
  ProvidersPicture picture(place.world, place.Options());
  picture.Show(TreeOf({"aws"}), "", kNow);
  picture.Show(TreeOf({}), "", kNow);
  EXPECT_EQ(place.out.str().find('\x1b'), place.out.str().npos);
  EXPECT_THAT(place.Out(), HasSubstr("\n--- 2026-01-11T00:00:00Z\n"));
}

TEST(ProvidersPicture, SeesThatNobodyReadsItAnyMore) {
  Place place(std::nullopt);
  ProvidersPicture picture(place.world, place.Options());
  picture.Show(TreeOf({"aws"}), "", kNow);
  EXPECT_FALSE(picture.IsClosed());
  place.out.setstate(std::ios::badbit);
  EXPECT_TRUE(picture.IsClosed());
}

}  // namespace
}  // namespace capi::cli::describe
