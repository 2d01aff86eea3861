#include "api/moves/version_moves.h"

#include <gtest/gtest.h>

namespace capi::api {
namespace {

Version V(std::string_view text) { return *Version::Parse(text); }

struct Move {
  ProviderId id;
  const char *from, *to;
  std::optional<std::uint64_t> furthest;
};

const ProviderId kCore = {ProviderType::kCore, "a", "cluster-api"};

TEST(VersionMoves, AtMostThreeMinorVersionsOfClusterApi) {  // C7
  const Move moves[] = {
      {kCore, "v1.10.0", "v1.13.5", std::nullopt},
      {kCore, "v1.10.0", "v1.14.0", 13},
      {kCore, "v1.9.0", "v1.12.0", std::nullopt},
      {kCore, "v1.9.0", "v1.14.0", 12},
      {kCore, "v1.2.0", "v1.9.0", std::nullopt},
      {kCore, "v1.2.0", "v1.10.0", 9},
      {kCore, "v0.4.2", "v1.9.9", std::nullopt},
      {kCore, "v0.4.2", "v1.10.0", 9},
      {kCore, "v1.14.0", "v1.10.0", std::nullopt},
      {kCore, "v1.10.0", "v2.0.0", std::nullopt},
      {kCore, "v1.10.0", "v2.14.0", std::nullopt},  // nobody has counted those yet
      {{ProviderType::kBootstrap, "a", "kubeadm"}, "v1.10.0", "v1.14.0", 13},
      {{ProviderType::kControlPlane, "a", "kubeadm"}, "v1.10.0", "v1.14.0", 13},
      {{ProviderType::kInfrastructure, "a", "kubeadm"}, "v1.10.0", "v1.14.0", std::nullopt},
      {{ProviderType::kInfrastructure, "a", "docker"}, "v1.10.0", "v1.14.0", std::nullopt},
      {{ProviderType::kBootstrap, "a", "rke2"}, "v1.10.0", "v1.14.0", std::nullopt},
  };
  for (const Move& move : moves) {
    EXPECT_EQ(TooFar(move.id, V(move.from), V(move.to)), move.furthest)
        << move.id.ToString() << " " << move.from << " to " << move.to;
  }
}

TEST(VersionMoves, AnOlderMinorVersionIsADowngrade) {  // U6
  EXPECT_TRUE(IsDowngrade(V("v1.2.0"), V("v1.1.9")));
  EXPECT_TRUE(IsDowngrade(V("v2.1.0"), V("v1.1.0")));
  EXPECT_FALSE(IsDowngrade(V("v1.2.3"), V("v1.2.0")));
  EXPECT_FALSE(IsDowngrade(V("v1.2.0"), V("v1.2.0")));
  EXPECT_FALSE(IsDowngrade(V("v1.2.0"), V("v1.3.0")));
}

}  // namespace
}  // namespace capi::api
