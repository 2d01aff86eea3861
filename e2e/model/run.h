// Takes the model's actions in its world, one after another, and waits after each until all is as the model says.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "e2e/model/actions.h"
#include "e2e/model/world.h"

namespace capi::e2e::model {

// Thread-compatible.
class Runner {
 public:
  explicit Runner(kube::ControlPlane& plane) : world_(plane) {}

  // Each returns what is wrong, "" for nothing; after that the world is of no use.
  std::string Take(const Action& action);  // one that makes no sense is left out
  std::string Take(const std::vector<Action>& actions);
  // Sequences that begin with `first`, until one with a round number begins or `last` is done. Every ten share a
  // beginning, and each goes on where the one before it was brought back to.
  std::string Sequences(std::uint64_t first, std::uint64_t last);
  std::string Finish();  // nothing is left, as at the beginning
  void LeaveOut(Verb verb) { left_out_ = verb; }
  // Called with every provider Ready; false ends Sequences early.
  void AfterSequence(std::function<bool()> then) { then_ = std::move(then); }

  const std::vector<Action>& taken() const { return taken_; }  // since the last beginning
  std::uint64_t seed() const { return seed_; }                 // of the sequence that is being taken
  World& world() { return world_; }
  size_t actions() const { return actions_; }

 private:
  World world_;
  Fleet fleet_;
  std::vector<Action> taken_;
  std::uint64_t seed_ = 0;
  size_t actions_ = 0;
  std::optional<Verb> left_out_;
  std::function<bool()> then_ = [] { return true; };
};

inline constexpr std::uint64_t kSequencesPerBeginning = 10;

}  // namespace capi::e2e::model
