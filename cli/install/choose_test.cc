#include "cli/install/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::cli {
namespace {

using enum api::ProviderType;

std::vector<std::string> Chosen(const ProviderFlags& flags, bool first, const BegunVersions& begun = {}) {
  auto chosen = ChooseProviders(flags, first, begun);
  if (!chosen.ok()) return {"error: " + chosen.error().message};
  std::vector<std::string> out;
  for (const ProviderChoice& one : *chosen)
    out.push_back(api::ManifestLabel(one.type, one.name.name) + "@" + one.name.version);
  return out;
}

// L10.
TEST(ChooseProviders, AddsTheDefaultsAtTheFirstTimeOnly) {
  using testing::ElementsAre;
  EXPECT_THAT(Chosen({}, true), ElementsAre("cluster-api@", "bootstrap-kubeadm@", "control-plane-kubeadm@"));
  EXPECT_THAT(Chosen({}, false), ElementsAre());
  EXPECT_THAT(Chosen({{kInfrastructure, {"aws:v2.11.1", "Docker"}}, {kAddon, {"helm"}}}, false),
              ElementsAre("infrastructure-aws@v2.11.1", "infrastructure-docker@", "addon-helm@"));
  EXPECT_THAT(Chosen({{kBootstrap, {"rke2"}}, {kControlPlane, {"-"}}, {kInfrastructure, {"-"}}}, true),
              ElementsAre("cluster-api@", "bootstrap-rke2@"));
  EXPECT_THAT(Chosen({{kCore, {"cluster-api:v1.12.0"}}, {kBootstrap, {"-"}}, {kControlPlane, {""}}}, true),
              ElementsAre("cluster-api@v1.12.0", "control-plane-kubeadm@"));
  EXPECT_THAT(Chosen({{kCore, {"-"}}}, true),
              ElementsAre("error: the '-' value can not be used for the core provider"));
  EXPECT_THAT(Chosen({{kInfrastructure, {"a:b:c"}}}, false),
              ElementsAre(testing::StartsWith("error: invalid provider name")));
}

TEST(ChooseProviders, GoesOnWithTheVersionThatWasBegun) {
  const BegunVersions begun = {{{kCore, "cluster-api"}, "v1.11.0"}, {{kInfrastructure, "docker"}, "v1.12.0"}};
  EXPECT_THAT(Chosen({{kInfrastructure, {"docker", "aws"}}, {kBootstrap, {"-"}}, {kControlPlane, {"-"}}}, true, begun),
              testing::ElementsAre("cluster-api@v1.11.0", "infrastructure-docker@v1.12.0", "infrastructure-aws@"));
  EXPECT_THAT(Chosen({{kInfrastructure, {"docker:v1.9.0"}}}, false, begun),
              testing::ElementsAre("infrastructure-docker@v1.9.0"));
}

}  // namespace
}  // namespace capi::cli
