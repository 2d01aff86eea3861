// Random sequences of what people do, against the model: whatever they do, nothing of theirs is lost, the golden rule
// holds, conditions are true, and when they take it back everything is as declared (behaviour.md C, D, P, U, X).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "e2e/model_run.h"

namespace capi::e2e::model {
namespace {

constexpr Seconds kInCi{80};
constexpr std::uint64_t kAtLeast = 30;

std::uint64_t Number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Again from the beginning, with fewer and fewer steps, each time on a control plane of its own.
std::string Shortest(const std::vector<Step>& steps) {
  auto fails = [](const std::vector<Step>& fewer) {
    auto plane = kube::ControlPlane::Start({.controllers = true});
    if (!plane.ok()) return false;
    std::string wrong = Player(**plane).Take(fewer);
    fmt::print(stderr, "{} steps: {}\n", fewer.size(), wrong.empty() ? "all is well" : wrong);
    return !wrong.empty();
  };
  return ToString(Shrink(steps, 60, fails));
}

// CAPI_MODEL_SEED=N runs the sequence N, after those that it goes on from; CAPI_MODEL_SEQUENCES says how many
// otherwise. Without either, CI takes as many of the first 300 as go into its time.
TEST(Model, RandomSequences) {
  const bool one = std::getenv("CAPI_MODEL_SEED") != nullptr;
  const bool all = one || std::getenv("CAPI_TEST_LONG") != nullptr || std::getenv("CAPI_MODEL_SEQUENCES") != nullptr;
  const std::uint64_t some = std::getenv("CAPI_TEST_LONG") != nullptr ? 10'000 : 300;
  const std::uint64_t first = one ? Number("CAPI_MODEL_SEED", 0) / kSequencesPerBeginning * kSequencesPerBeginning : 0;
  const std::uint64_t last = one ? Number("CAPI_MODEL_SEED", 0) : Number("CAPI_MODEL_SEQUENCES", some) - 1;
  auto& plane = kube::ControlPlane::Shared();
  Player player(plane);
  const MonoTime end = SystemClock().Monotonic() + kInCi;
  std::uint64_t seed = first;
  for (; seed <= last; seed = player.seed()) {
    if (!all && seed >= kAtLeast && SystemClock().Monotonic() >= end) break;
    std::string wrong = player.Sequences(seed, last);
    if (wrong.empty()) continue;
    std::string shortest;
    if (std::getenv("CAPI_MODEL_SHRINK") != nullptr) shortest = "shrunk to:\n" + Shortest(player.taken());
    FAIL() << "sequence " << player.seed() << ": " << wrong << "\nafter these steps:\n"
           << ToString(player.taken()) << shortest << player.world().DescribeProviders()
           << fmt::format("replay with CAPI_MODEL_SEED={}; CAPI_MODEL_SHRINK=1 looks for fewer steps", player.seed());
  }
  fmt::print("{} sequences, {} steps\n", seed - first, player.steps());
}

}  // namespace
}  // namespace capi::e2e::model
