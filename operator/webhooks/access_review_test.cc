#include "operator/webhooks/access_review.h"

#include <gtest/gtest.h>

#include "operator/webhooks/access_server_testing.h"

namespace capi::ops {
namespace {

const Json kAlice = {{"username", "alice"}, {"uid", "7"}, {"groups", {"people"}}, {"extra", {{"scope", {"x"}}}}};
const Json kWhat = {{"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}};

class AccessReviewsTest : public ::testing::Test {
 protected:
  bool Ask(const Json& user, const Json& what = kWhat) {
    auto allowed = reviews_.Allowed(ctx_, user, what);
    EXPECT_TRUE(allowed.ok()) << allowed.error().message;
    return allowed.ok() && *allowed;
  }

  Context ctx_ = Context{}.WithTimeout(Seconds(30));
  FakeClock clock_;
  testing::AccessServer server_{[](const Json& spec) { return GetString(spec, {"user"}) == "alice"; }};
  AccessReviews reviews_{*server_.client, clock_};
};

// T1, T5: rights come with the name, and with uid, groups and extra: an authorizer may look at each.
TEST_F(AccessReviewsTest, AsksForTheWholeUser) {
  EXPECT_TRUE(Ask(kAlice));
  ASSERT_EQ(server_.asked().size(), 1u);
  EXPECT_EQ(server_.asked()[0], *ParseJson(R"({"user":"alice","uid":"7","groups":["people"],"extra":{"scope":["x"]},
    "nonResourceAttributes":{"path":"/metrics","verb":"get"}})"));
  EXPECT_FALSE(Ask({{"username", "bob"}}));
}

TEST_F(AccessReviewsTest, AnAnswerLastsForSeconds) {
  EXPECT_TRUE(Ask(kAlice));
  clock_.Advance(kAccessAnswerLasts - Millis(1));
  EXPECT_TRUE(Ask(kAlice));
  EXPECT_EQ(server_.asked().size(), 1u);
  clock_.Advance(Millis(1));
  EXPECT_TRUE(Ask(kAlice));
  EXPECT_EQ(server_.asked().size(), 2u);
}

TEST_F(AccessReviewsTest, AnAnswerIsForOneUserAndOneThing) {
  EXPECT_TRUE(Ask(kAlice));
  Json other = kAlice;
  other["groups"].push_back("admins");
  EXPECT_TRUE(Ask(other));
  EXPECT_TRUE(Ask(kAlice, {{"nonResourceAttributes", {{"path", "/other"}, {"verb", "get"}}}}));
  EXPECT_FALSE(Ask({{"username", "bob"}}));
  EXPECT_EQ(server_.asked().size(), 4u);
}

TEST_F(AccessReviewsTest, AnErrorIsNotKept) {
  server_.Fail(403);
  EXPECT_EQ(reviews_.Allowed(ctx_, kAlice, kWhat).code(), Code::kPermissionDenied);
  server_.Fail(0);
  EXPECT_TRUE(Ask(kAlice));
}

// What is kept is bounded, by whoever may ask with a thousand names.
TEST_F(AccessReviewsTest, ManyUsersPushEachOtherOut) {
  for (int i = 0; i < 1100; ++i) EXPECT_FALSE(Ask({{"username", "bob-" + std::to_string(i)}}));
  size_t asked = server_.asked().size();
  for (int i = 0; i < 1100; ++i) EXPECT_FALSE(Ask({{"username", "bob-" + std::to_string(i)}}));
  EXPECT_GT(server_.asked().size(), asked) << "not all of them were kept";
}

}  // namespace
}  // namespace capi::ops
