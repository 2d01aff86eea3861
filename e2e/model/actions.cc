#include "e2e/model/actions.h"

#include <algorithm>
#include <random>

namespace capi::e2e::model {
namespace {

// The same on every machine, unlike the standard library's distributions. Thread-compatible.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  int Below(int n) { return static_cast<int>((engine_() >> 17) % static_cast<std::uint64_t>(n)); }
  bool One(int in) { return Below(in) == 0; }

 private:
  std::mt19937_64 engine_;
};

struct Weighted {
  Verb verb;
  int weight;
};

constexpr Weighted kWeights[] = {
    {Verb::kVersion, 88},  {Verb::kPause, 56},  {Verb::kHandsOff, 16},  {Verb::kImage, 20},     {Verb::kVerbosity, 16},
    {Verb::kPatch, 20},    {Verb::kSecret, 28}, {Verb::kRelease, 32},   {Verb::kDowngrade, 16}, {Verb::kDelete, 20},
    {Verb::kForce, 16},    {Verb::kCreate, 40}, {Verb::kUse, 16},       {Verb::kObject, 20},    {Verb::kEdit, 32},
    {Verb::kHide, 16},     {Verb::kRemove, 32}, {Verb::kMark, 20},      {Verb::kScale, 16},     {Verb::kBundle, 8},
    {Verb::kStranger, 8},  {Verb::kWipe, 16},   {Verb::kFinalizer, 12}, {Verb::kRestart, 8},    {Verb::kPlant, 24},
    {Verb::kNamespace, 1},  // which takes the garbage collector ten seconds and more
};

Verb AnyVerb(Dice& dice) {
  int sum = 0;
  for (const Weighted& w : kWeights) sum += w.weight;
  int at = dice.Below(sum);
  for (const Weighted& w : kWeights) {
    if ((at -= w.weight) < 0) return w.verb;
  }
  return Verb::kRestart;
}

// Often the version that everybody goes to, so that contracts change together.
int AnyVersion(Dice& dice) { return dice.One(9) ? kNowhere : dice.Below(kReleases); }

Action AnyAction(Dice& dice, const Fleet& fleet) {
  Action action{AnyVerb(dice), dice.Below(kMembers)};
  const Member& m = fleet[action.who];
  switch (action.verb) {
    case Verb::kVersion:
    case Verb::kCreate: action.a = AnyVersion(dice); break;
    case Verb::kPause: action.a = m.spec.paused ? 0 : 1; break;
    case Verb::kHandsOff: action.a = m.hands_off ? 0 : 1; break;
    case Verb::kDowngrade: action.a = m.allow_downgrade ? 0 : 1; break;
    case Verb::kUse: action.a = m.used ? 0 : 1; break;
    case Verb::kObject: action.a = m.object ? 0 : 1; break;
    case Verb::kImage:
    case Verb::kVerbosity: action.a = dice.Below(4); break;
    case Verb::kPatch: action.a = dice.Below(5) - 1; break;
    case Verb::kSecret: action.a = dice.One(3) ? 0 : 1 + dice.Below(5); break;
    case Verb::kRelease:
      // Mostly of what is, or is to be, installed.
      action.a = m.exists && m.spec.version != kNowhere && !dice.One(4) ? m.spec.version : dice.Below(kReleases);
      action.b = dice.Below(7) - 1;
      break;
    case Verb::kDelete: action.a = dice.One(2) ? 1 : 0; break;
    case Verb::kEdit:
    case Verb::kHide:
    case Verb::kRemove:
    case Verb::kMark: action.a = dice.Below(kParts); break;
    case Verb::kScale: action.a = 2 + dice.Below(2); break;
    case Verb::kPlant: action.a = dice.Below(kPlaces); break;
    default: break;
  }
  if (action.verb == Verb::kRestart) action.who = kCore;
  return action;
}

// Writes down actions and follows them.
class Walk {
 public:
  explicit Walk(Fleet fleet) : fleet_(std::move(fleet)) {}
  void Take(Verb verb, int who, int a = 0, int b = 0) {
    Action action{verb, who, a, b};
    if (!fleet_.Can(action)) return;
    fleet_.Do(action);
    fleet_.Settle();
    actions_.push_back(action);
  }
  const Fleet& fleet() const { return fleet_; }
  std::vector<Action> actions() && { return std::move(actions_); }

