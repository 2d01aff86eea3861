// behaviour.md I19: Certificates that another one's Secret issues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lifecycle/certificates/issue_testing.h"

namespace capi::certificates {
namespace {

using ::testing::HasSubstr;

TEST(Certificates, OfAnAuthorityAreIssuedByIt) {
  World ca = Issued(TheAuthority());
  World leaf;
  leaf.request = OfAuthority();
  EXPECT_EQ(leaf.Look().step, Step::kBlocked);
  EXPECT_THAT(leaf.Look().why, HasSubstr("Secret ns/ca with the CA that is to issue isn't there"));
  leaf.inputs.issuer = &ca.secret->data;
  ASSERT_EQ(leaf.Look().step, Step::kIssue);
  leaf.Do(Step::kIssue);
  EXPECT_EQ(leaf.At("ca.crt"), ca.At("tls.crt"));
  EXPECT_TRUE(leaf.Trusts(ca.At("ca.crt")));
  EXPECT_EQ(leaf.Look().step, Step::kKeep);

  // It ends with its CA at the latest, and so gains nothing by a new one before the CA has one.
  leaf.inputs.now = ca.inputs.now = kStart + 61 * kDay;
  EXPECT_EQ(leaf.Look().step, Step::kKeep);
  EXPECT_GT(leaf.Look().look_again, leaf.inputs.now);
  ca.Do(Step::kTrustNext);
  ca.Do(Step::kServeNext);
  ASSERT_EQ(leaf.Look().step, Step::kTrustNext);
  leaf.Do(Step::kTrustNext);
  EXPECT_EQ(leaf.Trusted(), 2u);
  leaf.Do(Step::kServeNext);
  EXPECT_TRUE(leaf.Trusts(ca.At("tls.crt")));
  EXPECT_TRUE(leaf.At("ca.crt").starts_with(ca.At("tls.crt")));
  // Of a CA that is trusted already it is renewed at once.
  leaf.request.dns_names.push_back("b.ns.svc");
  EXPECT_EQ(leaf.Look().step, Step::kRenew);
  leaf.inputs.injected.targets = true;
  EXPECT_EQ(leaf.Look().step, Step::kTrustNext);
}

TEST(Certificates, OfAnAuthorityGetItsTrustBack_I19) {
  World ca = Issued(TheAuthority()), leaf;
  leaf.request = OfAuthority();
  leaf.inputs.issuer = &ca.secret->data;
  leaf.Do(Step::kIssue);
  leaf.inputs.injected = {.targets = true, .since = kStart};
  const std::string other = Issued().At("ca.crt");
  leaf.secret->data["ca.crt"] = other;
  EXPECT_FALSE(TrustsWhatIsServed(leaf.secret->data, kStart));
  EXPECT_EQ(leaf.Look().step, Step::kTidyTrusted);
  leaf.inputs.now = kStart + 61 * kDay;  // due, and it would gain nothing
  ASSERT_EQ(leaf.Look().step, Step::kTidyTrusted);
  leaf.Do(Step::kTidyTrusted);
  EXPECT_TRUE(TrustsWhatIsServed(leaf.secret->data, leaf.inputs.now));
  EXPECT_EQ(leaf.Look().step, Step::kKeep);
  // Its CA is lost, and nobody knows it any more: another one goes on, and is served in the end.
  World anew = Issued(TheAuthority());
  leaf.secret->data["ca.crt"] = other;
  leaf.inputs.issuer = &anew.secret->data;
  ASSERT_EQ(leaf.Look().step, Step::kTrustNext);
  leaf.Do(Step::kTrustNext);
  EXPECT_TRUE(TrustsWhatIsServed(leaf.secret->data, leaf.inputs.now));
  EXPECT_EQ(leaf.Look().step, Step::kServeNext);
}

// cert-manager's counts from now, ours from five minutes before.
TEST(Certificates, KnowAnAuthorityThatCountsLaterThanTheyDo_I19) {
  World ca, leaf;
  ca.request = TheAuthority();
  ca.inputs.now = kStart + Seconds(280);
  ca.Do(Step::kIssue);
  leaf.request = OfAuthority();
  leaf.inputs.issuer = &ca.secret->data;
  leaf.Do(Step::kIssue);
  EXPECT_TRUE(TrustsWhatIsServed(leaf.secret->data, kStart));
  EXPECT_EQ(leaf.Look().step, Step::kKeep);
}

TEST(Certificates, AreNotIssuedByWhatIsNoAuthority) {
  World ca = Issued(), leaf;
  leaf.request = OfAuthority();
  leaf.inputs.issuer = &ca.secret->data;
  EXPECT_EQ(leaf.Look().step, Step::kBlocked);
  EXPECT_THAT(leaf.Look().why, HasSubstr("may not issue others"));
  EXPECT_FALSE(Make(Step::kIssue, leaf.request, std::nullopt, leaf.inputs, {}).ok());
}

}  // namespace
}  // namespace capi::certificates
