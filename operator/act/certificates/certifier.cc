#include "operator/act/certificates/certifier.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/certificates/names.h"
#include "base/encoding.h"
#include "kube/client/status_error.h"
#include "kube/meta/kind.h"
#include "operator/act/certificates/ca_bundles.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/act/certificates/known_certificates.h"
#include "operator/decide/certificates/bundles.h"
#include "operator/report/secret_values.h"

namespace capi::ops {
namespace {

constexpr Seconds kFirstRetry{10}, kLongestRetry{1800}, kWaitingRetry{30};
constexpr size_t kMostTries = 6;  // in a minute
constexpr int kMostReads = 3;     // of a Secret that others write meanwhile

std::string Quoted(std::string_view key) { return fmt::format("\"{}\":", key); }

bool Mentions(const kube::Manifest& manifest, std::string_view key) {
  return manifest.text.find(Quoted(key)) != std::string::npos;
}

// A server, or a webhook of somebody's, may repeat what it refuses: private keys.
Error WithoutValues(const Error& error, const certificates::SecretData& data) {
  SecretValues values;
  for (const auto& [name, value] : data) values.Add(value);
  return {error.code, values.Hide(error.message), error.retry_after};
}

std::string Told(const kube::ObjectId& id, const certificates::Decision& decision) {
  const std::string name = fmt::format("Secret {}/{}", id.ns, id.name);
  if (decision.step == certificates::Step::kKeep) return name + ": the operator keeps the certificate that is there";
  return fmt::format("{}: {}: {}", name, certificates::StepName(decision.step), decision.why);
}

bool Changes(const certificates::Decision& decision) {
  return decision.step != certificates::Step::kKeep && decision.step != certificates::Step::kBlocked;
}

// The answer says that nothing was written; no other one does, a timeout least of all.
bool IsRefusal(Code code) {
  switch (code) {
    case Code::kConflict:
    case Code::kInvalidArgument:
    case Code::kPermissionDenied:
    case Code::kUnauthenticated:
    case Code::kNotFound:
    case Code::kFailedPrecondition:
    case Code::kUnsupported: return true;
    default: return false;
  }
}

}  // namespace

Status Certifier::Read(const Context& ctx, const kube::ObjectId& id, Known& known) {
  auto live = client_.Get(ctx, kube::Builtin("Secret"), id.ns, id.name);
  if (!live.ok() && live.code() != Code::kNotFound) return live.error().With(id.ToString());
  if (live.ok()) {
    known.secrets[id].Live(*live);
  } else if (auto found = known.secrets.find(id); found != known.secrets.end()) {
    // What comes with no release of this pass comes back as drift (D1), if it is to.
    if (!found->second.IsWanted()) return known.secrets.erase(found), Ok();
    found->second.Gone();
  }
  return Ok();
}

Certifier::Kept Certifier::Prepare(const Context& ctx, const std::vector<kube::Manifest>& manifests,
                                   const kube::Inventory& inventory) {
  Kept kept;
  Known known;
  for (const kube::Manifest& manifest : manifests) {
    if (!HoldsCertificate(manifest)) continue;
    auto json = ParseJson(manifest.text);
    if (json.ok()) known.secrets[manifest.id].Wanted(kube::Object(*std::move(json)));
  }
  if (known.secrets.empty()) return kept;
  for (const auto& [id, entry] : inventory.entries()) {
    // Also one that is to be sent now, as if it never was: what it trusts counts, too.
    if (HasBundles(id.group_kind())) known.targets.push_back(id);
  }
  std::vector<kube::ObjectId> wanted;
  for (const auto& [id, secret] : known.secrets) wanted.push_back(id);
  for (const kube::ObjectId& id : wanted) {
    kept.failed = id;
    kept.ended = Read(ctx, id, known);
    if (kept.ended.ok()) kept.ended = ReadIssuers(ctx, {id}, known);
    if (!kept.ended.ok()) return kept;
  }
  for (const kube::ObjectId& id : InOrder(known.secrets)) {
    if (std::find(wanted.begin(), wanted.end(), id) != wanted.end()) kept.Add(id, KeepSecret(ctx, id, known, kept));
  }
  return kept;
}

// A release of one Secret, as a restoration sends it, doesn't have the CA that issues for it.
Status Certifier::ReadIssuers(const Context& ctx, const std::vector<kube::ObjectId>& wanted, Known& known) {
  for (const kube::ObjectId& id : wanted) {
    const kube::ObjectId issuer{"", "Secret", id.ns, known.secrets.at(id).issuer_secret()};
    if (!issuer.name.empty() && !known.secrets.contains(issuer)) TRY(Read(ctx, issuer, known));
  }
  return Ok();
}

Certifier::Kept Certifier::Trust(const Context& ctx, const std::vector<kube::Manifest>& manifests,
                                 const kube::Inventory& inventory) {
  Kept kept;
  std::vector<kube::ObjectId> targets;
  for (const kube::Manifest& manifest : manifests) {
    const bool asks =
        Mentions(manifest, api::kAnnotationInjectCaFrom) || Mentions(manifest, api::kAnnotationInjectCaFromSecret);
    if (asks && HasBundles(manifest.id.group_kind())) targets.push_back(manifest.id);
  }
  if (targets.empty()) return kept;
  Known known;
  for (const auto& [id, entry] : inventory.entries()) {
    if (entry.stale || !kube::Is(id, "", "Secret")) continue;
    kept.failed = targets.front();
    kept.ended = Read(ctx, id, known);
    if (!kept.ended.ok()) return kept;
  }
  // A Secret that no certificate is for says nothing of whose a bundle is. Certificates may be cert-manager's in part,
  // while one of them can't go over: what names no Secret of ours is left to it (Inject).
  std::erase_if(known.secrets, [](const auto& one) { return !one.second.IsOurs(); });
  if (known.secrets.empty()) return kept;
  for (const kube::ObjectId& id : targets) kept.Add(id, Inject(ctx, id, known, kept));
  return kept;
}

// Who doesn't trust comes first: before that nothing new is served. What fails holds up nothing else.
Certifier::Kept Certifier::Keep(const Context& ctx, const Observation& o, const std::vector<kube::ObjectId>& due) {
  Kept kept;
  Known known;
  const std::string provider = o.provider.id.Key();
  const WallTime now = ctx.clock->Now();
  auto is_due = [&](const kube::ObjectId& id) { return std::find(due.begin(), due.end(), id) != due.end(); };
  for (const CertificateSeen& seen : o.fleet.certificates) {
    kept.Add(seen.id, Read(ctx, seen.id, known));
    // What isn't seen for a moment, since it was just written, issues all the same.
    if (known.secrets.contains(seen.id)) kept.Add(seen.id, ReadIssuers(ctx, {seen.id}, known));
  }
  for (const BundleSeen& target : o.fleet.bundles) {
    known.targets.push_back(target.id);
    if (is_due(target.id)) known.unsure[target.id] = target.ca_from;
  }
  ReadUnseen(ctx, o, known, kept);
  NoteInjections(ctx, provider, known);  // what they trust settles from when they all trust it, and not before
  for (const kube::ObjectId& id : known.targets) {
    auto one = known.unsure.find(id);
    if (one == known.unsure.end()) continue;
    // One that somebody has changed is made right first: what it says now may be nobody's CA.
    const CertificateSecret* secret = known.Of(one->second);
    if (secret == nullptr || !secret->IsAsStated() || !secret->TrustsWhatIsServed(now)) continue;
    Status injected = Inject(ctx, id, known, kept);
    if (injected.ok()) known.unsure.erase(id);
    kept.Add(id, std::move(injected));
  }
  for (const kube::ObjectId& id : InOrder(known.secrets)) {
    const CertificateSecret& secret = known.secrets.at(id);
    const bool misleads = !secret.TrustsWhatIsServed(now) || !secret.IsAsStated();
    if (is_due(id) || misleads || known.IsIssuerWritten(id)) kept.Add(id, KeepSecret(ctx, id, known, kept));
  }
  if (!known.written.empty()) {  // what trusts these is told at once
    for (const kube::ObjectId& id : known.targets) {
      Status injected = Inject(ctx, id, known, kept);
      if (injected.ok()) {
        known.unsure.erase(id);
      } else {
        known.unsure.try_emplace(id);
      }
      kept.Add(id, std::move(injected));
    }
  }
  NoteInjections(ctx, provider, known);
  return kept;
}

// A kind whose watch isn't there, or an object that is awaited: a bundle that nobody has looked at trusts nobody.
void Certifier::ReadUnseen(const Context& ctx, const Observation& o, Known& known, Kept& kept) {
  if (!o.fleet.blind && !o.fleet.awaited) return;
  for (const auto& [id, entry] : o.inventory.entries()) {
    const bool seen = std::find(known.targets.begin(), known.targets.end(), id) != known.targets.end();
    if (seen || !HasBundles(id.group_kind())) continue;
    auto live = client_.Get(ctx, kube::Builtin(id.kind), "", id.name);
    if (!live.ok() && live.code() == Code::kNotFound) continue;
    if (!live.ok()) {
      known.unsure.try_emplace(id);
      kept.Add(id, live.error().With(id.ToString()));
      continue;
    }
    const CertificateMarks marks = MarksIn(*live);
    const CertificateSecret* secret = known.Of(marks.ca_from);
    if (secret == nullptr) continue;
    known.targets.push_back(id);
    if (marks.came || !SaysOf(marks.bundle, secret->BundleHash(), marks.held)) known.unsure[id] = marks.ca_from;
  }
}

Status Certifier::ReadTargets(const Context& ctx, Known& known) {
  if (known.live) return Ok();
  std::map<kube::ObjectId, kube::Object> live;
  for (const kube::ObjectId& id : known.targets) {
    auto target = client_.Get(ctx, kube::Builtin(id.kind), "", id.name);
    if (!target.ok() && target.code() != Code::kNotFound) return target.error().With(id.ToString());
    if (target.ok()) live.emplace(id, *std::move(target));
  }
  known.live = std::move(live);
  return Ok();
}

// A new certificate that nobody trusts yet: first whoever has to trust it, then the Secret; but nobody is to trust what
// can't be written. What a crash in between leaves behind is a CA too many. All other steps keep that order by
// themselves.
Status Certifier::KeepSecret(const Context& ctx, const kube::ObjectId& id, Known& known, Kept& kept) {
  for (int reads = 1; known.secrets.contains(id); ++reads) {
    CertificateSecret was = known.secrets.at(id);
    if (!was.IsOurs()) return Ok();
    Status ended = MakeSecret(ctx, id, known, kept);
    if (ended.ok()) return ended;
    if (known.uncertain.contains(id)) {  // it may be there: what trusts it stays as it is, until it is read again
      known.secrets.erase(id);
      return ended;
    }
    known.secrets[id] = std::move(was);  // nobody is to be issued by, or to trust, what wasn't written
    if (ended.code() != Code::kConflict || reads == kMostReads) return ended;
    TRY(Read(ctx, id, known));  // somebody has written it since, and what he has made of it counts
  }
  return Ok();
}

// Somebody may have put it back since it was read.
Status Certifier::StaysGone(const Context& ctx, const kube::ObjectId& id) {
  auto live = client_.Get(ctx, kube::Builtin("Secret"), id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() == Code::kNotFound) return Ok();
  if (!live.ok()) return live.error().With(id.ToString());
  return Error{Code::kConflict, fmt::format("{}: it came back while its certificate was made", id.ToString()), {}};
}

Status Certifier::MakeSecret(const Context& ctx, const kube::ObjectId& id, Known& known, Kept& kept) {
  CertificateSecret& secret = known.secrets.at(id);
  if (!secret.type().empty() && secret.type() != certificates::kSecretType) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: it has type {}, which nobody can change to {}: delete it, if nobody else needs it",
                             id.ToString(), secret.type(), certificates::kSecretType),
                 {}};
  }
  const WallTime now = ctx.clock->Now();
  const certificates::SecretData before = secret.data();
  const bool is_new = !secret.HasState();
  const bool targets = !known.targets.empty() || !known.unsure.empty();
  certificates::Injected injected{targets, InjectedSince(id, secret.BundleHash())};
  certificates::Decision decision = TRY_WITH(secret.Decide(known.secrets, injected, now), id.ToString());
  const std::string told = Told(id, decision);
  if (decision.step == certificates::Step::kBlocked) {
    return Error{Code::kFailedPrecondition, fmt::format("{}: {}", id.ToString(), decision.why), {}};
  }
  const bool changes = Changes(decision);
  if (!changes && !secret.IsMisstated(decision, now)) return Ok();
  const bool is_first = decision.step == certificates::Step::kIssue;
  if (changes) {
    TRY(ReadTargets(ctx, known));
    TRY_WITH(secret.Take(decision, known.secrets, injected, known.BundlesOf(secret), now), id.ToString());
    injected.since.reset();
    decision = TRY_WITH(secret.Decide(known.secrets, injected, now), id.ToString());
  }
  const kube::Object apply = TRY_WITH(secret.ToApply(decision, now), id.ToString());
  auto without_values = [&](const Error& error) {
    return WithoutValues(WithoutValues(error, secret.data()), before).With(id.ToString());
  };
  if (is_first) {
    kube::WriteOptions dry = AsCertifier();
    dry.dry_run = true;
    auto tried = client_.Apply(ctx, kube::Builtin("Secret"), apply, dry);
    if (!tried.ok()) return without_values(tried.error());
    TRY(InjectAll(ctx, id, known, kept));
    if (secret.IsNew()) TRY(StaysGone(ctx, id));
  }
  auto written = client_.Apply(ctx, kube::Builtin("Secret"), apply, AsCertifier());
  if (!written.ok()) {
    if (!IsRefusal(written.code())) {
      tracks_.MarkUncertain(id);
      known.uncertain.insert(id);
    }
    return without_values(written.error());
  }
  tracks_.Expect(id, written->resource_version());
  ++kept.writes;
  if (secret.data() != before) known.written.insert(id);
  if (changes || is_new) kept.what.push_back(told);  // not when it is looked at again
  return Ok();
}

