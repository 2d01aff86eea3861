#include "kube/client/watch_decoder.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

std::string Event(std::string_view type, std::string_view name, std::string_view more = "") {
  return R"({"type":")" + std::string(type) + R"(","object":{"kind":"ConfigMap","metadata":{"name":")" +
         std::string(name) + "\"" + std::string(more) + "}}}\n";
}

class WatchDecoderTest : public testing::Test {
 protected:
  std::vector<WatchEvent> seen_;
  WatchDecoder decoder_{nullptr, [this](WatchEvent e) { return seen_.push_back(std::move(e)), Ok(); }};
};

TEST_F(WatchDecoderTest, ReadsEventsHoweverTheStreamIsCut) {
  std::string stream = Event("ADDED", "a") + Event("MODIFIED", "b\\n") + "\n" + Event("DELETED", "c") +
                       Event("BOOKMARK", "", R"(,"resourceVersion":"9")");
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    seen_.clear();
    for (size_t at = 0; at < stream.size(); at += piece) {
      Status fed = decoder_.Feed(std::string_view(stream).substr(at, piece));
      ASSERT_TRUE(fed.ok()) << fed.error().message;
    }
    ASSERT_TRUE(decoder_.End().ok());
    ASSERT_EQ(seen_.size(), 4u) << "pieces of " << piece;
    EXPECT_EQ(seen_[0].object.name(), "a");
    EXPECT_EQ(seen_[1].object.name(), "b\n");
    EXPECT_EQ(seen_[2].type, WatchEvent::Type::kDeleted);
    EXPECT_EQ(seen_[3].object.resource_version(), "9");
    EXPECT_FALSE(seen_[3].initial_events_end);
  }
}

TEST_F(WatchDecoderTest, MarksTheEndOfInitialEvents) {
  ASSERT_TRUE(decoder_.Feed(Event("BOOKMARK", "", R"(,"annotations":{"k8s.io/initial-events-end":"true"})")).ok());
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_TRUE(seen_[0].initial_events_end);
}

TEST_F(WatchDecoderTest, AnErrorEventIsAnError) {
  ASSERT_TRUE(decoder_.Feed(Event("ADDED", "a")).ok());
  Status gone = decoder_.Feed(
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
      "\"message\":\"too old resource version: 1 (5)\"}}\n");
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.code(), Code::kGone);
  EXPECT_EQ(gone.error().message, "too old resource version: 1 (5)");
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(WatchDecoderTest, AnEndInTheMiddleIsUnavailable) {
  std::string event = Event("ADDED", "a");
  event.resize(event.size() / 2);
  ASSERT_TRUE(decoder_.Feed(event).ok());
  EXPECT_EQ(decoder_.End().code(), Code::kUnavailable);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(WatchDecoderTest, WhatIsNoEventIsUnavailable) {
  for (std::string_view line : {"<html>\n", "[]\n", "{\"type\":\"ADDED\"}\n", "{\"type\":\"NEW\",\"object\":{}}\n"}) {
    EXPECT_EQ(decoder_.Feed(line).code(), Code::kUnavailable) << line;
  }
}

TEST_F(WatchDecoderTest, ReadsLinesOfFiveMegabytesInSmallPieces) {
  std::string event = Event("ADDED", "a", R"(,"x":")" + std::string(5u << 20, 'x') + "\"");
  for (size_t at = 0; at < event.size(); at += 16384) {
    ASSERT_TRUE(decoder_.Feed(std::string_view(event).substr(at, 16384)).ok());
  }
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(GetString(seen_[0].object.json(), {"metadata", "x"}).size(), 5u << 20);
}

TEST(WatchDecoder, PassesTheCallersErrorOnAndReadsNoFurther) {
  int calls = 0;
  WatchDecoder decoder(&Builtin("Secret"), [&](WatchEvent e) -> Status {
    ++calls;
    EXPECT_EQ(e.object.kind(), "Secret");
    EXPECT_EQ(e.object.api_version(), "v1");
    return Error{Code::kConflict, "mine", {}};
  });
  EXPECT_EQ(decoder.Feed(Event("ADDED", "a") + Event("ADDED", "b")).code(), Code::kConflict);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace capi::kube
