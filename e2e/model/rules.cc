// What follows from what people did: the rules of docs/behaviour.md, each once, for a fleet that has settled.
#include <algorithm>

#include "e2e/model/fleet.h"

namespace capi::e2e::model {

bool Fleet::SaysPaused(const Member& m) const { return m.at_zero && !m.hands_off; }

// A version is asked for that isn't installed.
bool Fleet::Pending(const Member& m) const { return m.exists && m.applied && m.spec.version != m.applied->version; }

// C3. `change`: whether it breaks the rule whatever order is taken.
bool Fleet::CoreMayMove(const std::string& contract, bool* change) const {
  bool blocked = false, waits = false, all_at_zero = true;
  const std::string now = members_[kCore].contract();
  for (int i = 0; i < kMembers; ++i) {
    const Member& m = members_[i];
    if (!m.applied) continue;
    if (!SaysPaused(m)) all_at_zero = false;
    if (i == kCore || Fits(contract, m.contract()) || !Fits(now, m.contract())) continue;
    std::string desired = Pending(m) && m.looked_at == m.spec.version ? m.desired : "";
    bool goes_first = !desired.empty() && desired != m.contract() && Fits(now, desired) && Fits(contract, desired);
    (goes_first ? waits : blocked) = true;
  }
  if (change != nullptr) *change = blocked;
  return blocked ? all_at_zero : !waits;
}

bool Fleet::MayMove(int who, const std::string& contract) const {
  if (who == kCore) return CoreMayMove(contract);
  const Member& m = members_[who];
  const std::string core = members_[kCore].contract();
  return Fits(core, contract) || (m.applied && !Fits(core, m.contract()));
}

// C5.
bool Fleet::StaysAtZero(int who) const {
  const Member &me = members_[who], &core = members_[kCore];
  for (int i = 1; i < kMembers; ++i) {
    const Member& m = members_[i];
    bool at_zero = i == who || SaysPaused(m);
    if (m.applied && at_zero && !Fits(core.contract(), m.contract())) return true;
  }
  bool core_pending = Pending(core) && core.looked_at == core.spec.version && core.desired != core.contract();
  bool change = false;
  if (core_pending && CoreMayMove(core.desired, &change) && change) return true;
  return Pending(me) && me.looked_at == me.spec.version && !me.desired.empty() && me.desired != me.contract();
}

std::string Fleet::Preflight(int who) const {
  const Member &m = members_[who], &core = members_[kCore];
  if (m.spec.patch == kBadPatch) return "ComponentsPatchError";
  if (m.applied && m.spec.version != kNowhere && m.spec.version < m.applied->version && !m.allow_downgrade) {
    bool patch = ReleaseOf(m.spec.version).version.substr(0, 4) == ReleaseOf(m.applied->version).version.substr(0, 4);
    if (!patch) return "UnsupportedProviderDowngradeReason";
  }
  if (who != kCore && !(core.exists && core.applied)) return "WaitingForCoreProviderReady";
  if (m.secret == 0) return "SecretNotFound";
  return "";
}

// U3.
std::string Fleet::CheckStored(Member& m, const Release& release) const {
  auto has = [&](const std::string& version) {
    return std::find(release.crd_versions.begin(), release.crd_versions.end(), version) != release.crd_versions.end();
  };
  if (m.crd < 0 || std::all_of(m.stored.begin(), m.stored.end(), has)) return "";
  const std::string& storage = ReleaseOf(m.crd).storage;
  if (!has(storage) || m.spec.paused) return "StoredVersionsInUse";
  m.stored = {storage};
  return "";
}

std::string Fleet::Install(int who) {
  Member& m = members_[who];
  if (m.spec.version == kNowhere || m.releases[m.spec.version] == 0) return "VersionNotFound";
  const Release& release = ReleaseOf(m.spec.version);
  if (Pending(m)) {
    m.looked_at = m.spec.version;
    m.desired = release.contract;
  }
  if (!MayMove(who, release.contract)) return kAnyContractReason;
  if (m.releases[m.spec.version] == kBrokenRelease) return "InvalidComponents";
  Content wanted{m.spec.version, m.releases[m.spec.version], m.secret, m.spec.image, m.spec.verbosity, m.spec.patch};
  if (m.applied == wanted) return "";
  if (std::string why = CheckStored(m, release); !why.empty()) return why;
  if (m.applied && m.applied->version % 2 != wanted.version % 2) Lose(m, Part::kOnly);
  if (!m.applied) m.at_zero = m.spec.paused;
  m.applied = wanted;
  m.crd = wanted.version;
  m.stored.insert(release.storage);
  m.rendered = true;
  return "";
}

void Fleet::SettlePause(int who) {
  Member& m = members_[who];
  bool was = m.at_zero;
  if (m.spec.paused) {
    if (m.applied) m.at_zero = true;
  } else if (m.at_zero && !StaysAtZero(who)) {
    m.at_zero = false;
  }
  if (was != m.at_zero) m.rendered = false;
}

// X1: what is there when the provider is gone.
void Fleet::Leave(Member& m) const {
  Member left;
  left.secret = m.secret;
  left.releases = m.releases;
  left.used = m.used;
  left.object = m.object;
  left.stranger = m.stranger;
  left.planted = m.planted;
  if (!m.delete_crds) {
    left.crd = m.crd;
    left.stored = m.stored;
    if (m.marks.contains(Part::kCrd)) left.marks.insert(Part::kCrd);
  }
  m = left;
}

// X1 to X4.
void Fleet::SettleDeletion(int who) {
  Member& m = members_[who];
  if (!m.force) {
    bool others = std::any_of(members_.begin() + 1, members_.end(), [](const Member& o) { return o.exists; });
    m.why = who == kCore ? "DeletionBlocked" : "InUse";
    if ((who == kCore && others) || m.used) return SettlePause(who);  // until then it runs as declared
    if (m.crd >= 0) m.stored = {ReleaseOf(m.crd).storage};
  }
  Leave(m);
}

bool Fleet::SettleOne(int who) {
  Member& m = members_[who];
  if (!m.exists || m.hands_off) return false;
  if (m.deleting) {
    SettleDeletion(who);
    return !m.exists;
  }
  const Member before = m;
  if (m.spec.version != m.looked_at || !Pending(m)) {
    m.looked_at = -1;
    m.desired.clear();
  }
  SettlePause(who);
  m.why = Preflight(who);
  if (m.why.empty()) m.why = Install(who);
  bool held = !m.why.empty();
  bool at_zero = m.at_zero || m.spec.paused;
  if (!held && !at_zero) {
    m.stored = {ReleaseOf(m.crd < 0 ? m.applied->version : m.crd).storage};
    m.crd = m.applied->version;
    if (!m.loose.empty()) m.rendered = true;
  }
  if (!at_zero && (!held || m.rendered)) m.loose.clear();
  if (!held && at_zero) m.why = m.spec.paused ? "Paused" : "WaitingForContracts";
  return before.applied != m.applied || before.at_zero != m.at_zero || before.desired != m.desired ||
         before.stored != m.stored || before.why != m.why;
}

void Fleet::Settle() {
  for (int round = 0; round < 20; ++round) {
    bool changed = false;
    for (int who = 0; who < kMembers; ++who) changed = SettleOne(who) || changed;
    if (!changed) return;
  }
}

}  // namespace capi::e2e::model
