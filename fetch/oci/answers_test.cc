#include "fetch/oci/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/testing/cost.h"
#include "fetch/oci/manifest.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(OciAnswers, TagsAreTexts_T9) {
  std::vector<std::string> tags;
  auto take = [&](const std::string& tag) { tags.push_back(tag); };
  EXPECT_TRUE(ReadTags(R"({"name":"a/b","tags":["v1.0.0",5,["v2.0.0"],{"tags":["v3.0.0"]},"latest"]})", take).ok());
  EXPECT_TRUE(ReadTags(R"({"tags":null})", take).ok());
  EXPECT_THAT(tags, ElementsAre("v1.0.0", "latest"));
}

TEST(OciAnswers, TheFirstCodeIsShownWhereItIsOne_T9) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"errors":[{"code":"DENIED","message":"m","detail":{"code":"OTHER"}},{"code":"OTHER"}]})", "DENIED"},
      {R"({"errors":[{"message":"m"},{"code":"OTHER"}]})", ""},
      {R"({"errors":[{"code":"a word"}]})", ""},
      {R"({"errors":[{"code":["DENIED"]}]})", ""},
      {R"({"errors":{"code":"DENIED"}})", ""},
      {R"({"errors":[{"code":"DENIED"}])", ""},
      {"<html>", ""},
  };
  for (const auto& [body, code] : cases) EXPECT_EQ(ErrorCodeIn(body), code) << body;
}

TEST(OciAnswers, ATokenHasTwoNames_T9) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"expires_in":60,"token":"a","access_token":"b"})", "a"},
      {R"({"access_token":"b"})", "b"},
      {R"({"token":"","access_token":"b"})", "b"},
      {R"({"access_token":"b","token":null})", "b"},
      {R"({"token":"a","access_token":""})", "a"},
      {R"({"token":["a"],"in":{"token":"c"}})", ""},
      {R"(["token"])", ""},
      {"", ""},
  };
  for (const auto& [body, token] : cases) EXPECT_EQ(TokenIn(body), token) << body;
}

std::string Repeat(std::string_view text, size_t size) {
  std::string out;
  while (out.size() < size) out += text;
  return out;
}

// Whatever it is made of, and where it is of nothing but brackets, which the parser keeps a copy of.
TEST(OciAnswers, TakeLittleMemoryWhateverARegistrySays_F2) {
  constexpr size_t kSize = 1 << 20;
  const std::string title = R"({"annotations":{"org.opencontainers.image.title":"a"}},)";
  for (const std::string& entry : {std::string("{},"), std::string("[],"), std::string("1,"), title}) {
    SCOPED_TRACE(entry);
    const std::string list = "[" + Repeat(entry, kSize) + "{}]";
    std::vector<std::string> texts = {list};
    for (const char* member : {"layers", "blobs", "tags", "errors", "token"}) {
      texts.push_back(std::string("{\"") + member + "\":" + list + "}");
    }
    for (const std::string& text : texts) {
      SCOPED_TRACE(text.substr(0, 20));
      Cost cost = Measure([&] {
        auto files = ReadOciManifest(text);
        auto tags = ReadTags(text, [](const std::string&) {});
        return ErrorCodeIn(text) + TokenIn(text) + (files.ok() && tags.ok() ? "both" : "read");
      });
      EXPECT_EQ(cost.answer, "read");
      if (kMeasuresCost) EXPECT_LT(cost.bytes, 4 * kSize);
    }
  }
}

TEST(OciAnswers, AManifestHasAThousandFilesAtMost_F2) {
  const std::string file = R"({"annotations":{"org.opencontainers.image.title":"a"}},)";
  EXPECT_EQ(ReadOciManifest(R"({"layers":[)" + Repeat(file, 1'000 * file.size()) + "{}]}")->size(), 1'000u);
  auto many = ReadOciManifest(R"({"layers":[)" + Repeat(file, 1'001 * file.size()) + "{}]}");
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message, HasSubstr("more than 1000 files"));
}

// Of texts as long as an answer may be, what is kept of all files together.
TEST(OciAnswers, OfAManifestWithLongTextsLittleIsKept_F2) {
  const std::string text(2'000, 'a');
  const std::string file =
      R"({"annotations":{"org.opencontainers.image.title":")" + text + R"("},"digest":"sha256:)" + text + R"("},)";
  auto files = ReadOciManifest(R"({"layers":[)" + Repeat(file, 999 * file.size()) + "{}]}");
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->size(), 999u);
  size_t kept = 0;
  for (const OciFile& one : *files) kept += one.title.capacity() + one.digest.capacity();
  EXPECT_LT(kept, 512u << 10);
}

}  // namespace
}  // namespace capi::fetch
