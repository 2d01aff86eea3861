// The model: a core, a bootstrap and an infrastructure provider, what people do to them, and what must hold then. A few
// hundred lines that know no Kubernetes and none of the operator's code; they restate docs/behaviour.md.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace capi::e2e::model {

inline constexpr int kCore = 0, kMembers = 3;
inline constexpr int kReleases = 6;
inline constexpr int kNowhere = kReleases;  // a version that no ConfigMap has
inline constexpr int kMixed = 4;  // the first release of the newest contract: from every other one it can come
inline constexpr int kBadPatch = -1;
inline constexpr int kBrokenRelease = -1;

struct Release {
  std::string version, contract;
  std::vector<std::string> crd_versions;
  std::string storage;
};
const Release& ReleaseOf(int version);  // kNowhere too
// C1: whether a core of contract `core` accepts `other`; what isn't installed ("") fits everything.
bool Fits(const std::string& core, const std::string& other);

// The objects of a provider's release.
enum class Part { kCrd, kConfig, kOnly, kRole, kHook, kDeployment };
inline constexpr int kParts = 6;

enum class Verb {
  kVersion,    // a: spec.version
  kPause,      // a: spec.paused
  kHandsOff,   // a: the annotation of P4
  kImage,      // a: spec.deployment
  kVerbosity,  // a: spec.manager
  kPatch,      // a: spec.patches; kBadPatch doesn't parse
  kDowngrade,  // a: the annotation of U6
  kSecret,     // a: the variable's value, 0: the Secret is deleted
  kRelease,    // a: version, b: revision of its ConfigMap; 0: deleted, kBrokenRelease: no YAML
  kDelete,     // a: with its CRDs
  kForce,      // the annotation of X4
  kCreate,     // a: spec.version
  kUse,        // a: an object of its CRD that belongs to a Cluster is there
  kObject,     // a: one that belongs to none
  kEdit,       // a: Part. Somebody changes a field that is ours
  kHide,       // a: Part. Somebody takes our labels away
  kRemove,     // a: Part. Somebody deletes it
  kMark,       // a: Part. Somebody adds a field
  kScale,      // a: replicas, through the scale subresource
  kBundle,     // an injector fills in a CA bundle
  kStranger,   // somebody's own object, with our labels
  kPlant,      // a: Place. An object of somebody else's, owned by another of his, is there before the provider has one
  kNamespace,  // somebody deletes its Namespace, and when that has gone there is a new one
  kWipe,       // the status is lost
  kFinalizer,  // the finalizer is taken away
  kRestart,    // the operator is killed, and starts again
};

struct Action {
  Verb verb;
  int who = kCore;
  int a = 0, b = 0;
  std::string ToString() const;  // "version(boot, v1.2.0)"
  bool operator==(const Action&) const = default;
};

// What decides the content of a provider's objects.
struct Content {
  int version = 0, revision = 1, value = 1, image = 0, verbosity = 0, patch = 0;
  auto operator<=>(const Content&) const = default;
};

struct Spec {
  int version = 0;
  bool paused = false;
  int image = 0, verbosity = 0, patch = 0;
};

// Names that some releases have objects of: all of them, those with an even number, those with an odd one.
enum class Place { kConfig, kEven, kOdd };
inline constexpr int kPlaces = 3;
Place PlaceOf(int version);  // of Part::kOnly

// One provider. A value.
struct Member {
  // As people want it.
  bool exists = false, deleting = false, hands_off = false, allow_downgrade = false, force = false, delete_crds = false;
  Spec spec;
  int secret = 1;
  std::array<int, kReleases> releases = {1, 1, 1, 1, 1, 1};

  // As it must be, once the operator has done what it can.
  std::optional<Content> applied;
  bool at_zero = false;          // paused, or not yet back
  std::string why;               // reason of Ready; "" for True
  int crd = -1;                  // the CRD is as in this release; -1: there is none
  std::set<std::string> stored;  // versions at which objects may be stored
  bool rendered = false;         // the operator has the objects at hand, though the next change is refused
  std::set<Part> loose;          // edited while nobody restores it: may be anything
  int looked_at = -1;            // a version whose contract the others know of
  std::string desired;           // that contract

  // What others made, and nobody may touch.
  bool used = false, object = false, stranger = false, bundle = false;
  std::set<Part> marks;
  std::set<Place> planted;
  int scaled = 0;                         // replicas that somebody asked for; 0: nobody did
  std::array<int, kParts> removals = {};  // in this life: more than a few in a minute are a fight (D2)

  std::string contract() const { return applied ? ReleaseOf(applied->version).contract : ""; }
};

// The words that a test may expect of a member that isn't Ready: one reason, or one of several.
inline constexpr const char* kAnyContractReason = "WaitingForPause|WaitingForOrder|CAPIVersionIncompatibility";

// A value.
class Fleet {
 public:
  bool Can(const Action& action) const;
  void Do(const Action& action);  // what a person does
  void Settle();                  // what follows from it

  const Member& operator[](int who) const { return members_[who]; }
  bool AllReady() const;

 private:
  bool CanEdit(const Member& m, Part part) const;
  bool Has(const Member& m, Place place) const;
  void DoSpec(Member& m, const Action& action);
  void DoForeign(Member& m, const Action& action);
  void Lose(Member& m, Part part);
  bool SettleOne(int who);
  void SettleDeletion(int who);
  void Leave(Member& m) const;
  void SettlePause(int who);
  std::string Preflight(int who) const;
  std::string Install(int who);
  std::string CheckStored(Member& m, const Release& release) const;
  bool MayMove(int who, const std::string& contract) const;
  bool CoreMayMove(const std::string& contract, bool* change = nullptr) const;
  bool Pending(const Member& m) const;
  bool SaysPaused(const Member& m) const;
  bool StaysAtZero(int who) const;

  std::array<Member, kMembers> members_;
};

const char* NameOf(int who);  // "core", "boot", "infra"

}  // namespace capi::e2e::model
