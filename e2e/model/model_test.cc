// Random sequences of what people do, against the model: whatever they do, nothing of theirs is lost, the golden rule
// holds, conditions are true, and when they take it back everything is as declared (behaviour.md C, D, P, U, X).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/testing/length.h"
#include "e2e/model/run.h"

namespace capi::e2e::model {
namespace {

std::uint64_t Number(const char* name, std::uint64_t otherwise) {
  return IsSet(name) ? std::strtoull(EnvironmentVariable(name).c_str(), nullptr, 10) : otherwise;
}

// Again from the beginning, with fewer and fewer actions, each time on a control plane of its own.
std::string Shortest(const std::vector<Action>& actions) {
  auto fails = [](const std::vector<Action>& fewer) {
    auto plane = kube::ControlPlane::Start({.controllers = true});
    if (!plane.ok()) return false;
    std::string wrong = Runner(**plane).Take(fewer);
    fmt::print(stderr, "{} actions: {}\n", fewer.size(), wrong.empty() ? "all is well" : wrong);
    return !wrong.empty();
  };
  return ToString(Shrink(actions, 60, fails));
}

// The sequences are dealt out by tens that share a beginning, to whoever is done with the last. Thread-safe.
class Deal {
 public:
  Deal(std::uint64_t first, std::uint64_t last) : next_(first), last_(last) {}

  // nullopt: there are no more, or something has failed.
  std::optional<std::uint64_t> Next() {
    MutexLock lock(mu_);
    if (next_ > last_ || !failure_.empty()) return std::nullopt;
    return std::exchange(next_, (next_ / kSequencesPerBeginning + 1) * kSequencesPerBeginning);
  }
  std::uint64_t last() const { return last_; }
  void Done(size_t sequences, size_t actions) {
    MutexLock lock(mu_);
    sequences_ += sequences;
    actions_ += actions;
  }
  void Fail(const std::string& how) {
    MutexLock lock(mu_);
    failure_ += how;
  }
  std::string failure() {
    MutexLock lock(mu_);
    return failure_;
  }
  size_t sequences() {
    MutexLock lock(mu_);
    return sequences_;
  }
  size_t actions() {
    MutexLock lock(mu_);
    return actions_;
  }

 private:
  Mutex mu_;
  std::uint64_t next_ CAPI_GUARDED_BY(mu_);
  const std::uint64_t last_;
  size_t sequences_ CAPI_GUARDED_BY(mu_) = 0, actions_ CAPI_GUARDED_BY(mu_) = 0;
  std::string failure_ CAPI_GUARDED_BY(mu_);
};

void TakeSequences(Deal& deal, kube::ControlPlane& plane) {
  Runner runner(plane);
  size_t sequences = 0;
  while (auto seed = deal.Next()) {
    std::string wrong = runner.Sequences(*seed, deal.last());
    sequences += runner.seed() - *seed;
    if (wrong.empty()) continue;
    std::string shortest;
    if (IsSet("CAPI_MODEL_SHRINK")) shortest = "shrunk to:\n" + Shortest(runner.taken());
    deal.Fail(fmt::format(
        "sequence {}: {}\nafter these actions:\n{}{}{}replay with CAPI_MODEL_SEED={}; "
        "CAPI_MODEL_SHRINK=1 looks for fewer actions\n",
        runner.seed(), wrong, ToString(runner.taken()), shortest, runner.world().DescribeProviders(), runner.seed()));
    ADD_FAILURE() << deal.failure();
  }
  deal.Done(sequences, runner.actions());
}

// What is rare among the random ones: others' objects where a release has some of that name (U4), and a Namespace that
// goes with all that is in it (X5).
TEST(Model, WhatIsOthers) {
  Runner runner(kube::ControlPlane::Shared());
  const int boot = 1, infra = 2;
  std::string wrong = runner.Take({{Verb::kCreate, kCore, 1},
                                   {Verb::kPlant, boot, static_cast<int>(Place::kConfig)},
                                   {Verb::kCreate, boot, 1},
                                   {Verb::kPlant, boot, static_cast<int>(Place::kEven)},
                                   {Verb::kCreate, infra, 1},
                                   {Verb::kUse, infra, 1},
                                   {Verb::kVersion, boot, 2},
                                   {Verb::kVersion, boot, 1},
                                   {Verb::kWipe, boot},
                                   {Verb::kNamespace, infra},
                                   {Verb::kDelete, boot, 1},
                                   {Verb::kCreate, infra, 3}});
  EXPECT_EQ(wrong, "") << ToString(runner.taken()) << runner.world().DescribeProviders();
  if (wrong.empty()) {
    EXPECT_EQ(runner.Finish(), "");
  }
}

// U3, rare too: an object outlives the version that it was stored at.
TEST(Model, WhatIsStored) {
  Runner runner(kube::ControlPlane::Shared());
  const int boot = 1;
  std::string wrong = runner.Take({{Verb::kCreate, kCore, 4},
                                   {Verb::kCreate, boot, 1},
                                   {Verb::kObject, boot, 1},
                                   {Verb::kVersion, boot, 3},
                                   {Verb::kVersion, boot, 5}});
  EXPECT_EQ(wrong, "") << ToString(runner.taken()) << runner.world().DescribeProviders();
  if (wrong.empty()) {
    EXPECT_EQ(runner.Finish(), "");
  }
}

// CAPI_MODEL_SEED=N runs the sequence N, after those that it goes on from; CAPI_MODEL_SEQUENCES says how many
// otherwise, whatever part of a run this is. In the long mode they are others every day. Two worlds go side by side,
// each on a control plane of its own: while one waits for a pod or a CRD, the other has the machine.
TEST(Model, RandomSequences) {
  const bool one = IsSet("CAPI_MODEL_SEED");
  const std::uint64_t all = Number("CAPI_MODEL_SEQUENCES", ByLength(40, 300, 10'000));
  ASSERT_GT(all, 0u) << "CAPI_MODEL_SEQUENCES is the number of sequences";
  const capi::Part part = IsSet("CAPI_MODEL_SEQUENCES") ? capi::Part{} : TestPart();
  const NumberRange some = RangeOf(part, all, kSequencesPerBeginning);
  const std::uint64_t seed = one ? Number("CAPI_MODEL_SEED", 0) : FirstSeed(all) + some.begin;
  const std::uint64_t first = seed / kSequencesPerBeginning * kSequencesPerBeginning;
  const std::uint64_t last = one ? seed : first + (some.end - some.begin) - 1;
  fmt::print("sequences {} to {}\n", first, last);
  Deal deal(first, last);
  std::optional<std::jthread> other;
  if (last - first >= kSequencesPerBeginning) {
    other.emplace([&deal] {
      auto plane = kube::ControlPlane::Start({.controllers = true});
      ASSERT_TRUE(plane.ok()) << plane.error().message;
      TakeSequences(deal, **plane);
    });
  }
  TakeSequences(deal, kube::ControlPlane::Shared());
  if (other) other->join();
  fmt::print("{} sequences, {} actions\n", deal.sequences(), deal.actions());
  EXPECT_EQ(deal.sequences(), last - first + 1) << "sequences that weren't taken";
  EXPECT_GE(deal.actions(), 5 * deal.sequences()) << "they were hardly any";
}

}  // namespace
}  // namespace capi::e2e::model
