// Installer::Resolve and Load: which version, where its release lies, and its texts, verified (behaviour.md I2, I3, I6,
// F6, T14).
#include <fmt/core.h>

#include "api/moves/upgrade_policy.h"
#include "api/reasons.h"
#include "base/strings.h"
#include "fetch/download.h"
#include "operator/act/install/installation.h"
#include "operator/act/install/installer.h"
#include "operator/decide/rules.h"
#include "operator/decide/upgrades/updates.h"

namespace capi::ops {
namespace {

constexpr std::chrono::minutes kFetchTime{2};
constexpr Seconds kNextTurn{60};  // whose turn has come is woken

namespace condition = api::condition;
namespace reason = api::reason;

std::string_view FetchReason(const Error& error) {
  switch (error.code) {
    case Code::kRateLimited: return reason::kRateLimited;
    case Code::kUnavailable:
    case Code::kDeadlineExceeded: return reason::kSourceUnreachable;
    case Code::kUnauthenticated:
    case Code::kPermissionDenied: return reason::kSourceCredentialsRejected;
    case Code::kFailedPrecondition: return reason::kVerificationFailed;
    default: return reason::kComponentsFetchError;
  }
}

// A source that doesn't have a version (`not_found`: or none at all) may have it later (a release is published, a
// ConfigMap applied): look again now and then.
Hold FetchHold(const Error& error, std::string_view not_found) {
  Hold hold = NotInstalled(error.code == Code::kNotFound ? not_found : FetchReason(error), error);
  if (error.code == Code::kNotFound && hold.retry == Retry::kOnChange) {
    hold.retry = Retry::kAt;
    hold.after = std::chrono::minutes(10);
  }
  // T6: the same wrong file as a rule; but nobody tells when the right one is there.
  if (error.code == Code::kFailedPrecondition) hold.retry = Retry::kRefused;
  return hold;
}

Hold NothingSelected(const Observation& o) {
  return Hold{std::string(condition::kProviderInstalled), std::string(reason::kNoReleaseFound),
              fmt::format("no ConfigMaps found with selector {} in namespace {}: create one with the keys metadata and "
                          "components; this provider then goes on",
                          ToJsonText(*o.provider.spec.fetch_config->selector), o.provider.id.ns),
              Retry::kWaiting};
}

Hold VersionNotStored(const Observation& o) {
  std::vector<std::string> found;
  for (const auto& release : o.releases) found.push_back(release.version_text);
  return Hold{std::string(condition::kProviderInstalled), std::string(reason::kVersionNotFound),
              fmt::format("none of the ConfigMaps that the selector finds in namespace {} has version {}; there are {}",
                          o.provider.id.ns, o.provider.spec.version, JoinNames(found, 10)),
              Retry::kWaiting};
}

// T9: what is kept in the cluster needs none for the source. Its watch wakes this provider.
Hold NoSecret(const api::ObjectRef& ref, std::string_view field) {
  return Hold{
      std::string(condition::kPreflightCheckPassed), std::string(reason::kSecretNotFound),
      fmt::format("Secret {}/{} ({}) doesn't exist: create it, this provider then goes on", ref.ns, ref.name, field),
      Retry::kWaiting};
}

// T13: others go on meanwhile.
Hold NoTurn() {
  return Hold{std::string(condition::kProviderInstalled), std::string(reason::kWaitingForSource),
              "its source isn't asked yet: those of other providers are, as many as may be at once", Retry::kTurn,
              kNextTurn};
}

// What is to be put in the place of a release in the cluster that isn't the right one.
std::string_view WhatIsRight(bool signed_right, bool rollback) {
  if (!signed_right) return "its signatures";
  return rollback ? "those of then" : "those that are asked for";
}

bool IsFromGit(const Observation& o) { return o.provider.spec.fetch_config && o.provider.spec.fetch_config->git; }

// T15: all of it, since a key that isn't known is an error.
Result<std::map<std::string, std::string>> GitSecretOf(const Context& ctx, kube::Client& client, const Observation& o) {
  const auto& secret = SourceSecretOf(o);
  if (!IsFromGit(o) || !secret) return std::map<std::string, std::string>();
  return ReadSecret(ctx.InOwnName(), client, secret->ref);
}

Context UntilEndOfFetch(const Context& ctx, const std::optional<MonoTime>& end) {
  Context out = ctx;
  if (end && (!out.deadline || *end < *out.deadline)) out.deadline = end;
  return out;
}

}  // namespace

// A Secret that has nothing for the source isn't read: it may be one that can't be. Of git: GitSecretOf.
Result<fetch::SourceCredentials> Installer::CredentialsOf(const Context& ctx, const Observation& o) {
  const auto& named = SourceSecretOf(o);
  if (IsFromGit(o) || !named || !named->exists) return fetch::SourceCredentials();
  return fetch::CredentialsIn(TRY(ReadSecret(ctx.InOwnName(), needs_.client, named->ref)));
}

// T14: once for each pass.
std::optional<Hold> Installer::ReadKeys(const Context& ctx, const Observation& o, Installation& m) {
  const auto& fetch = o.provider.spec.fetch_config;
  if (!fetch || !fetch->verify || m.keys) return std::nullopt;
  const api::ObjectRef& ref = fetch->verify->secret_ref;
  if (!o.keys_secret || !o.keys_secret->exists) return NoSecret(ref, "spec.fetchConfig.verify.secretRef");
  auto secret = ReadSecret(ctx.InOwnName(), needs_.client, ref);
  if (!secret.ok()) return NotAccepted(reason::kAPIServerUnavailable, secret.error());
  auto keys = verify::PublicKeys::Read(*secret);
  if (!keys.ok()) {
    return NotInstalled(
        reason::kVerificationFailed,
        keys.error().With(fmt::format("Secret {}/{} (spec.fetchConfig.verify.secretRef)", ref.ns, ref.name)));
  }
  m.keys = *std::move(keys);
  return std::nullopt;
}

// T14: nothing comes out of it that isn't verified. Needs ReadKeys.
std::unique_ptr<fetch::Repository> Installer::Verified(const Observation& o, const Installation& m,
                                                       std::unique_ptr<fetch::Repository> repository) {
  if (!m.keys) return repository;
  return releases::VerifiedRepository(std::move(repository), *m.keys, o.provider.id);
}

// spec.version, or the one that fits, and where that release lies.
std::optional<Hold> Installer::Resolve(const Context& ctx, Observation& o, Installation& m) {
  PhaseTimer timer(*ctx.clock, m.times, Phase::kFetch);
  if (auto hold = ReadKeys(ctx, o, m)) return hold;
  if (auto hold = DeclareWhatRuns(ctx, o)) return hold;
  if (HasSelector(o)) {
    if (o.releases.empty()) return NothingSelected(o);
    if (o.provider.spec.version.empty()) {
      auto repository =
          Verified(o, m, releases::StoredRepository(needs_.client, o.provider, o.releases, "the selected ConfigMaps"));
      if (auto hold = PickVersion(ctx, o, *repository)) return hold;
    }
    const StoredRelease* stored = WantedRelease(o);
    if (stored == nullptr) return VersionNotStored(o);
    m.stored = *stored;
    return std::nullopt;
  }
  // U8: what somebody put there isn't fetched, nor again.
  auto counts = [&](const StoredRelease* stored) { return stored != nullptr && (!m.forced || !stored->fetched); };
  if (!o.provider.spec.version.empty()) {
    // What a rollback brings back ran, wherever it came from.
    if (const StoredRelease* stored = WantedRelease(o, m.candidate.rollback); counts(stored)) {
      m.stored = *stored;
      m.may_fetch_again = stored->fetched && !m.candidate.rollback;
      return std::nullopt;
    }
  }
  if (auto hold = OpenSource(ctx, o, m)) return hold;
  if (!o.provider.spec.version.empty()) return std::nullopt;
  if (auto hold = PickFetched(ctx, o, m)) return hold;
  if (const StoredRelease* stored = WantedRelease(o); counts(stored)) {
    m.stored = *stored;
    m.may_fetch_again = stored->fetched;
  }
  return std::nullopt;
}

std::optional<Hold> Installer::OpenSource(const Context& ctx, const Observation& o, Installation& m, bool is_look) {
  if (o.source_secret && !o.source_secret->exists)
    return NoSecret(o.source_secret->ref,
                    IsFromGit(o) ? "spec.fetchConfig.git.secretRef" : "spec.fetchConfig.secretRef");
  auto credentials = CredentialsOf(ctx, o);
  if (!credentials.ok()) return NotAccepted(reason::kAPIServerUnavailable, credentials.error());
  auto git = GitSecretOf(ctx, needs_.client, o);
  if (!git.ok()) return NotAccepted(reason::kAPIServerUnavailable, git.error());
  auto repository = needs_.sources.Open(o.provider, *credentials, *git, is_look);
  if (!repository.ok()) return NotInstalled(reason::kFetchConfigValidationError, repository.error());
  m.repository = Verified(o, m, std::move(repository).value());
  return std::nullopt;
}

// T13: a turn, and the time that all requests to the source have together.
std::optional<Hold> Installer::BeginFetch(const Context& ctx, const Observation& o, Installation& m) {
  if (m.turn || m.repository->IsLocal()) return std::nullopt;
  m.turn = needs_.turns.Take(o.provider.id.Key());
  if (!m.turn) return NoTurn();
  m.fetch_until = ctx.clock->Monotonic() + kFetchTime;
  return std::nullopt;
}

std::optional<Hold> Installer::PickFetched(const Context& ctx, Observation& o, Installation& m) {
  if (auto hold = BeginFetch(ctx, o, m)) return hold;
  return PickVersion(ctx, o, *m.repository, m.fetch_until);
}

std::optional<Hold> Installer::PickVersion(const Context& ctx, Observation& o, fetch::Repository& repository,
                                           std::optional<MonoTime> until) {
  auto version = fetch::LatestVersion(UntilEndOfFetch(ctx.InOwnName(), until), repository, WantedContracts(o));
  if (!version.ok()) {
    return FetchHold(fetch::OfOwnLimit(ctx, version.error()).With("choosing a version"), reason::kNoReleaseFound);
  }
  if (!HasSelector(o)) newest_.Picked(o, *version);
  ctx.log.Info("chose a version", {{"version", version->ToString()}, {"from", repository.Describe()}});
  return Declare(ctx, o, version->ToString());
}

// U13: the newest one would be beyond what the policy may choose, and outside of its window.
std::optional<Hold> Installer::DeclareWhatRuns(const Context& ctx, Observation& o) {
  if (!o.provider.spec.version.empty()) return std::nullopt;
  const std::string version = api::VersionToDeclare(o.provider.status, o.provider.spec.upgrade_policy.type);
  return version.empty() ? std::nullopt : Declare(ctx, o, version);
}

// I3: it is written down before anything of it is done.
std::optional<Hold> Installer::Declare(const Context& ctx, Observation& o, const std::string& version) {
  auto written = needs_.writer.WriteVersion(ctx, o.provider, version);
  if (!written.ok()) return NotAccepted(reason::kAPIServerUnavailable, written.error());
  auto cached = needs_.cache.Get(o.provider.id.Key());
  if (cached) o.provider = *cached->provider;
  o.declared_version = version;
  o.provider.spec.version = api::VersionToRun(o.declared_version, o.provider.status, o.provider.annotations);
  return std::nullopt;
}

// U12: it is no try, and takes no turn of those who want to install something (T13): there is one look at a time.
Result<std::vector<api::AvailableUpgrade>> Installer::NewerVersions(const Context& ctx, const Observation& o) {
  const api::Version installed = TRY(api::Version::Parse(o.provider.status.installed_version));
  const MonoTime until = ctx.clock->Monotonic() + kFetchTime;
  Installation m;
  std::optional<Hold> hold = ReadKeys(ctx, o, m);
  if (!hold && HasSelector(o)) {
    m.repository =
        Verified(o, m, releases::StoredRepository(needs_.client, o.provider, o.releases, "the selected ConfigMaps"));
  } else if (!hold) {
    hold = OpenSource(ctx, o, m, /*is_look=*/true);
  }
  if (hold) {
    const bool is_outage = hold->retry == Retry::kBackoff;  // which time mends
    return Error{is_outage ? Code::kUnavailable : Code::kFailedPrecondition, std::move(hold->message), hold->after};
  }
  auto newer = fetch::NewerVersions(UntilEndOfFetch(ctx.InOwnName(), until), *m.repository, installed);
  if (!newer.ok()) return fetch::OfOwnLimit(ctx, newer.error()).With("looking for newer versions");
  std::vector<api::AvailableUpgrade> found;
  for (const fetch::NewerVersion& one : *newer) found.push_back({one.version.ToString(), one.contract, one.unread});
  return found;
}

// The texts of the release: from the cluster, else from its source, and then into the cluster (I14).
std::optional<Hold> Installer::Load(const Context& ctx, const Observation& o, Installation& m) {
  PhaseTimer timer(*ctx.clock, m.times, Phase::kFetch);
  if (!m.stored) return Fetch(ctx, o, m);
  auto release = releases::ReadRelease(ctx.InOwnName(), needs_.client, *m.stored);
  if (!release.ok()) return NotRead(reason::kComponentsFetchError, release.error());
  m.release = std::move(release).value();
  if (auto hold = ReadKeys(ctx, o, m)) return hold;
  Identify(o, m);
  const Status is_signed = m.keys ? releases::Verify(*m.keys, o.provider.id, m.release) : Ok();
  const Status right = is_signed.ok() ? CheckDigest(m.candidate) : is_signed;
  if (right.ok()) {
    m.turn.reset();  // there is nothing to fetch again
    return std::nullopt;
  }
  Error error = right.error().With(fmt::format("the release in ConfigMap {}/{}", m.stored->ns, m.stored->name));
  m.release = {};
  if (m.may_fetch_again) return FetchAgain(ctx, o, m, error);
  // Without it there is no way back (U5).
  const bool rollback = m.candidate.rollback;
  error.message +=
      fmt::format("; put {} there{}", WhatIsRight(is_signed.ok(), rollback), rollback ? "" : ", or delete it");
  return NotInstalled(reason::kVerificationFailed, error);
}

// T2, T14: what we have fetched isn't what the spec and the keys of today ask for, or what we have fetched any more.
std::optional<Hold> Installer::FetchAgain(const Context& ctx, const Observation& o, Installation& m, const Error& why) {
  m.stored.reset();
  std::optional<Hold> hold = m.repository ? std::nullopt : OpenSource(ctx, o, m);
  if (!hold) hold = Fetch(ctx, o, m);
  if (hold) {
    hold->message = fmt::format("{}; fetching it again: {}", why.message, hold->message);
  } else if (!m.remembered) {
    ctx.log.Warn("the release in the cluster isn't what is asked for: it was fetched again", {{"error", why.message}});
  }
  return hold;
}

std::optional<Hold> Installer::Fetch(const Context& ctx, const Observation& o, Installation& m) {
  auto version = api::Version::Parse(o.provider.spec.version);
  if (!version.ok()) return NotInstalled(reason::kIncorrectVersionFormat, version.error());
  if (auto kept = fetched_.Get(o.provider.id.Key(), InputsDigest(o, *version, ""), ctx.clock->Monotonic())) {
    m.turn.reset();
    m.release = std::move(*kept);
    Identify(o, m);
    m.fetched = m.remembered = true;
    return std::nullopt;
  }
  if (auto hold = BeginFetch(ctx, o, m)) return hold;
  auto release = fetch::GetRelease(UntilEndOfFetch(ctx, m.fetch_until), *m.repository, *version,
                                   /*signatures=*/m.keys.has_value());
  m.turn.reset();
  if (!release.ok()) {
    return FetchHold(fetch::OfOwnLimit(ctx, release.error()).With(m.repository->Describe()), reason::kVersionNotFound);
  }
  m.release = std::move(release).value();
  Identify(o, m);
  m.fetched = true;
  ctx.log.Info("fetched", {{"release", m.release.source}, {"bytes", m.release.components.size()}});
  return std::nullopt;
}

// For the next look, where something holds the installation back before the release is stored. A folder is read anew,
// and so is a source that had the wrong file (T6).
void Installer::KeepFetched(const Context& ctx, const Observation& o, const Installation& m) {
  const std::string key = o.provider.id.Key();
  if (m.stored) fetched_.Drop(key);
  if (!m.fetched || m.stored || m.remembered || m.wrong_file || m.repository->IsLocal()) return;
  fetched_.Put(key, InputsDigest(o, m.release.version, ""), m.release, ctx.clock->Monotonic());
}

}  // namespace capi::ops
