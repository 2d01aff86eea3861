#include "api/moves/wanted_contracts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::api {
namespace {

// I3: those that the core accepts; all that are known where there is none, or its contract isn't known yet.
TEST(ContractsFor, AreThoseOfTheCoreNewestFirst_I3) {
  const std::vector<std::string> all = {"v1beta2", "v1beta1", "v1alpha4", "v1alpha3"};
  struct Case {
    ProviderType type;
    std::optional<std::string> core;
    std::vector<std::string> wanted;
  };
  const Case cases[] = {
      {ProviderType::kInfrastructure, "v1beta2", {"v1beta2", "v1beta1"}},
      {ProviderType::kBootstrap, "v1beta1", {"v1beta1"}},
      {ProviderType::kInfrastructure, "v99", {}},
      {ProviderType::kInfrastructure, std::nullopt, all},
      {ProviderType::kInfrastructure, "", all},
      {ProviderType::kCore, "v1beta1", all},
      {ProviderType::kCore, std::nullopt, all},
  };
  for (const Case& c : cases) EXPECT_EQ(ContractsFor(c.type, c.core), c.wanted) << c.core.value_or("none");
}

}  // namespace
}  // namespace capi::api
