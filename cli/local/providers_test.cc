#include "cli/local/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace capi::cli {
namespace {

using enum api::ProviderType;
using testing::ElementsAre;
using testing::HasSubstr;

PresentProvider Of(api::ProviderType type, const std::string& name, const std::string& recorded) {
  PresentProvider out;
  out.provider = {type, name, name + "-system", "v1.0.0"};
  out.has_object = true;
  out.recorded = recorded;
  return out;
}

// G2: the same command again leaves what it has installed as it is, whatever was released since, and needs no network.
TEST(TakeInstalled, IsWhatIsThereAtThatVersionOrAtWhichever) {
  PresentProvider going = Of(kIpam, "going", "v1.0.0");
  going.deleting = true;
  PresentProvider led = Of(kInfrastructure, "led", "v1.0.0");
  led.led_from = "v0.9.0";
  const std::vector<PresentProvider> present = {Of(kCore, "cluster-api", "v1.0.0"),
                                                Of(kInfrastructure, "aws", "v1.0.0"), led,
                                                Of(kInfrastructure, "half", ""), going};
  ProviderFlags flags = {{kInfrastructure,
                          {"AWS", "aws:v1.0.0", "aws:v1.1.0", "half", "half:v1.0.0", "docker", "not a name",
                           "led:v0.9.0", "led:v1.0.0", "led:v0.8.0"}},
                         {kBootstrap, {"aws"}},
                         {kIpam, {"going"}}};
  TakeInstalled(present, flags);
  EXPECT_THAT(flags[kInfrastructure],
              ElementsAre("aws:v1.1.0", "half", "half:v1.0.0", "docker", "not a name", "led:v0.8.0"));
  EXPECT_THAT(flags[kBootstrap], ElementsAre("aws"));
  EXPECT_THAT(flags[kIpam], ElementsAre("going"));
}

// A first `up` that was broken off goes on as init does: the types that it named have no default.
TEST(TakeInstalled, IsNothingBeforeThereIsACore) {
  ProviderFlags flags = {{kBootstrap, {"rke2"}}};
  TakeInstalled({Of(kCore, "cluster-api", ""), Of(kBootstrap, "rke2", "v1.0.0")}, flags);
  EXPECT_THAT(flags[kBootstrap], ElementsAre("rke2"));
}

TEST(PassOverPaused, TakesOutWhatIsPausedAndSaysSo) {
  PresentProvider paused = Of(kInfrastructure, "aws", "v1.0.0"), going = Of(kIpam, "going", "v1.0.0");
  paused.held = going.held = going.deleting = true;
  const api::ProviderId core{kCore, "cluster-api-system", "cluster-api"}, ipam{kIpam, "going-system", "going"};
  std::vector<api::ProviderId> ids = {core, {kInfrastructure, "aws-system", "aws"}, ipam};
  std::ostringstream out;
  Notes notes(out);
  PassOverPaused({Of(kCore, "cluster-api", "v1.0.0"), paused, going}, ids, notes);
  EXPECT_THAT(ids, ElementsAre(core, ipam));
  EXPECT_THAT(out.str(), HasSubstr("infrastructure-aws in namespace aws-system is paused"));
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("going")));
}

}  // namespace
}  // namespace capi::cli
