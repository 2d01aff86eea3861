#include "api/kinds.h"

#include <gtest/gtest.h>

#include <set>

namespace capi::api {
namespace {

TEST(Kinds, TableIsInTheOrderOfTheTypes) {
  for (size_t i = 0; i < kProviderKinds.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kProviderKinds[i].type), i);
    EXPECT_EQ(KindByName(kProviderKinds[i].kind), &kProviderKinds[i]);
    EXPECT_EQ(&KindOf(kProviderKinds[i].type), &kProviderKinds[i]);
  }
  EXPECT_EQ(KindByName("Deployment"), nullptr);
}

TEST(Kinds, LabelsAreClusterctls) {
  const std::pair<ProviderType, std::string_view> cases[] = {
      {ProviderType::kCore, "x"},
      {ProviderType::kBootstrap, "bootstrap-x"},
      {ProviderType::kControlPlane, "control-plane-x"},
      {ProviderType::kInfrastructure, "infrastructure-x"},
      {ProviderType::kIpam, "ipam-x"},
      {ProviderType::kRuntimeExtension, "runtime-extension-x"},
      {ProviderType::kAddon, "addon-x"},
  };
  for (const auto& [type, label] : cases) EXPECT_EQ(ManifestLabel(type, "x"), label);
}

TEST(Kinds, ResourceIsServedUnderOurGroup) {
  kube::Resource r = ResourceOf(ProviderType::kIpam);
  EXPECT_EQ(r.api_version(), "operator.cluster.x-k8s.io/v1alpha2");
  EXPECT_EQ(r.plural, "ipamproviders");
  EXPECT_EQ(r.kind, "IPAMProvider");
  EXPECT_TRUE(r.namespaced);
}

TEST(ProviderId, KeyRoundTrips) {
  for (const ProviderKind& kind : kProviderKinds) {
    ProviderId id{kind.type, "capi-system", "aws"};
    EXPECT_EQ(ProviderId::FromKey(id.Key()), id);
  }
  EXPECT_EQ((ProviderId{ProviderType::kInfrastructure, "capa-system", "aws"}.Key()),
            "InfrastructureProvider/capa-system/aws");
  EXPECT_EQ((ProviderId{ProviderType::kInfrastructure, "capa-system", "aws"}.ToString()), "InfrastructureProvider/aws");
}

TEST(ProviderId, WhatIsNoKeyGivesAnEmptyId) {
  for (const char* key : {"", "a", "CoreProvider/x", "Deployment/a/b", "CoreProvider/a/b/c"}) {
    EXPECT_EQ(ProviderId::FromKey(key), ProviderId{}) << key;
  }
}

TEST(ProviderId, OrdersByTypeThenName) {
  std::set<ProviderId> ids = {{ProviderType::kAddon, "a", "a"},
                              {ProviderType::kCore, "z", "z"},
                              {ProviderType::kInfrastructure, "a", "b"},
                              {ProviderType::kInfrastructure, "b", "a"}};
  std::string order;
  for (const ProviderId& id : ids) order += id.ToString() + " ";
  EXPECT_EQ(order, "CoreProvider/z InfrastructureProvider/a InfrastructureProvider/b AddonProvider/a ");
}

}  // namespace
}  // namespace capi::api
