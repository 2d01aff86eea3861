#include "e2e/model/run.h"

#include <fmt/core.h>

#include "base/testing/environment.h"
#include "e2e/support/passes.h"

namespace capi::e2e::model {
namespace {

constexpr Seconds kSettles{60};
constexpr Millis kPoke{400};

}  // namespace

std::string Runner::Take(const Action& action) {
  if (action.verb == left_out_ || !fleet_.Can(action)) return "";
  taken_.push_back(action);
  ++actions_;
  const MonoTime begin = SystemClock().Monotonic();
  fleet_.Do(action);
  world_.Do(action, fleet_);
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
    fmt::print(stderr, "{:6} ms  {}\n", took, action.ToString());
  }
  if (!broken.empty()) return broken;
  if (!settled) return differs;
  return FoundByResync(world_.process()) == 0 ? "" : "F6: a change was found by a resync, its event was lost";
}

std::string Runner::Take(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (std::string wrong = Take(action); !wrong.empty()) return wrong;
  }
  return "";
}

std::string Runner::Sequences(std::uint64_t first, std::uint64_t last) {
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

std::string Runner::Finish() {
  if (std::string wrong = Take(End(fleet_)); !wrong.empty()) return wrong;
  world_.Clear(fleet_);
  fleet_ = Fleet{};
  taken_.clear();
  return "";
}

}  // namespace capi::e2e::model
