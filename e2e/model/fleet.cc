#include "e2e/model/fleet.h"

#include <fmt/core.h>

#include <algorithm>

namespace capi::e2e::model {
namespace {

const std::vector<Release>& All() {
  static const std::vector<Release> all = {
      {"v1.0.0", "v1alpha4", {"v1", "v2"}, "v1"},
      {"v1.1.0", "v1beta1", {"v1", "v2"}, "v1"},
      {"v1.1.1", "v1beta1", {"v1", "v2"}, "v1"},
      {"v1.2.0", "v1beta1", {"v1", "v2"}, "v2"},
      {"v1.3.0", "v1beta2", {"v1", "v2"}, "v2"},
      {"v1.4.0", "v1beta2", {"v2"}, "v2"},
      {"v1.9.0", "", {}, ""},
  };
  return all;
}

constexpr const char* kVerbs[] = {
    "version", "pause",     "hands_off", "image",          "verbosity", "patch",  "allow_downgrade",
    "secret",  "release",   "delete",    "force",          "create",    "use",    "object",
    "edit",    "hide",      "remove",    "mark",           "scale",     "bundle", "stranger",
    "plant",   "namespace", "wipe",      "take_finalizer", "restart"};
constexpr const char* kPartNames[] = {"CRD", "ConfigMap", "ConfigMap2", "ClusterRole", "Webhook", "Deployment"};
constexpr const char* kNames[] = {"core", "boot", "infra"};
constexpr int kMostRemovals = 3;

}  // namespace

const Release& ReleaseOf(int version) { return All()[version]; }

Place PlaceOf(int version) { return version % 2 == 0 ? Place::kEven : Place::kOdd; }

const char* NameOf(int who) { return kNames[who]; }

bool Fits(const std::string& core, const std::string& other) {
  if (core.empty() || other.empty() || core == other) return true;
  return core == "v1beta2" && other == "v1beta1";
}

std::string Action::ToString() const {
  std::string name = kVerbs[static_cast<int>(verb)];
  switch (verb) {
    case Verb::kRestart: return name + "()";
    case Verb::kVersion:
    case Verb::kCreate: return fmt::format("{}({}, {})", name, NameOf(who), ReleaseOf(a).version);
    case Verb::kRelease: return fmt::format("{}({}, {}, {})", name, NameOf(who), ReleaseOf(a).version, b);
    case Verb::kEdit:
    case Verb::kHide:
    case Verb::kRemove:
    case Verb::kMark: return fmt::format("{}({}, {})", name, NameOf(who), kPartNames[a]);
    case Verb::kForce:
    case Verb::kBundle:
    case Verb::kStranger:
    case Verb::kNamespace:
    case Verb::kWipe:
    case Verb::kFinalizer: return fmt::format("{}({})", name, NameOf(who));
    default: return fmt::format("{}({}, {})", name, NameOf(who), a);
  }
}

bool Fleet::AllReady() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& m) { return m.exists && !m.deleting && m.why.empty() && !m.hands_off; });
}

bool Fleet::CanEdit(const Member& m, Part part) const {
  if (part == Part::kCrd) return m.crd >= 0 && m.applied && !m.loose.contains(part);
  return m.applied && !m.loose.contains(part);
}

bool Fleet::Has(const Member& m, Place place) const {
  if (!m.applied || place == Place::kConfig) return m.applied.has_value();
  return place == PlaceOf(m.applied->version);
}

