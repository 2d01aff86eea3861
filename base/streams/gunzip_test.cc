#include "base/streams/gunzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/encoding.h"

namespace capi {
namespace {

Result<std::string> Unpacked(std::string_view packed, size_t step) {
  std::string out;
  GunzipStream stream([&](std::string_view piece) {
    out += piece;
    return Ok();
  });
  for (size_t at = 0; at < packed.size(); at += step) TRY(stream.Add(packed.substr(at, step)));
  TRY(stream.Finish());
  return out;
}

TEST(GunzipStream, UnpacksPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919);
  const std::string packed = Gzip(text);
  for (size_t step : {1u, 3u, 1000u, 1u << 20}) {
    auto got = Unpacked(packed, step);
    ASSERT_TRUE(got.ok()) << step << got.error().message;
    EXPECT_EQ(*got, text) << step;
  }
  EXPECT_EQ(*Unpacked(Gzip("one") + Gzip("") + Gzip("two"), 5), "onetwo");
  // Much comes of little: in pieces.
  const std::string zeros(5u << 20, '\0');
  EXPECT_EQ(*Unpacked(Gzip(zeros), 1u << 20), zeros);
}

TEST(GunzipStream, RefusesWhatIsNone) {
  const std::string packed = Gzip("some text");
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_EQ(Unpacked(packed.substr(0, size), 4).code(), Code::kInvalidArgument) << size;
  EXPECT_EQ(Unpacked("no gzip at all", 4).code(), Code::kInvalidArgument);
  EXPECT_EQ(Unpacked(packed + "x", 100).code(), Code::kInvalidArgument);
  std::string changed = packed;
  changed[packed.size() - 6] = static_cast<char>(changed[packed.size() - 6] ^ 1);  // in its sum
  EXPECT_EQ(Unpacked(changed, 100).code(), Code::kInvalidArgument);
}

TEST(GunzipStream, AnErrorOfWhoTakesEndsIt) {
  GunzipStream stream([](std::string_view) { return Error{Code::kGone, "enough", {}}; });
  EXPECT_EQ(stream.Add(Gzip("x")).code(), Code::kGone);
}

}  // namespace
}  // namespace capi
