// Random sequences of steps, and the way back from wherever they end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "e2e/model/fleet.h"

namespace capi::e2e::model {

// Three providers of random versions that fit each other: the steps that install them.
std::vector<Step> Beginning(std::uint64_t seed);
// 4 to 8 steps, each of which makes sense where those before it have led from `start`.
std::vector<Step> Sequence(std::uint64_t seed, const Fleet& start);
// Takes back everything that keeps a provider from being Ready.
std::vector<Step> WayBack(const Fleet& from);
// Everything of people and providers goes; CRDs too.
std::vector<Step> End(const Fleet& from);

std::string ToString(const std::vector<Step>& steps);

// The shortest list found that still fails: parts are dropped while `fails` says so, at most `tries` times.
std::vector<Step> Shrink(std::vector<Step> steps, int tries,
                         const std::function<bool(const std::vector<Step>&)>& fails);

}  // namespace capi::e2e::model
