#include "cli/describe/condition_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/describe/contract_version.h"

namespace capi::cli::describe {
namespace {

using testing::HasSubstr;
using enum ShowConditions;

// L15.
TEST(ConditionFilter, TheFirstPartThatIsAboutAnObjectCounts) {
  struct Case {
    const char* filter;
    ShowConditions machine_a, machine_b, cluster_a;
  };
  const Case cases[] = {
      {"", kNone, kNone, kNone},
      {",", kNone, kNone, kNone},
      {"all", kAll, kAll, kAll},
      {"ALL+", kNotable, kNotable, kNotable},
      {"Machine", kAll, kAll, kNone},
      {"machine+", kNotable, kNotable, kNone},
      {"Machine/A", kAll, kNone, kNone},
      {"machine/a+,Machine", kNotable, kAll, kNone},
      {"machine,machine/a+", kAll, kAll, kNone},
      {"machine/b,,cluster/a+,all", kAll, kAll, kNotable},
      {"all/a", kNone, kNone, kNone},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.filter);
    auto filter = ConditionFilter::Parse(c.filter);
    ASSERT_TRUE(filter.ok()) << filter.error().message;
    EXPECT_EQ(filter->For("Machine", "a"), c.machine_a);
    EXPECT_EQ(filter->For("Machine", "b"), c.machine_b);
    EXPECT_EQ(filter->For("Cluster", "a"), c.cluster_a);
  }
}

TEST(ConditionFilter, WhatIsNoneIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"Machine, Cluster", "invalid --show-conditions value \"Machine, Cluster\": whitespace is not allowed"},
      {"Machine/", "\"Machine/\" is not all, KIND or KIND/NAME"},
      {"/a", "\"/a\" is not all, KIND or KIND/NAME"},
      {"+", "\"+\" is not all, KIND or KIND/NAME"},
      {"Machine/a/b", "\"Machine/a/b\" is not all, KIND or KIND/NAME"},
  };
  for (const auto& [filter, error] : cases) {
    auto got = ConditionFilter::Parse(filter);
    ASSERT_FALSE(got.ok()) << filter;
    EXPECT_EQ(got.code(), Code::kInvalidArgument);
    EXPECT_THAT(got.error().message, HasSubstr(error));
  }
}

// L15: by the labels that the contract asks of a CRD.
TEST(ContractVersion, IsTheLatestOfTheNewestContract) {
  auto of = [](std::string_view beta2, std::string_view beta1) {
    kube::Object crd;
    if (!beta2.empty()) crd.set_label("cluster.x-k8s.io/v1beta2", beta2);
    if (!beta1.empty()) crd.set_label("cluster.x-k8s.io/v1beta1", beta1);
    return ContractVersionOf(crd);
  };
  using Version = ContractVersion;
  EXPECT_EQ(of("v1beta2", "v1beta1"), (Version{"v1beta2", "v1beta2"}));
  EXPECT_EQ(of("", "v1alpha3_v1beta1"), (Version{"v1beta1", "v1beta1"}));
  EXPECT_EQ(of("v1_v2_v10_v3beta1", ""), (Version{"v1beta2", "v10"}));
  EXPECT_EQ(of("v1beta10_v1beta9_v1alpha20", ""), (Version{"v1beta2", "v1beta10"}));
  EXPECT_EQ(of("v1alpha1_zzz_vx_v1gamma", ""), (Version{"v1beta2", "v1alpha1"}));
  EXPECT_EQ(of("", ""), std::nullopt);
}

}  // namespace
}  // namespace capi::cli::describe
