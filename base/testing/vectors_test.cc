#include "base/testing/vectors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "base/files.h"
#include "base/testing/environment.h"

namespace capi {
namespace {

constexpr std::string_view kPage = "docs/vectors.md";

// One for each file, with all its tests.
std::string RowsOfFilesReadInPart() {
  std::map<std::string_view, std::string> tests;
  for (const VectorsInPart& file : VectorFilesReadInPart()) {
    std::string& row = tests[file.name];
    row += fmt::format("{}`{}`", row.empty() ? "" : ", ", file.test);
    if (!file.what.empty()) row += fmt::format(" ({})", file.what);
  }
  std::string out;
  for (const auto& [name, row] : tests)
    out += fmt::format("| `{}` | {} | {} |\n", name, LoadVectors(std::string(name))["cases"].size(), row);
  return out;
}

std::string Page() {
  std::string out =
      "# Behaviour vectors\n\n"
      "Tests compare what we do with what clusterctl and cluster-api-operator did with the same inputs: the data are "
      "in\n"
      "[testdata/vectors](../testdata/vectors/README.md). All cases of the files of the first table run (those on a "
      "vendor's "
      "release "
      "where\n"
      "`CAPI_RELEASES=vendors`, each as a test of its own); in those that a rule of [behaviour.md](behaviour.md) "
      "supersedes, the test\n"
      "asserts what we do instead. The table is `base/testing/superseded_vectors.cc`; this page is made from it by "
      "`base_test`\n"
      "(`CAPI_WRITE_DOCS=1` writes it).\n\n"
      "| File | Cases | As the reference | Superseded | Test |\n| --- | ---: | ---: | ---: | --- |\n";
  std::map<std::string_view, size_t> superseded;
  for (const Superseded& entry : SupersededVectors()) ++superseded[entry.file];
  for (const VectorFile& file : VectorFiles()) {
    size_t count = superseded[file.name];
    out += fmt::format("| `{}` | {} | {} | {} | `{}` |\n", file.name, file.cases, file.cases - count, count, file.test);
  }
  out +=
      "\nThese are read in part, for the cases that concern what the test is about; a table or comment in each test "
      "says "
      "which, and where\nwe do something else:\n\n| File | Cases | Tests |\n| --- | ---: | --- |\n";
  out += RowsOfFilesReadInPart();
  out += "\n## Superseded\n\n| File | Case | Why |\n| --- | --- | --- |\n";
  for (const Superseded& entry : SupersededVectors()) {
    out += fmt::format("| `{}` | {} | {} |\n", entry.file, entry.id, entry.rule);
  }
  out +=
      "\n## Superseded as a whole\n\nCases about what there is nothing like here, on purpose: no test runs them.\n\n"
      "| File | Kind or case | Cases | Why |\n| --- | --- | ---: | --- |\n";
  for (const ForeignVectors& foreign : VectorsOfOthersAlone()) {
    out += fmt::format("| `{}` | {} | {} | {} |\n", foreign.file, foreign.part, foreign.cases, foreign.why);
  }
  return out;
}

// Every case of every file runs, or is on the list of those that are about what only others do.
TEST(Vectors, AsManyAreOfOthersAloneAsTheListSays) {
  for (const ForeignVectors& foreign : VectorsOfOthersAlone()) {
    const Json cases = LoadCases(std::string(foreign.file));
    auto belongs = [&](const Json& c) {
      return GetString(c, {"kind"}) == foreign.part || GetString(c, {"id"}) == foreign.part;
    };
    EXPECT_EQ(static_cast<size_t>(std::count_if(cases.begin(), cases.end(), belongs)), foreign.cases) << foreign.part;
  }
}

TEST(Vectors, ThePageOfTheDocsIsUpToDate) {
  if (IsSet("CAPI_WRITE_DOCS")) ASSERT_TRUE(WriteFile(std::string(kPage), Page()).ok());
  auto text = ReadFile(std::string(kPage));
  ASSERT_TRUE(text.ok()) << text.error().message << ": run this in the top folder of the tree";
  EXPECT_EQ(*text, Page());
}

TEST(Vectors, TheTableIsInOrderAndNamesKnownFiles) {
  auto entries = SupersededVectors();
  auto before = [](const auto& a, const auto& b) { return std::pair(a.file, a.id) < std::pair(b.file, b.id); };
  EXPECT_EQ(std::adjacent_find(entries.begin(), entries.end(), [&](auto& a, auto& b) { return !before(a, b); }),
            entries.end());
  std::set<std::string_view> files;
  for (const VectorFile& file : VectorFiles()) files.insert(file.name);
  for (const Superseded& entry : entries) {
    EXPECT_TRUE(files.contains(entry.file)) << entry.file;
    EXPECT_FALSE(entry.rule.empty()) << entry.id;
  }
}

TEST(Vectors, EveryFileHasAsManyCasesAsThePageSays) {
  for (const VectorFile& file : VectorFiles()) {
    EXPECT_EQ(LoadVectors(std::string(file.name))["cases"].size(), file.cases) << file.name;
  }
}

// A file that no test reads shows nothing. What one test runs whole another may read in part.
TEST(Vectors, EveryFileIsReadByTheTestsThatAreNamed) {
  std::set<std::string> there, whole, part;
  for (const auto& entry : std::filesystem::directory_iterator("testdata/vectors")) {
    if (entry.path().extension() == ".json") there.insert(entry.path().filename().string());
  }
  auto names = [](std::string_view test, std::string_view file) {
    auto text = ReadFile(std::string(test));
    EXPECT_TRUE(text.ok() && text->find(fmt::format("\"{}\"", file)) != text->npos) << test << " doesn't read " << file;
  };
  for (const VectorFile& file : VectorFiles()) {
    names(file.test, file.name);
    whole.emplace(file.name);
  }
  for (const VectorsInPart& file : VectorFilesReadInPart()) {
    names(file.test, file.name);
    part.emplace(file.name);
  }
  part.merge(whole);
  EXPECT_EQ(part, there);
}

// The first two numbers of the folder's README: of cases, and of files.
std::pair<size_t, size_t> NumbersOfTheReadme() {
  auto text = ReadFile("testdata/vectors/README.md");
  EXPECT_TRUE(text.ok()) << "run this in the top folder of the tree";
  std::smatch found;
  const std::string page = text.ok() ? *text : "";
  if (!std::regex_search(page, found, std::regex(R"((\d+) inputs [^.]* in (\d+) files)"))) return {0, 0};
  return {std::stoul(found[1]), std::stoul(found[2])};
}

TEST(Vectors, ThereAreAsManyAsTheReadmeSays) {
  size_t cases = 0, files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("testdata/vectors")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    cases += LoadVectors(entry.path().filename().string())["cases"].size();
  }
  EXPECT_EQ(std::pair(cases, files), NumbersOfTheReadme());
}

TEST(VectorsDeathTest, AMissingFileEndsTheProgram) {
  EXPECT_DEATH(LoadVectors("no-such-file.json"), "no-such-file.json: .*top folder");
}

// A list that has lost its cases shows nothing, so no test goes on with one.
TEST(VectorsDeathTest, NoCasesEndTheProgram) {
  EXPECT_DEATH(LoadVectors("../../CMakePresets.json"), "CMakePresets.json: no cases");
}

}  // namespace
}  // namespace capi
