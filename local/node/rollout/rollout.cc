#include "local/node/rollout/rollout.h"

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "kube/meta/object_conditions.h"

namespace capi::local {
namespace {

constexpr size_t kHashLength = 10;

// "25%" of `replicas`, or a number.
std::int64_t Resolve(const Json* value, std::int64_t replicas, bool up, std::int64_t percent) {
  if (value != nullptr && value->is_number_integer()) return value->get<std::int64_t>();
  if (value != nullptr && value->is_string()) {
    const std::string& text = value->get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), percent);
  }
  return (replicas * percent + (up ? 99 : 0)) / 100;
}

// Those that serve least go first, and of equal ones the youngest.
bool GoesFirst(const PodState& a, const PodState& b) {
  if (a.ready != b.ready) return b.ready;
  if (a.available != b.available) return b.available;
  return a.created > b.created;
}

class Decision {
 public:
  Decision(const RolloutSpec& spec, const std::vector<PodState>& pods) : spec_(spec) {
    for (const PodState& pod : pods) {
      if (pod.ends) {
        old_ends_ = old_ends_ || !pod.current;
      } else {
        (pod.current ? current_ : old_).push_back(pod);
      }
    }
    std::sort(current_.begin(), current_.end(), GoesFirst);
    std::sort(old_.begin(), old_.end(), GoesFirst);
  }

  Rollout Take() {
    if (spec_.paused) {
      Scale();
    } else if (spec_.recreate) {
      Recreate();
    } else {
      Roll();
    }
    return std::move(out_);
  }

 private:
  std::int64_t Count(const std::vector<PodState>& pods, bool PodState::*is) const {
    return std::count_if(pods.begin(), pods.end(), [&](const PodState& pod) { return pod.*is; });
  }
  std::int64_t all() const { return static_cast<std::int64_t>(current_.size() + old_.size()); }
  std::int64_t current() const { return static_cast<std::int64_t>(current_.size()); }

  void Remove(std::vector<PodState>& pods, std::int64_t count) {
    count = std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(pods.size()));
    out_.remove.insert(out_.remove.end(), pods.begin(), pods.begin() + count);
    pods.erase(pods.begin(), pods.begin() + count);
  }

  // No Pod of a new template, as long as old ones are there.
  void Scale() {
    if (old_.empty() && !old_ends_) out_.create = std::max<std::int64_t>(0, spec_.replicas - current());
    std::int64_t over = all() - spec_.replicas;
    std::int64_t old = std::min<std::int64_t>(over, static_cast<std::int64_t>(old_.size()));
    Remove(old_, old);
    Remove(current_, over - std::max<std::int64_t>(old, 0));
  }

  void Recreate() {
    Remove(current_, current() - spec_.replicas);
    if (old_.empty() && !old_ends_) out_.create = std::max<std::int64_t>(0, spec_.replicas - current());
    Remove(old_, static_cast<std::int64_t>(old_.size()));
  }

  void Roll() {
    Remove(current_, current() - spec_.replicas);
    std::int64_t room = spec_.replicas + spec_.max_surge - all();
    out_.create = std::max<std::int64_t>(0, std::min(spec_.replicas - current(), room));
    std::int64_t least = std::max<std::int64_t>(0, spec_.replicas - spec_.max_unavailable);
    // Old ones that don't serve: as many as may be missing beside the new ones that don't serve yet.
    std::int64_t spare = all() - least - (current() - Count(current_, &PodState::available));
    auto serves = std::find_if(old_.begin(), old_.end(), [](const PodState& pod) { return pod.available; });
    Remove(old_, std::min<std::int64_t>(spare, serves - old_.begin()));
    // Old ones that serve: as many as serve beyond those that must.
    std::int64_t over = Count(current_, &PodState::available) + Count(old_, &PodState::available) - least;
    std::int64_t wanted = std::min(over, all() - least);
    if (over > 0 && (old_.empty() || old_.front().available)) Remove(old_, wanted);
  }

  const RolloutSpec& spec_;
  std::vector<PodState> current_, old_;
  bool old_ends_ = false;
  Rollout out_;
};

}  // namespace

std::string TemplateHash(const kube::Object& deployment) {
  const Json* pods = Find(deployment.json(), {"spec", "template"});
  return Sha256Hex(pods == nullptr ? "" : ToJsonText(*pods)).substr(0, kHashLength);
}

PodState StateOf(const kube::Object& pod, const std::string& hash, Seconds min_ready, WallTime now, WallTime& again) {
  PodState state{
      .name = pod.name(), .uid = pod.uid(), .current = pod.label(kHashLabel) == hash, .ends = pod.deleting()};
  state.created = GetString(pod.json(), {"metadata", "creationTimestamp"});
  auto conditions = kube::Conditions(pod);
  state.ready = !state.ends && kube::IsTrue(conditions, "Ready");
  if (!state.ready) return state;
  auto since = ParseTime(kube::FindCondition(conditions, "Ready")->last_transition_time);
  state.available = min_ready <= Seconds(0) || !since.ok() || *since + min_ready <= now;
  if (!state.available) again = std::min(again, *since + min_ready);
  return state;
}

RolloutSpec RolloutSpecOf(const kube::Object& deployment, bool alone) {
  const Json& json = deployment.json();
  RolloutSpec spec;
  spec.replicas = GetInt(json, {"spec", "replicas"}, 1);
  spec.recreate = alone || GetString(json, {"spec", "strategy", "type"}) == "Recreate";
  spec.paused = GetBool(json, {"spec", "paused"});
  spec.max_surge = Resolve(Find(json, {"spec", "strategy", "rollingUpdate", "maxSurge"}), spec.replicas, true, 25);
  spec.max_unavailable =
      Resolve(Find(json, {"spec", "strategy", "rollingUpdate", "maxUnavailable"}), spec.replicas, false, 25);
  if (spec.max_surge == 0 && spec.max_unavailable == 0) spec.max_unavailable = 1;
  return spec;
}

Rollout NextOfRollout(const RolloutSpec& spec, const std::vector<PodState>& pods) {
  return Decision(spec, pods).Take();
}

}  // namespace capi::local
