#include "api/moves/contract_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/release.h"

namespace capi::api {
namespace {

using Kind = MoveVerdict::Kind;
using Fleet = std::vector<FleetMember>;
using Indices = std::vector<size_t>;

FleetMember Core(std::string contract, std::string desired = "", bool at_zero = false) {
  return {{ProviderType::kCore, "capi-system", "cluster-api"}, std::move(contract), std::move(desired), at_zero};
}

FleetMember Other(const char* name, std::string contract, std::string desired = "", bool at_zero = false) {
  return {{ProviderType::kInfrastructure, name, name}, std::move(contract), std::move(desired), at_zero};
}

const char* Name(Kind kind) {
  constexpr const char* kNames[] = {"Go", "Change", "WaitForOrder", "WaitForPause", "WaitForCore"};
  return kNames[static_cast<int>(kind)];
}

struct Case {
  std::string name;
  Fleet fleet;
  size_t who;
  Kind kind;
  Indices others = {};
};

void ExpectVerdicts(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    MoveVerdict verdict = JudgeMove(c.fleet, c.who);
    EXPECT_STREQ(Name(verdict.kind), Name(c.kind)) << c.name;
    EXPECT_EQ(verdict.others, c.others) << c.name;
  }
}

TEST(ContractPlan, SaysWhoMovesAndWhoWaits) {
  ExpectVerdicts({
      {"C2 the core to a contract that accepts the others",
       {Core("v1beta1", "v1beta2"), Other("a", "v1beta1")},
       0,
       Kind::kGo},
      {"C2 a provider to another contract that the core accepts",
       {Core("v1beta2"), Other("a", "v1beta1", "v1beta2")},
       1,
       Kind::kGo},
      {"C1 a new provider that fits", {Core("v1beta2"), Other("a", "", "v1beta1")}, 1, Kind::kGo},
      {"C6 a core that isn't installed forbids nothing", {Core(""), Other("a", "", "v1beta1")}, 1, Kind::kGo},
      {"C3 who runs waits for all that the core waits for",
       {Core("v1alpha4", "v1beta1"), Other("a", "v1alpha4", "v1beta1")},
       1,
       Kind::kWaitForPause,
       {0, 1}},
      {"C3 who doesn't run yet waits for the core alone",
       {Core("v1alpha4", "v1beta1"), Other("a", "", "v1beta1"), Other("b", "v1alpha4")},
       1,
       Kind::kWaitForOrder,
       {0}},
      {"C1 a new provider that doesn't", {Core("v1beta1"), Other("a", "", "v1beta2")}, 1, Kind::kWaitForCore, {0}},
      {"C3 a new provider that will fit",
       {Core("v1beta1", "v1beta2"), Other("a", "", "v1beta2")},
       1,
       Kind::kWaitForOrder,
       {0}},
      {"C3 the core goes first: no pause",
       {Core("v1beta1", "v1beta2"), Other("a", "v1beta1", "v1beta2")},
       1,
       Kind::kWaitForOrder,
       {0}},
      {"C3 the others go first, back from a contract",
       {Core("v1beta2", "v1beta1"), Other("a", "v1beta2", "v1beta1")},
       0,
       Kind::kWaitForOrder,
       {1}},
      {"C3 and they may", {Core("v1beta2", "v1beta1"), Other("a", "v1beta2", "v1beta1")}, 1, Kind::kGo},
      {"C3 no order: the core waits for all to be paused, itself too",
       {Core("v1alpha4", "v1beta1"), Other("a", "v1alpha4", "v1beta1", true), Other("b", "v1alpha4")},
       0,
       Kind::kWaitForPause,
       {0, 2}},
      {"C3 and so does a provider, whatever the core is asked for",
       {Core("v1alpha4"), Other("a", "v1alpha4", "v1beta1"), Other("b", "v1alpha4", "", true)},
       1,
       Kind::kWaitForPause,
       {0, 1}},
      {"C3 a core that nobody has asked for yet would help: no pause",
       {Core("v1beta1"), Other("a", "v1beta1", "v1beta2")},
       1,
       Kind::kWaitForCore,
       {0}},
  });
}

TEST(ContractPlan, KnowsPausedAndBrokenFleets) {
  ExpectVerdicts({
      {"C4 all are paused: the core first",
       {Core("v1alpha4", "v1beta1", true), Other("a", "v1alpha4", "v1beta1", true)},
       0,
       Kind::kChange},
      {"C4 also when nobody has edited the others yet",
       {Core("v1alpha4", "v1beta1", true), Other("a", "v1alpha4", "", true)},
       0,
       Kind::kChange},
      {"C4 the others wait for it",
       {Core("v1alpha4", "v1beta1", true), Other("a", "v1alpha4", "v1beta1", true)},
       1,
       Kind::kWaitForOrder,
       {0}},
      {"C4 also when nobody has edited the core yet",
       {Core("v1alpha4", "", true), Other("a", "v1alpha4", "v1beta1", true)},
       1,
       Kind::kWaitForCore,
       {0}},
      {"C4 then they follow, side by side",
       {Core("v1beta1", "", true), Other("a", "v1alpha4", "v1beta1", true), Other("b", "v1alpha4", "v1beta1", true)},
       2,
       Kind::kGo},
      {"C6 what isn't installed needs no pause",
       {Core("v1alpha4", "v1beta1", true), Other("a", "v1alpha4", "", true), Other("broken", "")},
       0,
       Kind::kChange},
      {"C6 a rule that was broken before blocks nobody",
       {Core("v1beta1", "v1beta2"), Other("old", "v1alpha3"), Other("a", "v1beta1")},
       0,
       Kind::kGo},
      {"C6 not even itself", {Core("v1beta2"), Other("old", "v1alpha3", "v1alpha4")}, 1, Kind::kGo},
      {"C6 a sibling that isn't paused doesn't block what keeps the rule",
       {Core("v1beta1"), Other("a", "v1beta1", "v1beta1"), Other("b", "v1beta1", "v1beta2")},
       1,
       Kind::kGo},
      {"without a core there is no rule", {Other("a", "v1alpha4", "v1beta1")}, 0, Kind::kGo},
  });
}

TEST(ContractPlan, SaysWhoKeepsOthersAtZero) {
  struct Left {
    std::string name;
    Fleet fleet;
    Indices unfinished;
  };
  const Left cases[] = {
      {"nobody", {Core("v1beta1", "", true), Other("a", "v1beta1", "", true)}, {}},
      {"C5 who is left behind",
       {Core("v1beta1", "", true), Other("a", "v1alpha4", "", true), Other("b", "v1beta1", "", true)},
       {1}},
      {"C4 the core while it moves", {Core("v1alpha4", "v1beta1", true), Other("a", "v1alpha4", "", true)}, {0}},
      {"not while it can't move", {Core("v1alpha4", "v1beta1", true), Other("a", "v1alpha4")}, {}},
      {"C2 not for a move that breaks nothing",
       {Core("v1beta1", "v1beta2", true), Other("a", "v1beta1", "", true)},
       {}},
      {"C6 not who runs against the rule", {Core("v1beta1", "", true), Other("old", "v1alpha4")}, {}},
  };
  for (const Left& c : cases) EXPECT_EQ(UnfinishedMembers(c.fleet), c.unfinished) << c.name;
}

// ---- Against a search through all orders ----

std::set<size_t> BrokenSet(const Fleet& fleet) {
  std::set<size_t> broken;
  const FleetMember& core = fleet[0];
  for (size_t i = 1; i < fleet.size(); ++i) {
    if (core.contract.empty() || fleet[i].contract.empty()) continue;
    if (!Accepts(core.contract, fleet[i].contract)) broken.insert(i);
  }
  return broken;
}

bool Pending(const FleetMember& member) { return !member.desired.empty() && member.desired != member.contract; }

Fleet Moved(Fleet fleet, size_t who) {
  fleet[who].contract = fleet[who].desired;
  return fleet;
}

// A legal step: whoever breaks the rule after it broke it before.
bool Legal(const Fleet& fleet, size_t who) {
  auto before = BrokenSet(fleet), after = BrokenSet(Moved(fleet, who));
  return std::includes(before.begin(), before.end(), after.begin(), after.end());
}

// Some order of legal steps of others makes this one legal.
bool OrderExists(const Fleet& fleet, size_t who) {
  if (Legal(fleet, who)) return true;
  for (size_t i = 0; i < fleet.size(); ++i) {
    if (i != who && Pending(fleet[i]) && Legal(fleet, i) && OrderExists(Moved(fleet, i), who)) return true;
  }
  return false;
}

bool AllAtZero(const Fleet& fleet) {
  return std::all_of(fleet.begin(), fleet.end(), [](const FleetMember& m) { return m.contract.empty() || m.at_zero; });
}

void ExpectSoundVerdict(const Fleet& fleet, size_t who) {
  MoveVerdict verdict = JudgeMove(fleet, who);
  bool order = OrderExists(fleet, who);
  EXPECT_EQ(verdict.kind == Kind::kGo, Legal(fleet, who)) << "C2";
  if (verdict.kind == Kind::kChange) {
    EXPECT_EQ(who, 0u) << "only the core breaks the rule";
    EXPECT_TRUE(AllAtZero(fleet)) << "C3";
    EXPECT_FALSE(order) << "C3 a pause isn't used where an order does";
  }
  if (verdict.kind == Kind::kWaitForPause || verdict.kind == Kind::kWaitForCore) EXPECT_FALSE(order) << "C3";
  if (verdict.kind == Kind::kWaitForPause) EXPECT_FALSE(verdict.others.empty());
  if (order && !Legal(fleet, who)) EXPECT_EQ(verdict.kind, Kind::kWaitForOrder);
  if (verdict.kind == Kind::kWaitForOrder) {
    for (size_t i : verdict.others) EXPECT_TRUE(Pending(fleet[i])) << "it waits for what comes";
    bool core_changes = who != 0 && !Legal(fleet, 0) && !OrderExists(fleet, 0);
    EXPECT_TRUE(order || core_changes);
  }
}

// Lets everybody move who may, one at a time, in an order that `turn` picks; nobody's rule is ever broken while it
// runs.
Fleet Settle(Fleet fleet, size_t turn) {
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t n = 0; n < fleet.size() && !moved; ++n) {
      size_t who = (n + turn) % fleet.size();
      if (!Pending(fleet[who])) continue;
      Kind kind = JudgeMove(fleet, who).kind;
      if (kind != Kind::kGo && kind != Kind::kChange) continue;
      auto before = BrokenSet(fleet);
      fleet = Moved(fleet, who);
      for (size_t i : BrokenSet(fleet)) EXPECT_TRUE(before.contains(i) || fleet[i].at_zero) << i;
      moved = true;
    }
  }
  return fleet;
}

