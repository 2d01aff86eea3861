#include "api/reasons.h"

#include <gtest/gtest.h>

#include <set>

#include "base/files.h"
#include "base/strings.h"

namespace capi::api {
namespace {

// Values of the constants of reasons.h: condition types first, then reasons. Tests run at the root of the tree.
std::pair<std::set<std::string>, std::set<std::string>> DeclaredConstants() {
  std::pair<std::set<std::string>, std::set<std::string>> out;
  auto header = ReadFile("api/reasons.h");
  EXPECT_TRUE(header.ok());
  std::set<std::string>* into = &out.first;
  for (const std::string& line : Split(header.ok() ? *header : "", '\n')) {
    if (line.starts_with("namespace reason {")) into = &out.second;
    if (!line.starts_with("inline constexpr")) continue;
    auto parts = Split(line, '"');
    EXPECT_EQ(parts.size(), 3u) << line;
    if (parts.size() == 3) into->insert(parts[1]);
  }
  return out;
}

TEST(Reasons, EveryConstantHasOneRow) {
  auto [types, reasons] = DeclaredConstants();
  std::set<std::string> type_rows, reason_rows;
  for (const ConditionInfo& info : AllConditions()) EXPECT_TRUE(type_rows.emplace(info.type).second) << info.type;
  for (const ReasonInfo& info : AllReasons()) {
    // What only the peer writes is explained, but nobody here needs a name for it.
    bool others = info.section == "Written by other builds";
    EXPECT_FALSE(others && reasons.contains(std::string(info.reason))) << info.reason;
    if (!others) EXPECT_TRUE(reason_rows.emplace(info.reason).second) << info.reason;
  }
  EXPECT_EQ(type_rows, types);
  EXPECT_EQ(reason_rows, reasons);
}

// F1: CamelCase; the CRD's pattern is ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$.
TEST(Reasons, AreCamelCaseAndSayWhatToDo) {
  std::set<std::string_view> types;
  for (const ConditionInfo& info : AllConditions()) types.insert(info.type);
  for (const ReasonInfo& info : AllReasons()) {
    SCOPED_TRACE(info.reason);
    EXPECT_TRUE(info.reason.front() >= 'A' && info.reason.front() <= 'Z');
    for (char c : info.reason) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c))) << c;
    EXPECT_FALSE(info.meaning.empty());
    EXPECT_FALSE(info.action.empty());
    if (info.conditions == "(event)") continue;
    for (const std::string& type : Split(info.conditions, ',')) EXPECT_TRUE(types.contains(Trim(type))) << type;
  }
}

TEST(Reasons, ThePageIsPrintedFromTheTable) {
  auto page = ReadFile("docs/reasons.md");
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(*page, ReasonsMarkdown()) << "run: gen_crds --write .";
}

// Whoever reads a reason finds its paragraph, and there what it is about, how to see it, and what to do.
TEST(Reasons, EachHasAParagraph) {
  auto page = ReadFile("docs/reasons.md");
  ASSERT_TRUE(page.ok());
  for (const ReasonInfo& info : AllReasons()) {
    SCOPED_TRACE(info.reason);
    EXPECT_EQ(ReasonPlace(info.reason), "docs/reasons.md#" + ToLower(info.reason));
    std::size_t at = page->find("\n### " + std::string(info.reason) + "\n");
    ASSERT_NE(at, std::string::npos);
    std::string paragraph = page->substr(at, page->find("\n#", at + 1) - at);
    for (std::string_view part : {"- **Cause**: ", "- **Do**: "}) EXPECT_NE(paragraph.find(part), std::string::npos);
    bool others = info.section == "Written by other builds";
    EXPECT_EQ(paragraph.find("- **See it**: ") != std::string::npos, !others);
  }
  EXPECT_EQ(ReasonPlace("MinimumReplicasAvailable"), "");
}

TEST(Reasons, AreFoundByName) {
  ASSERT_NE(FindReason("MissingVariables"), nullptr);
  EXPECT_EQ(FindReason("MissingVariables")->reason, reason::kMissingVariables);
  EXPECT_EQ(FindReason("MinimumReplicasAvailable"), nullptr);
}

}  // namespace
}  // namespace capi::api
