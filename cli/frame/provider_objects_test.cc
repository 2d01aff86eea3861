#include "cli/frame/provider_objects.h"

#include <gtest/gtest.h>

namespace capi::cli {
namespace {

// L9.
TEST(IsMeant, ByNameLabelOrAsKubectlTakesObjects) {
  const api::ProviderId aws{api::ProviderType::kInfrastructure, "capa-system", "aws"};
  for (const char* text : {"aws", "infrastructure-aws", "infrastructureprovider/aws", "InfrastructureProvider/aws",
                           "infrastructureproviders/aws", "caip/aws"}) {
    EXPECT_TRUE(IsMeant(text, aws)) << text;
  }
  for (const char* text : {"", "/", "AWS", "aw", "bootstrap-aws", "bootstrapprovider/aws", "caip/", "/aws", "caip/aws/",
                           "infrastructure", "infrastructureprovider/infrastructure-aws"}) {
    EXPECT_FALSE(IsMeant(text, aws)) << text;
  }
  EXPECT_TRUE(IsMeant("cluster-api", {api::ProviderType::kCore, "capi-system", "cluster-api"}));
  EXPECT_EQ(Describe(aws), "InfrastructureProvider capa-system/aws");
}

}  // namespace
}  // namespace capi::cli
