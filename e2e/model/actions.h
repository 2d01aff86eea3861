// Random sequences of actions, and the way back from wherever they end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "e2e/model/fleet.h"

namespace capi::e2e::model {

// Three providers of random versions that fit each other: the actions that install them.
std::vector<Action> Beginning(std::uint64_t seed);
// 4 to 8 actions, each of which makes sense where those before it have led from `start`.
std::vector<Action> Sequence(std::uint64_t seed, const Fleet& start);
// Takes back everything that keeps a provider from being Ready.
std::vector<Action> WayBack(const Fleet& from);
// Everything of people and providers goes; CRDs too.
std::vector<Action> End(const Fleet& from);

std::string ToString(const std::vector<Action>& actions);

// The shortest list found that still fails: parts are dropped while `fails` says so, at most `tries` times.
std::vector<Action> Shrink(std::vector<Action> actions, int tries,
                           const std::function<bool(const std::vector<Action>&)>& fails);

}  // namespace capi::e2e::model
