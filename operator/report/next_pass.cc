#include "operator/report/next_pass.h"

#include <algorithm>
#include <functional>

#include "operator/decide/certificates/due.h"
#include "operator/decide/rollout.h"
#include "operator/decide/upgrades/policy.h"

namespace capi::ops {
namespace {

void AtTheLatest(NextPass& next, Millis at) { next.at = std::min(next.at.value_or(at), at); }

void DueAt(NextPass& next, Millis at) {
  AtTheLatest(next, at);
  next.due = std::min(next.due.value_or(at), at);
}

// So that a thousand providers that became ready at once aren't looked at at once.
Millis Spread(Millis period, const std::string& key) {
  constexpr std::size_t kParts = 1000;
  auto part = static_cast<double>(std::hash<std::string>()(key) % kParts) / kParts;
  return std::chrono::duration_cast<Millis>(period * (0.9 + 0.2 * part));
}

void AfterHold(NextPass& next, const Hold& hold) {
  switch (hold.retry) {
    case Retry::kOnChange:
    case Retry::kWaiting: next.backoff = kNowAndThen; break;
    case Retry::kBackoff:
      next.backoff = kSoon;
      next.at_least = hold.after.value_or(Millis(0));
      next.of_source = TellsOfSource(hold.reason);
      next.told = true;
      break;
    case Retry::kPolled:
    case Retry::kRefused:
      next.backoff = kNowAndThen;
      next.told = true;
      break;
    case Retry::kAt:
      AtTheLatest(next, hold.after.value_or(kNowAndThen.max));
      next.told = true;
      break;
    case Retry::kTurn:
      AtTheLatest(next, hold.after.value_or(kNowAndThen.max));
      next.keeps_backoff = true;
      break;
  }
}

// D2: the turn of one that waits, or the end of one that holds. One that is due has a time only where this pass has
// restored what it is about: else (paused, refused, at another's turn) whatever stands in the way says when.
void AfterFight(NextPass& next, const Fight& fight, const Done& done) {
  if (fight.next > Millis(0)) {
    AtTheLatest(next, fight.next + Millis(1));
  } else if (!done.restored.empty()) {
    AtTheLatest(next, Millis(1));
  } else if (!done.hold && !next.backoff) {
    next.backoff = kNowAndThen;
  }
}

// I19: whatever else is told of the provider, a certificate is renewed in time. One that is due now is held, and what
// holds it tells when it is looked at again; or the next pass is at once.
void AtCertificates(NextPass& next, const Observation& o, const Fleet& fleet, const Done& done) {
  if (done.hands_off || o.provider.spec.paused) return;
  const Millis wait = o.certificate_trouble.wait;
  if (wait > Millis(0)) DueAt(next, wait);  // also of a provider that has none yet: a hand-over
  if (auto due = NextCertificate(fleet, o.now)) {
    if (*due > Millis(0) || wait > Millis(0)) DueAt(next, std::max({*due, wait, Millis(1)}));
  }
  if (o.cert_manager_until) DueAt(next, *o.cert_manager_until + Millis(1));
}

}  // namespace

NextPass NextPassOf(const Observation& o, const Done& done, bool ready, Millis sync_period) {
  // A watch that doesn't come up is asked again, and the state of its kind is read then (D1).
  constexpr Millis kBlind = Seconds(30);
  const Fleet& fleet = done.fleet ? *done.fleet : o.fleet;
  NextPass next;
  next.keeps_source = done.hold && !done.loaded;
  if (done.hold) {
    AfterHold(next, *done.hold);
    // What is refused until then is given up, or rolled back (U5); no earlier than a server asks for (F5).
    const std::string& reason = done.hold->reason;
    const bool ends = TellsOfRefusal(reason) || (IsChoiceUnderWay(o) && EndsAChoice(reason));
    auto end = ends ? RolloutEndsIn(o) : std::nullopt;
    if (end) DueAt(next, std::max(*end, next.at_least));
  } else if (ready || done.hands_off) {
    AtTheLatest(next, Spread(sync_period, o.provider.id.Key()));
  } else {
    next.backoff = kNowAndThen;
  }
  if (done.away) {  // U13: whatever else is told of the provider
    next.backoff = kSoon;
    next.at_least = *done.away;
  }
  if (!done.hands_off) {  // P4: nobody fights then
    for (const Fight& fight : o.fights) AfterFight(next, fight, done);
  }
  if (fleet.blind) AtTheLatest(next, kBlind);
  // A watch that lists anew may have missed our write, and the end of what was written (D1).
  if (fleet.awaited) AtTheLatest(next, *fleet.awaited);
  if (done.again_after) AtTheLatest(next, *done.again_after);
  AtCertificates(next, o, fleet, done);
  next.resync = !next.told && !next.keeps_backoff && o.fights.empty() && !fleet.blind && !fleet.awaited &&
                !done.again_after && !done.away;
  return next;
}

}  // namespace capi::ops