Status Certifier::InjectAll(const Context& ctx, const kube::ObjectId& id, Known& known, Kept& kept) {
  for (const auto& [target, live] : *known.live) {
    if (!known.secrets.at(id).IsNamedBy(MarksIn(live).ca_from)) continue;
    Status injected = Inject(ctx, target, known, kept);
    // One that is refused keeps no Secret from being made: without that no pod of the provider starts again.
    if (!injected.ok() && kube::IsOutage(injected.error())) return injected;
    kept.Add(id, std::move(injected));
  }
  return Ok();
}

// Only where the object says that it wants this CA, and only over what is nobody's or was ours before: an injector of
// somebody else's is left alone, and marked so, each webhook by itself.
Status Certifier::Inject(const Context& ctx, const kube::ObjectId& id, const Known& known, Kept& kept) {
  const kube::Resource& resource = kube::Builtin(id.kind);
  auto live = client_.Get(ctx, resource, "", id.name);
  if (!live.ok() && live.code() == Code::kNotFound) return Ok();
  if (!live.ok()) return live.error().With(id.ToString());
  const CertificateMarks marks = MarksIn(*live);
  const CertificateSecret* secret = known.Of(marks.ca_from);
  if (secret == nullptr) return Ok();
  if (!secret->TrustsWhatIsServed(ctx.clock->Now())) {
    return Error{Code::kUnavailable,
                 fmt::format("{}: ca.crt of the Secret for {} lacks the CA of tls.crt: that is made right first",
                             id.ToString(), marks.ca_from),
                 {}};
  }
  const std::vector<bool> others = known.OthersIn(*live, marks, ctx.clock->Now());
  const kube::Object bundles = BundlesFor(resource, *live, secret->Bundle(), secret->BundleHash(), others);
  if (HasThem(*live, bundles)) return Ok();
  auto written = client_.Apply(ctx, resource, bundles, AsCertifier());
  // It is gone, or another one of that name: its event comes.
  if (!written.ok() && written.code() == Code::kConflict) return Ok();
  if (!written.ok()) {
    tracks_.MarkUncertain(id);
    return written.error().With(id.ToString());
  }
  if (written->resource_version() == live->resource_version()) return Ok();
  if (const auto count = std::count(others.begin(), others.end(), true); count > 0) {
    kept.what.push_back(fmt::format("{}: {} of its {} caBundles {} somebody else's, and left as {}", id.ToString(),
                                    count, others.size(), count == 1 ? "is" : "are",
                                    count == 1 ? "it is" : "they are"));
  }
  tracks_.Expect(id, written->resource_version());
  ++kept.writes;
  return Ok();
}