bool AllMoved(const Fleet& fleet) { return std::none_of(fleet.begin(), fleet.end(), Pending); }

// C1 to C6 on every fleet of a core and two others, each with any contracts, any wish, paused or not.
TEST(ContractPlan, AgreesWithASearchThroughAllOrders) {
  const std::vector<std::string> contracts = {"", "v1alpha3", "v1alpha4", "v1beta1", "v1beta2"};
  std::vector<std::pair<std::string, std::string>> moves;
  for (const auto& from : contracts) {
    for (const auto& to : contracts) moves.emplace_back(from, to);
  }
  size_t fleets = 0;
  for (const auto& [core, core_to] : moves) {
    if (core.empty()) continue;  // the others wait for a core (I4)
    for (const auto& a : moves) {
      for (const auto& b : moves) {
        for (unsigned zero = 0; zero < 8; ++zero) {
          Fleet fleet = {Core(core, core_to, zero & 1), Other("a", a.first, a.second, zero & 2),
                         Other("b", b.first, b.second, zero & 4)};
          SCOPED_TRACE(core + ">" + core_to + " " + a.first + ">" + a.second + " " + b.first + ">" + b.second +
                       " zero " + std::to_string(zero));
          ++fleets;
          for (size_t who = 0; who < fleet.size(); ++who) {
            if (Pending(fleet[who])) ExpectSoundVerdict(fleet, who);
          }
          for (size_t turn = 0; turn < fleet.size(); ++turn) {
            Fleet end = Settle(fleet, turn);
            Fleet goal = fleet;
            for (FleetMember& m : goal) m.contract = Pending(m) ? m.desired : m.contract;
            bool good = BrokenSet(goal).empty();
            if (good && AllAtZero(fleet)) EXPECT_TRUE(AllMoved(end)) << "C4: any order of edits ends where it should";
          }
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_EQ(fleets, 20u * 25 * 25 * 8);
}

}  // namespace
}  // namespace capi::api
