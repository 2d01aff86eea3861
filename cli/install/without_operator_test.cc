#include "cli/install/without_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/api_testing.h"

namespace capi::cli {
namespace {

using enum api::ProviderType;

const Answer kDone = {200, R"({"apiVersion":"v1","kind":"X","metadata":{"name":"x","namespace":"ns","uid":"u"}})"};
const Answer kForbidden = {403, R"({"kind":"Status","reason":"Forbidden","message":"no right"})"};
const std::string kEntries = "PATCH /apis/clusterctl.cluster.x-k8s.io/v1alpha3/namespaces/ns/providers/";

lifecycle::DirectRelease Release(api::ProviderType type, const std::string& name) {
  lifecycle::DirectRelease out;
  out.provider = {{type, "ns", name}, "v1.12.0", "v1beta2"};
  return out;
}

Status Install(FakeApi& api) {
  std::ostringstream err;
  Notes notes(err);
  return InstallDirectly(Context{}, api.client(), {Release(kCore, "cluster-api"), Release(kBootstrap, "kubeadm")}, {},
                         {}, notes);
}

// L23: until the core is recorded a run is the first one, which installs what is installed by default.
TEST(InstallDirectly, RecordsTheCoreLast) {
  FakeApi fine({{"POST /apis/apiextensions.k8s.io", {kDone}}, {kEntries, {kDone}}});
  Status done = Install(fine);
  ASSERT_TRUE(done.ok()) << done.error().message;
  auto entries = fine.Asked("PATCH");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(entries[0], testing::StartsWith(kEntries + "bootstrap-kubeadm"));
  EXPECT_THAT(entries[1], testing::StartsWith(kEntries + "cluster-api"));

  FakeApi broken({{"POST /apis/apiextensions.k8s.io", {kDone}}, {kEntries, {kForbidden}}});
  EXPECT_FALSE(Install(broken).ok());
  for (const std::string& entry : broken.Asked("PATCH"))
    EXPECT_THAT(entry, testing::Not(testing::StartsWith(kEntries + "cluster-api")));
}

TEST(CheckNoOperator, NamesWhereItIs) {  // L23
  EXPECT_TRUE(CheckNoOperator(std::nullopt).ok());
  Status there = CheckNoOperator(InstalledOperator{.ns = "ops", .image = "x:v1"});
  ASSERT_FALSE(there.ok());
  EXPECT_THAT(there.error().message, testing::HasSubstr("namespace ops"));
}

}  // namespace
}  // namespace capi::cli