 private:
  Fleet fleet_;
  std::vector<Action> actions_;
};

void TakeBackInputs(Walk& walk, int who) {
  walk.Take(Verb::kHandsOff, who, 0);
  if (walk.fleet()[who].secret == 0) walk.Take(Verb::kSecret, who, 1);
  if (walk.fleet()[who].spec.patch == kBadPatch) walk.Take(Verb::kPatch, who, 0);
  for (int version = 0; version < kReleases; ++version) {
    if (walk.fleet()[who].releases[version] <= 0) walk.Take(Verb::kRelease, who, version, 1);
  }
  walk.Take(Verb::kUse, who, 0);
}

void BringBack(Walk& walk, int who) {
  if (walk.fleet()[who].deleting) walk.Take(Verb::kForce, who);
  if (!walk.fleet()[who].exists) {
    walk.Take(Verb::kCreate, who, kMixed);
  }
}

// What isn't installed is no longer asked for.
void GiveUpWishes(Walk& walk, int who) {
  const Member& m = walk.fleet()[who];
  if (m.applied) walk.Take(Verb::kVersion, who, m.applied->version);
  walk.Take(Verb::kPause, who, 0);
}

// Every contract becomes the newest, everybody at zero: this way is always open.
void MoveTogether(Walk& walk) {
  for (int who = 0; who < kMembers; ++who) walk.Take(Verb::kPause, who, 1);
  for (int who = 0; who < kMembers; ++who) {
    const Member& m = walk.fleet()[who];
    walk.Take(Verb::kVersion, who, m.applied ? std::max(m.applied->version, kMixed) : kMixed);
  }
  for (int who = 0; who < kMembers; ++who) walk.Take(Verb::kPause, who, 0);
}

}  // namespace

std::vector<Action> Beginning(std::uint64_t seed) {
  Dice dice(seed + 1'000'003);
  Walk walk{Fleet{}};
  int core = dice.Below(kReleases);
  walk.Take(Verb::kCreate, kCore, core);
  for (int who = 1; who < kMembers; ++who) {
    int version = dice.Below(kReleases);
    while (!Fits(ReleaseOf(core).contract, ReleaseOf(version).contract)) version = dice.Below(kReleases);
    walk.Take(Verb::kCreate, who, version);
  }
  return std::move(walk).actions();
}

std::vector<Action> Sequence(std::uint64_t seed, const Fleet& start) {
  Dice dice(seed);
  Walk walk(start);
  size_t length = 4 + dice.Below(5);
  std::vector<Action> actions;
  Fleet fleet = start;
  while (actions.size() < length) {
    Action action = AnyAction(dice, fleet);
    if (!fleet.Can(action)) continue;
    fleet.Do(action);
    fleet.Settle();
    actions.push_back(action);
  }
  return actions;
}

std::vector<Action> WayBack(const Fleet& from) {
  Walk walk(from);
  for (int who = 0; who < kMembers; ++who) TakeBackInputs(walk, who);
  for (int who = 0; who < kMembers; ++who) BringBack(walk, who);
  for (int who = 0; who < kMembers; ++who) GiveUpWishes(walk, who);
  if (!walk.fleet().AllReady()) MoveTogether(walk);
  return std::move(walk).actions();
}

std::vector<Action> End(const Fleet& from) {
  Walk walk(from);
  for (int who = kMembers - 1; who >= 0; --who) {
    walk.Take(Verb::kHandsOff, who, 0);
    walk.Take(Verb::kUse, who, 0);
    walk.Take(Verb::kObject, who, 0);
    walk.Take(Verb::kDelete, who, 1);
    walk.Take(Verb::kForce, who);
  }
  return std::move(walk).actions();
}

std::string ToString(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) text += "  " + action.ToString() + "\n";
  return text;
}

std::vector<Action> Shrink(std::vector<Action> actions, int tries,
                           const std::function<bool(const std::vector<Action>&)>& fails) {
  for (size_t part = std::max<size_t>(actions.size() / 2, 1); part > 0; part /= 2) {
    for (size_t at = 0; at < actions.size() && tries > 0;) {
      std::vector<Action> fewer = actions;
      fewer.erase(fewer.begin() + at, fewer.begin() + std::min(at + part, fewer.size()));
      --tries;
      if (fails(fewer)) {
        actions = std::move(fewer);
      } else {
        at += part;
      }
    }
  }
  return actions;
}

}  // namespace capi::e2e::model
