#include "e2e/model/run.h"

#include <fmt/core.h>

#include "base/testing/environment.h"
#include "e2e/support/passes.h"

namespace capi::e2e::model {
namespace {

constexpr Seconds kSettles{60};
constexpr Millis kPoke{400};

}  // namespace

std::string Player::Take(const Play& play) {
  if (play.verb == left_out_ || !fleet_.Can(play)) return "";
  taken_.push_back(play);
  ++plays_;
  const MonoTime begin = SystemClock().Monotonic();
  fleet_.Do(play);
  world_.Do(play, fleet_);
  fleet_.Settle();
  std::string broken, differs;
  MonoTime poke = begin + kPoke;
  bool settled = world_.view().Await(
      [&] {
        if (SystemClock().Monotonic() >= poke) {
          world_.PokeCrds();
          poke += kPoke;
        }
        broken = world_.view().GoldenRule();
        if (broken.empty()) differs = world_.Differs(fleet_);
        return !broken.empty() || differs.empty();
      },
      kSettles);
  if (broken.empty()) broken = world_.Lost(fleet_);
  if (IsSet("CAPI_MODEL_TRACE")) {
    auto took = std::chrono::duration_cast<Millis>(SystemClock().Monotonic() - begin).count();
    fmt::print(stderr, "{:6} ms  {}\n", took, play.ToString());
  }
  if (!broken.empty()) return broken;
  if (!settled) return differs;
  return FoundByResync(world_.process()) == 0 ? "" : "F6: a change was found by a resync, its event was lost";
}

std::string Player::Take(const std::vector<Play>& plays) {
  for (const Play& play : plays) {
    if (std::string wrong = Take(play); !wrong.empty()) return wrong;
  }
  return "";
}

std::string Player::Sequences(std::uint64_t first, std::uint64_t last) {
  seed_ = first;
  if (std::string wrong = Take(Beginning(first)); !wrong.empty()) return wrong;
  bool on = true;
  do {
    if (std::string wrong = Take(Sequence(seed_, fleet_)); !wrong.empty()) return wrong;
    if (std::string wrong = Take(WayBack(fleet_)); !wrong.empty()) return wrong;
    if (!fleet_.AllReady()) return "the model found no way back";
    on = then_();
    ++seed_;
  } while (on && seed_ <= last && seed_ % kSequencesPerBeginning != 0);
  return Finish();
}

std::string Player::Finish() {
  if (std::string wrong = Take(End(fleet_)); !wrong.empty()) return wrong;
  world_.Clear(fleet_);
  fleet_ = Fleet{};
  taken_.clear();
  return "";
}

}  // namespace capi::e2e::model
