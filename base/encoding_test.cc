#include "base/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi {
namespace {

using ::testing::HasSubstr;

TEST(Encoding, Base64) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe\xfd", "//79"}, {"\xfb\xf0", "+/A="}};
  for (auto [bytes, text] : cases) {
    EXPECT_EQ(Base64Encode(bytes), text);
    auto decoded = Base64Decode(text);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(*decoded, bytes);
  }
  EXPECT_EQ(*Base64Decode(" Zm9v\r\nZg=\t="), "foof");
  for (std::string_view bad : {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9-", "Zm9_", "Zm\xff="})
    EXPECT_EQ(Base64Decode(bad).code(), Code::kInvalidArgument) << bad;
}

constexpr size_t kMost = 2u << 20;

TEST(Encoding, GzipComesBack) {
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string(1 << 20, 'x'), std::string("\0\1", 2)}) {
    EXPECT_EQ(Gzip(bytes), Gzip(bytes));
    auto back = Gunzip(Gzip(bytes), kMost);
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, bytes);
  }
  EXPECT_EQ(*Gunzip(Gzip("one") + Gzip("two"), kMost), "onetwo");
}

// F2: caches count the characters of what they keep.
TEST(Encoding, GzipTakesWhatItHolds) {
  std::string mixed = std::string(1 << 20, 'x') + RandomBytes(100'000);
  std::string packed = Gzip(mixed);
  EXPECT_LT(packed.size(), 110'000u);
  EXPECT_LT(packed.capacity(), packed.size() + 64);
  EXPECT_EQ(*Gunzip(packed, kMost), mixed);
}

TEST(Encoding, GunzipRefuses) {
  const std::string whole = Gzip(std::string(1000, 'x') + "y");
  std::string flipped = whole;
  flipped[whole.size() - 6] ^= 1;  // in the checksum
  for (const std::string& bad :
       {std::string(), std::string("plain"), whole.substr(0, whole.size() - 1), whole + "rest", flipped})
    EXPECT_EQ(Gunzip(bad, kMost).code(), Code::kInvalidArgument) << bad.size();
  EXPECT_TRUE(Gunzip(whole, 1001).ok());
  EXPECT_THAT(Gunzip(whole, 1000).error().message, HasSubstr("more than 1000 bytes"));
}

TEST(Encoding, PercentEscapes) {
  EXPECT_EQ(PercentEscape("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEscape("a b/c%\xc3\xa9"), "a%20b%2Fc%25%C3%A9");
  EXPECT_EQ(PercentEscape("system:node/x", ":"), "system:node%2Fx");
  EXPECT_EQ(PercentUnescape("a%20b%2fc%25%C3%a9"), "a b/c%\xc3\xa9");
  EXPECT_EQ(PercentUnescape("%2"), "%2");
  EXPECT_EQ(PercentUnescape("100%zz%"), "100%zz%");
}

TEST(Encoding, Sha256) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Encoding, Sha256OfPiecesIsThatOfAll) {
  RunningSha256 sum;
  for (const char* piece : {"ab", "", "c"}) sum.Add(piece);
  EXPECT_EQ(sum.Hex(), Sha256Hex("abc"));
}

// RFC 4231, case 2.
TEST(Encoding, HmacSha256) {
  EXPECT_EQ(HmacSha256Hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Encoding, RandomBytesDiffer) {
  EXPECT_EQ(RandomBytes(32).size(), 32u);
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
}

}  // namespace
}  // namespace capi