// What makes sense to do, so that a sequence from which actions were dropped is one still.
bool Fleet::Can(const Action& action) const {
  const Member& m = members_[action.who];
  bool alive = m.exists && !m.deleting;
  switch (action.verb) {
    case Verb::kVersion: return alive && action.a != m.spec.version;
    case Verb::kPause: return alive && (action.a != 0) != m.spec.paused;
    case Verb::kHandsOff: return m.exists && (action.a != 0) != m.hands_off && (action.a == 0 || alive);
    case Verb::kImage: return alive && action.a != m.spec.image;
    case Verb::kVerbosity: return alive && action.a != m.spec.verbosity;
    case Verb::kPatch: return alive && action.a != m.spec.patch;
    case Verb::kDowngrade: return alive && (action.a != 0) != m.allow_downgrade;
    case Verb::kSecret: return action.a != m.secret;
    case Verb::kRelease: return action.b != m.releases[action.a];
    case Verb::kDelete: return alive && (action.a == 0 || (!m.used && !m.object));
    case Verb::kForce: return m.deleting && !m.force;
    case Verb::kCreate: return !m.exists;
    case Verb::kUse: return action.a != 0 ? !m.used && m.crd >= 0 && !m.deleting : m.used;
    case Verb::kObject: return action.a != 0 ? !m.object && m.crd >= 0 && !m.deleting : m.object;
    case Verb::kRemove:
      if (m.removals[action.a] >= kMostRemovals) return false;
      if (Part(action.a) != Part::kCrd) return CanEdit(m, Part(action.a));
      // Its objects would go with it; and only who runs gets it back.
      return CanEdit(m, Part::kCrd) && !m.used && !m.object && alive && m.why.empty() && !m.hands_off && !m.at_zero;
    case Verb::kEdit: return CanEdit(m, Part(action.a));
    // Where nobody takes it back before the provider goes, it stays behind, and is nobody's.
    case Verb::kHide: return CanEdit(m, Part(action.a)) && alive && m.why.empty() && !m.hands_off && !m.at_zero;
    case Verb::kMark: return CanEdit(m, Part(action.a)) && !m.marks.contains(Part(action.a));
    case Verb::kScale: return CanEdit(m, Part::kDeployment) && alive && !m.hands_off && action.a != m.scaled;
    case Verb::kBundle: return CanEdit(m, Part::kHook) && !m.bundle;
    case Verb::kStranger: return !m.stranger;
    case Verb::kPlant: return !Has(m, Place(action.a)) && !m.planted.contains(Place(action.a));
    case Verb::kNamespace:
      return alive && !m.hands_off;  // else nobody removes the finalizer
    // While something else stands in the way, or nobody writes, it stays lost.
    case Verb::kWipe:
    case Verb::kFinalizer: return alive && !m.hands_off && (m.why.empty() || m.why == "Paused");
    case Verb::kRestart: return true;
  }
  return false;
}

void Fleet::DoSpec(Member& m, const Action& action) {
  switch (action.verb) {
    case Verb::kVersion: m.spec.version = action.a; break;
    case Verb::kPause: m.spec.paused = action.a != 0; break;
    case Verb::kHandsOff: m.hands_off = action.a != 0; break;
    case Verb::kImage: m.spec.image = action.a; break;
    case Verb::kVerbosity: m.spec.verbosity = action.a; break;
    case Verb::kPatch: m.spec.patch = action.a; break;
    case Verb::kDowngrade: m.allow_downgrade = action.a != 0; break;
    case Verb::kSecret: m.secret = action.a; break;
    case Verb::kRelease: m.releases[action.a] = action.b; break;
    case Verb::kDelete:
      m.deleting = true;
      m.delete_crds = action.a != 0;
      break;
    case Verb::kForce: m.force = true; break;
    case Verb::kCreate:
      m.exists = true;
      m.spec = {.version = action.a};
      break;
    default: DoForeign(m, action);
  }
}

// The object is gone, and what others had on it.
void Fleet::Lose(Member& m, Part part) {
  m.marks.erase(part);
  if (part == Part::kDeployment) m.scaled = 0;
  if (part == Part::kHook) m.bundle = false;
  if (part == Part::kCrd) {
    m.crd = -1;
    m.stored.clear();
  }
}

void Fleet::DoForeign(Member& m, const Action& action) {
  switch (action.verb) {
    case Verb::kUse: m.used = action.a != 0; break;
    case Verb::kObject: m.object = action.a != 0; break;
    case Verb::kEdit:
    case Verb::kHide: m.loose.insert(Part(action.a)); break;
    case Verb::kRemove:
      m.loose.insert(Part(action.a));
      Lose(m, Part(action.a));
      ++m.removals[action.a];
      if (Part(action.a) == Part::kConfig) m.planted.erase(Place::kConfig);
      if (Part(action.a) == Part::kOnly) m.planted.erase(PlaceOf(m.applied->version));
      break;
    case Verb::kMark: m.marks.insert(Part(action.a)); break;
    case Verb::kScale:
      if (!m.at_zero && !m.spec.paused) m.scaled = action.a;
      break;
    case Verb::kBundle: m.bundle = true; break;
    case Verb::kStranger: m.stranger = true; break;
    case Verb::kPlant: m.planted.insert(Place(action.a)); break;
    case Verb::kNamespace:
      // X5: with all that is in it, and without a look at who needs it.
      Leave(m);
      m.secret = 1;
      m.releases.fill(1);
      m.stranger = false;
      m.planted.clear();
      break;
    case Verb::kWipe: m.rendered = false; break;
    case Verb::kRestart:
      for (Member& each : members_) each.rendered = false;
      break;
    default: break;
  }
}

void Fleet::Do(const Action& action) { DoSpec(members_[action.who], action); }

}  // namespace capi::e2e::model
