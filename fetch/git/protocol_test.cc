#include "fetch/git/protocol.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/pkt_line.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls): clang-tidy 14 overlooks its uses

const std::string kId = "b0b3ae23b0b3ae23b0b3ae23b0b3ae23b0b3ae23";
const std::string kV2 = AsPktLine("version 2\n") + AsPktLine("agent=git/2.39.5\n") + AsPktLine("ls-refs=unborn\n") +
                        AsPktLine("fetch=shallow wait-for-done filter\n") + AsPktLine("object-format=sha1\n") + "0000";
const std::string kV0 = AsPktLine(kId + " HEAD\0multi_ack side-band side-band-64k ofs-delta shallow agent=x\n"s) +
                        AsPktLine(kId + " refs/heads/main\n") + AsPktLine(kId + " refs/tags/v1.0.0\n") +
                        AsPktLine(kId + " refs/tags/v1.0.0^{}\n") + "0000";

TEST(GitServer, SaysWhatItCanDo_T15) {
  auto v2 = ReadGitServer(kV2, false);
  ASSERT_TRUE(v2.ok()) << v2.error().message;
  EXPECT_TRUE(v2->speaks_v2 && v2->filters && v2->names_hash);
  EXPECT_TRUE(ReadGitServer(AsPktLine("# service=git-upload-pack\n") + "0000" + kV2, true).ok());
  auto v0 = ReadGitServer(kV0, false);
  ASSERT_TRUE(v0.ok()) << v0.error().message;
  EXPECT_FALSE(v0->speaks_v2 || v0->filters);
  EXPECT_EQ(v0->tags.size(), 1U);
  EXPECT_EQ(v0->multi_ack, "multi_ack");
  const std::string both = AsPktLine(kId + " HEAD\0multi_ack side-band-64k shallow multi_ack_detailed\n"s) + "0000";
  EXPECT_EQ(ReadGitServer(both, false)->multi_ack, "multi_ack_detailed");
  EXPECT_TRUE(ReadGitServer(AsPktLine("version 1\n") + kV0, false).ok());
}

TEST(GitServer, OneThatIsCutOffAnywhereIsNone_F3) {
  for (const std::string& whole : {kV2, kV0}) {
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(ReadGitServer(whole.substr(0, size), false).code(), Code::kInvalidArgument) << size;
    EXPECT_FALSE(ReadGitServer(whole + "0000", false).ok());
  }
}

TEST(GitServer, WhatCannotBeReadIsRefused_T15) {
  auto with = [](const std::string& capability) { return AsPktLine("version 2\n") + AsPktLine(capability) + "0000"; };
  const std::string sha256 = std::string(64, 'a') + " HEAD\0shallow side-band-64k object-format=sha256\n"s;
  const std::pair<std::string, const char*> cases[] = {
      {with("object-format=sha256\n"), "SHA-256"},
      {AsPktLine(sha256) + "0000", "SHA-256"},
      {with("fetch=filter\n"), "shallow"},
      {with("ls-refs\n"), "shallow"},
      {AsPktLine(kId + " HEAD\0side-band-64k\n"s) + "0000", "shallow"},
      {AsPktLine(kId + " HEAD\0shallow\n"s) + "0000", "side-band-64k"},
  };
  for (const auto& [text, why] : cases) {
    auto server = ReadGitServer(text, false);
    ASSERT_FALSE(server.ok()) << why;
    EXPECT_EQ(server.code(), Code::kUnsupported);
    EXPECT_THAT(server.error().message, HasSubstr(why));
  }
  // What a server says may repeat what it was sent.
  auto refused = ReadGitServer(AsPktLine("ERR you said s3cret\n"), true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.find("s3cret"), std::string::npos);
  for (const std::string& text : {"junk"s, "0000"s, AsPktLine(kId), AsPktLine(kId + " HEAD\n"), "0001"s + kV2})
    EXPECT_EQ(ReadGitServer(text, true).code(), Code::kInvalidArgument) << text;
}

TEST(GitTags, AreRead_T15) {
  auto tags = ReadGitTags(AsPktLine(kId + " refs/tags/v1.0.0 peeled:" + kId + "\n") +
                          AsPktLine(kId + " refs/tags/a/b\n") + AsPktLine(kId + " refs/heads/v2.0.0\n") + "0000");
  ASSERT_TRUE(tags.ok()) << tags.error().message;
  EXPECT_EQ(tags->size(), 2U);
  EXPECT_EQ(ToHex(tags->at("v1.0.0")), kId);
  for (const std::string& bad : {""s, AsPktLine("junk refs/tags/v1\n") + "0000", AsPktLine(kId) + "0000", "0000more"s})
    EXPECT_FALSE(ReadGitTags(bad).ok()) << bad;
}

TEST(GitPack, IsTakenOutOfItsChannel_T15) {
  std::string answer = AsPktLine("shallow-info\n") + AsPktLine("shallow " + kId) + "0001" + AsPktLine("packfile\n") +
                       AsPktLine("\2 a word") + AsPktLine("\1PACK ") + AsPktLine("\2 another") +
                       AsPktLine("\1and more") + "0000";
  ASSERT_TRUE(KeepPack(answer).ok());
  EXPECT_EQ(answer, "PACK and more");
  std::string old = AsPktLine("shallow " + kId) + "0000" + AsPktLine("NAK\n") + AsPktLine("\1PACK") + "0000";
  ASSERT_TRUE(KeepPack(old).ok());
  EXPECT_EQ(old, "PACK");
  for (std::string bad : {""s, AsPktLine("\1PACK"), "0008NA"s})
    EXPECT_EQ(KeepPack(bad).code(), Code::kUnavailable) << bad;
  for (std::string bad : {AsPktLine("\3 s3cret"), AsPktLine("ERR s3cret")}) {
    Status status = KeepPack(bad);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_EQ(status.error().message.find("s3cret"), std::string::npos);
  }
}

TEST(GitQuestions, AreOfTheServersVersion_T15) {
  const ObjectId id = *IdFromHex(kId);
  GitServer server{.speaks_v2 = true, .filters = true, .names_hash = true, .multi_ack = "", .tags = {}};
  EXPECT_EQ(AskForTags(server),
            "0014command=ls-refs\n0017agent=capi-operator0016object-format=sha10001001aref-prefix refs/tags/\n0000");
  EXPECT_THAT(AskForObjects(server, {{id}, true, true}),
              HasSubstr("0001000fno-progress000dofs-delta0032want " + kId +
                        "\n000ddeepen 1\n0015filter blob:none\n0009done\n0000"));
  server.filters = false;
  EXPECT_EQ(AskForObjects(server, {{id}, true, true}).find("filter"), std::string::npos);
  EXPECT_EQ(AskForObjects({}, {{id}, true, true}),
            AsPktLine("want " + kId + " side-band-64k ofs-delta shallow no-progress agent=capi-operator\n") +
                "000ddeepen 1\n00000009done\n");
  // Azure DevOps answers nobody without it.
  GitServer old;
  old.multi_ack = "multi_ack_detailed";
  EXPECT_THAT(AskForObjects(old, {{id}, true, true}), HasSubstr(kId + " multi_ack_detailed side-band-64k"));
  EXPECT_EQ(SectionsOfObjects(server, {{id}, true, true}), 1);
  EXPECT_EQ(SectionsOfObjects({}, {{id}, true, true}), 2);
}

}  // namespace
}  // namespace capi::fetch
