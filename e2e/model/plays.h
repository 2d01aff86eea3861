// Random sequences of plays, and the way back from wherever they end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "e2e/model/fleet.h"

namespace capi::e2e::model {

// Three providers of random versions that fit each other: the plays that install them.
std::vector<Play> Beginning(std::uint64_t seed);
// 4 to 8 plays, each of which makes sense where those before it have led from `start`.
std::vector<Play> Sequence(std::uint64_t seed, const Fleet& start);
// Takes back everything that keeps a provider from being Ready.
std::vector<Play> WayBack(const Fleet& from);
// Everything of people and providers goes; CRDs too.
std::vector<Play> End(const Fleet& from);

std::string ToString(const std::vector<Play>& plays);

// The shortest list found that still fails: parts are dropped while `fails` says so, at most `tries` times.
std::vector<Play> Shrink(std::vector<Play> plays, int tries,
                         const std::function<bool(const std::vector<Play>&)>& fails);

}  // namespace capi::e2e::model
