#include "lifecycle/deletion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::lifecycle {
namespace {

using ::testing::HasSubstr;

// U4.
TEST(KeepsOthers, DeletesOnlyWhatCarriesOurLabel) {
  auto keep = KeepsOthers({api::ProviderType::kInfrastructure, "ns", "aws"});
  kube::Object object;
  EXPECT_THAT(keep(object), HasSubstr("lost the provider's label"));
  object.set_label(api::kLabelProvider, "infrastructure-azure");
  EXPECT_THAT(keep(object), HasSubstr("belongs to infrastructure-azure"));
  object.set_label(api::kLabelProvider, "infrastructure-aws");
  EXPECT_EQ(keep(object), "");
  object.json()["metadata"]["ownerReferences"] = Json::array({{{"kind", "Team"}, {"name", "x"}}});
  EXPECT_THAT(keep(object), HasSubstr("owned by Team x"));
}

}  // namespace
}  // namespace capi::lifecycle
