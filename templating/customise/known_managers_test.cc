#include "templating/customise/known_managers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/testing/release_folder.h"
#include "kube/meta/kind.h"
#include "templating/customise/args.h"
#include "templating/customise/deployment.h"
#include "templating/render.h"

namespace capi::templating {
namespace {

using api::ProviderType;

api::Version V(std::string_view text) { return api::Version::Parse(text).value(); }

// I9a: what is refused is what the sources of just this version lack.
TEST(KnownManagers, TheVersionsThatWereReadAreVerified) {
  struct Case {
    ProviderType type;
    std::string_view name, version, source;  // "" for none
    bool verified;
  };
  const Case cases[] = {
      {ProviderType::kCore, "cluster-api", "v1.12.0", "v1.12", true},
      {ProviderType::kCore, "cluster-api", "v1.12.3", "v1.12", true},
      {ProviderType::kCore, "cluster-api", "v1.12.99", "v1.12", false},
      {ProviderType::kCore, "cluster-api", "v1.12.0-rc.0", "v1.12", false},
      {ProviderType::kCore, "cluster-api", "v1.12.0+vendor", "v1.12", false},
      {ProviderType::kCore, "cluster-api", "v1.5.3", "v1.5", true},
      {ProviderType::kCore, "cluster-api", "v1.6.2", "v1.6", true},
      {ProviderType::kCore, "cluster-api", "v0.4.4", "v0.4", true},
      {ProviderType::kCore, "cluster-api", "v0.4.1", "v0.4", false},
      {ProviderType::kCore, "cluster-api", "v0.3.23", "", false},
      {ProviderType::kBootstrap, "kubeadm", "v1.7.1", "v1.7", true},
      {ProviderType::kBootstrap, "rke2", "v1.5.0", "", false},
      {ProviderType::kInfrastructure, "docker", "v1.8.4", "v1.8", true},
      {ProviderType::kInfrastructure, "docker", "v1.9.0", "v1.9", false},
      {ProviderType::kInfrastructure, "kubeadm", "v1.9.0", "", false},
  };
  for (const auto& c : cases) {
    auto known = FindKnownManager(c.type, c.name, V(c.version));
    EXPECT_EQ(known ? known->Source() : "", c.source) << c.name << " " << c.version;
    EXPECT_EQ(known && known->verified(), c.verified) << c.name << " " << c.version;
  }
  // The newest tells about all that come after it.
  auto newest = FindKnownManager(ProviderType::kCore, "cluster-api", V("v2.0.0"));
  ASSERT_TRUE(newest.has_value());
  EXPECT_FALSE(newest->verified());
  EXPECT_TRUE(newest->HasFlag("--diagnostics-address"));
}

// I9a: a flag comes and goes with a series, not only at those that tests have releases of.
TEST(KnownManagers, FlagsComeAndGo) {
  auto has = [](std::string_view version, std::string_view flag) {
    return FindKnownManager(ProviderType::kCore, "cluster-api", V(version))->HasFlag(flag);
  };
  struct Case {
    std::string_view flag, without, from, to, gone;
  };
  const Case cases[] = {
      {"metrics-bind-addr", "", "v0.4.2", "v1.8.0", "v1.9.0"},
      {"--diagnostics-address", "v1.5.8", "v1.6.0", "v1.12.0", ""},
      {"--extensionconfig-concurrency", "v1.1.0", "v1.2.0", "v1.12.0", ""},
  };
  for (const auto& c : cases) {
    if (!c.without.empty()) EXPECT_FALSE(has(c.without, c.flag)) << c.flag;
    EXPECT_TRUE(has(c.from, c.flag)) << c.flag;
    EXPECT_TRUE(has(c.to, c.flag)) << c.flag;
    if (!c.gone.empty()) EXPECT_FALSE(has(c.gone, c.flag)) << c.flag;
  }
}

TEST(KnownManagers, GatesAndConcurrencyAreThoseOfTheSeries) {
  auto known = [](ProviderType type, std::string_view name, std::string_view version) {
    return FindKnownManager(type, name, V(version)).value();
  };
  const auto core = ProviderType::kCore;
  EXPECT_TRUE(known(core, "cluster-api", "v1.12.1").HasGate("InPlaceUpdates"));
  EXPECT_FALSE(known(core, "cluster-api", "v1.8.0").HasGate("InPlaceUpdates"));
  EXPECT_TRUE(known(core, "cluster-api", "v1.8.0").HasGate("AllBeta"));
  EXPECT_FALSE(known(core, "cluster-api", "v1.12.1").HasGate("Nope"));
  // Neither what is deprecated nor what is no controller.
  EXPECT_THAT(known(ProviderType::kBootstrap, "kubeadm", "v1.12.1").ConcurrencyFlags(),
              testing::ElementsAre("--kubeadmconfig-concurrency"));
  EXPECT_THAT(known(ProviderType::kInfrastructure, "docker", "v1.12.1").ConcurrencyFlags(), testing::IsEmpty());
  EXPECT_THAT(known(core, "cluster-api", "v1.12.1").ConcurrencyFlags(), testing::SizeIs(10));
}

// Args of the manager in a release.
Args ArgsOf(ProviderType type, std::string_view name, const std::string& components) {
  api::Release release;
  release.components = components;
  RenderInput input;
  input.type = type;
  input.name = name;
  input.release = &release;
  input.variables = [](const std::string&) { return std::nullopt; };
  RenderResult result = Render(input);
  EXPECT_TRUE(result.output.has_value());
  for (kube::Object& object : result.output->objects) {
    if (IsDeployment(object)) return Args(*ManagerContainer(object));
  }
  ADD_FAILURE() << "no Deployment";
  return Args(Json::object());
}

// I9a: what the releases set is in the table, where it is something that spec.manager can become.
TEST(KnownManagers, RowsHaveTheFlagsThatTheReleasesUse) {
  CAPI_NEED_RELEASES();
  const std::set<std::string> others = {"bootstrap-token-ttl", "use-deprecated-infra-machine-naming"};
  std::set<std::string> seen;
  for (const api::ReleaseFolder& release : api::AllReleases()) {
    SCOPED_TRACE(release.Id());
    auto known = FindKnownManager(release.type, release.name, V(release.version));
    if (!known) continue;
    seen.insert(release.Label());
    for (const std::string& flag : ArgsOf(release.type, release.name, release.Components()).Flags()) {
      EXPECT_TRUE(known->HasFlag(flag) || others.contains(std::string(FlagName(flag)))) << flag;
    }
  }
  if (GetReleaseSet() == ReleaseSet::kVendors) {  // it may hold any
    if (seen.empty()) GTEST_SKIP() << "no release of Cluster API's own in " << ReleasesDir();
    return;
  }
  EXPECT_THAT(seen, ::testing::ElementsAre("bootstrap-kubeadm", "cluster-api", "control-plane-kubeadm",
                                           "infrastructure-docker"));
}

}  // namespace
}  // namespace capi::templating
