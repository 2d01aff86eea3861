#include "templating/known_managers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/testing/release_folder.h"
#include "templating/args.h"
#include "templating/deployment.h"
#include "templating/kind.h"
#include "templating/render.h"

namespace capi::templating {
namespace {

using api::ProviderType;

api::Version V(std::string_view text) { return api::Version::Parse(text).value(); }

TEST(KnownManagers, TheNewestRowThatIsNotNewerCounts) {
  struct Case {
    ProviderType type;
    std::string_view name, version;
    std::uint64_t minor;  // of the row; 0 for none
  };
  const Case cases[] = {
      {ProviderType::kCore, "cluster-api", "v1.12.3", 12},     {ProviderType::kCore, "cluster-api", "v1.20.0", 12},
      {ProviderType::kCore, "cluster-api", "v2.0.0", 12},      {ProviderType::kCore, "cluster-api", "v1.12.0-rc.0", 12},
      {ProviderType::kCore, "cluster-api", "v1.11.0", 10},     {ProviderType::kCore, "cluster-api", "v1.0.5", 4},
      {ProviderType::kCore, "cluster-api", "v0.3.23", 0},      {ProviderType::kBootstrap, "kubeadm", "v1.5.0", 4},
      {ProviderType::kBootstrap, "rke2", "v1.5.0", 0},         {ProviderType::kInfrastructure, "docker", "v1.9.0", 8},
      {ProviderType::kInfrastructure, "kubeadm", "v1.9.0", 0},
  };
  for (const auto& c : cases) {
    auto known = FindKnownManager(c.type, c.name, V(c.version));
    EXPECT_EQ(known ? known->minor : 0, c.minor) << c.name << " " << c.version;
  }
}

TEST(KnownManagers, GatesAreKnownOfTheirOwnMinorVersionAlone) {
  auto known = [](std::string_view version) {
    return FindKnownManager(ProviderType::kCore, "cluster-api", V(version)).value();
  };
  EXPECT_TRUE(known("v1.12.1").LacksGate("Nope"));
  EXPECT_FALSE(known("v1.12.1").LacksGate("RuntimeSDK"));
  EXPECT_FALSE(known("v1.13.0").LacksGate("Nope"));
  EXPECT_FALSE(known("v1.8.0").LacksGate("Nope"));
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

// What the releases set is in their rows, where it is something that spec.manager can become.
TEST(KnownManagers, RowsHaveTheFlagsThatTheReleasesUse) {
  CAPI_NEED_RELEASES();
  const std::set<std::string> others = {"bootstrap-token-ttl", "use-deprecated-infra-machine-naming"};
  size_t seen = 0;
  for (const api::ReleaseFolder& release : api::AllReleases()) {
    SCOPED_TRACE(release.Id());
    auto known = FindKnownManager(release.type, release.name, V(release.version));
    if (!known) continue;
    ++seen;
    for (const std::string& flag : ArgsOf(release.type, release.name, release.Components()).Flags()) {
      EXPECT_TRUE(known->HasFlag(flag) || others.contains(std::string(FlagName(flag)))) << flag;
    }
  }
  EXPECT_GT(seen, 0u) << "no release of Cluster API's own in " << ReleasesDir();
}

}  // namespace
}  // namespace capi::templating