void Certifier::NoteInjections(const Context& ctx, const std::string& provider, const Known& known) {
  MutexLock lock(mu_);
  for (const auto& [id, secret] : known.secrets) {
    const std::string bundle = secret.BundleHash();
    auto found = injections_.find(id);
    if (!known.IsTrusted(secret)) {
      injections_.erase(id);
    } else if (found == injections_.end() || found->second.bundle != bundle) {
      injections_[id] = {provider, bundle, ctx.clock->Now()};
    }
  }
}

std::optional<WallTime> Certifier::InjectedSince(const kube::ObjectId& secret, const std::string& bundle) {
  MutexLock lock(mu_);
  auto found = injections_.find(secret);
  if (found == injections_.end() || found->second.bundle != bundle) return std::nullopt;
  return found->second.since;
}

void Certifier::Ended(const Context& ctx, const std::string& provider, const Kept& kept) {
  Tell(provider, kept.what);
  const MonoTime now = ctx.clock->Monotonic();
  MutexLock lock(mu_);
  Record& record = records_[provider];
  record.tries.push_back(now);
  while (record.tries.front() + std::chrono::minutes(1) < now) record.tries.pop_front();
  record.of_keeping = !kept.hands_over;
  if (!kept.ended.ok()) {
    record.error = kept.ended.error();
  } else if (record.tries.size() >= kMostTries) {
    record.error = Error{Code::kUnavailable,
                         "certificates, or the CA bundles for them, are changed again and again by somebody else: stop "
                         "who does that",
                         {}};
  } else {
    record.error.reset();
    record.failures = 0;
    return;
  }
  Seconds wait = kFirstRetry;
  for (int i = 0; i < record.failures && wait < kLongestRetry; ++i) wait *= 2;
  if (kept.waits) {  // what else has failed is tried as late as before
    wait = kWaitingRetry;
  } else {
    ++record.failures;
  }
  record.next = now + std::min(wait, kLongestRetry);
}

CertificateTrouble Certifier::TroubleOf(Clock& clock, const std::string& provider) {
  MutexLock lock(mu_);
  auto record = records_.find(provider);
  if (record == records_.end() || !record->second.error) return {};
  return {record->second.error, std::max(std::chrono::ceil<Millis>(record->second.next - clock.Monotonic()), Millis(0)),
          record->second.of_keeping};
}

void Certifier::Tell(const std::string& provider, const std::vector<std::string>& what) {
  if (what.empty()) return;
  MutexLock lock(mu_);
  auto& news = records_[provider].news;
  news.insert(news.end(), what.begin(), what.end());
}

std::vector<std::string> Certifier::TakeNews(const std::string& provider) {
  MutexLock lock(mu_);
  auto record = records_.find(provider);
  return record == records_.end() ? std::vector<std::string>() : std::exchange(record->second.news, {});
}

void Certifier::Forget(const std::string& provider) {
  MutexLock lock(mu_);
  records_.erase(provider);
  std::erase_if(injections_, [&](const auto& one) { return one.second.provider == provider; });
}

}  // namespace capi::ops
