#include "operator/act/certificates/certifier.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/kinds.h"
#include "base/encoding.h"
#include "kube/meta/kind.h"
#include "operator/act/certificates/ca_bundles.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/decide/certificates.h"
#include "operator/report/secret_values.h"

namespace capi::ops {
namespace {

constexpr Seconds kFirstRetry{10}, kLongestRetry{1800};
constexpr size_t kMostTries = 6;  // in a minute

std::string Quoted(std::string_view key) { return fmt::format("\"{}\":", key); }

bool Mentions(const kube::Manifest& manifest, std::string_view key) {
  return manifest.text.find(Quoted(key)) != std::string::npos;
}

bool IsCertManagers(const kube::Inventory& inventory) {
  return std::any_of(inventory.entries().begin(), inventory.entries().end(),
                     [](const auto& one) { return !one.second.stale && IsCertificateRequest(one.first); });
}

// A server, or a webhook of somebody's, may repeat what it refuses: private keys.
Error WithoutValues(const Error& error, const CertificateData& data) {
  SecretValues values;
  for (const auto& [name, value] : data) values.Add(value);
  return {error.code, values.Hide(error.message), error.retry_after};
}

kube::WriteOptions AsCertifier() {
  return {.field_manager = std::string(api::kCertificateManager), .metadata_only = true};
}

}  // namespace

// By name; and what has CA bundles, as far as it is asked for.
struct Certifier::Known {
  std::map<kube::ObjectId, CertificateSecret> secrets;
  std::vector<kube::ObjectId> targets;

  const CertificateSecret* Of(const std::string& ca_from) const {
    for (const auto& [id, secret] : secrets) {
      if (secret.Name() == ca_from) return &secret;
    }
    return nullptr;
  }
};

Status Certifier::Read(const Context& ctx, const kube::ObjectId& id, Known& known) {
  auto live = client_.Get(ctx, kube::Builtin("Secret"), id.ns, id.name);
  if (!live.ok() && live.code() == Code::kNotFound) return Ok();
  if (!live.ok()) return live.error().With(id.ToString());
  known.secrets[id].Live(*std::move(live));
  return Ok();
}

Certifier::Kept Certifier::Prepare(const Context& ctx, const std::vector<kube::Manifest>& manifests,
                                   const kube::Inventory& inventory) {
  Kept kept;
  Known known;
  for (const kube::Manifest& manifest : manifests) {
    if (!kube::Is(manifest.id, "", "Secret") || !Mentions(manifest, api::kAnnotationCertificate)) continue;
    auto json = ParseJson(manifest.text);
    if (json.ok()) known.secrets[manifest.id].Wanted(kube::Object(*std::move(json)));
  }
  if (known.secrets.empty()) return kept;
  for (const auto& [id, entry] : inventory.entries()) {
    if (HasBundles(id.group_kind())) known.targets.push_back(id);
  }
  std::vector<kube::ObjectId> ids;
  for (const auto& [id, secret] : known.secrets) ids.push_back(id);
  for (const kube::ObjectId& id : ids) {
    kept.failed = id;
    kept.ended = Read(ctx, id, known);
    if (!kept.ended.ok()) return kept;
  }
  for (const kube::ObjectId& id : InOrder(known.secrets)) {
    kept.failed = id;
    kept.ended = KeepSecret(ctx, id, known, kept);
    if (!kept.ended.ok()) return kept;
  }
  return kept;
}

Certifier::Kept Certifier::Trust(const Context& ctx, const std::vector<kube::Manifest>& manifests,
                                 const kube::Inventory& inventory) {
  Kept kept;
  std::vector<kube::ObjectId> targets;
  for (const kube::Manifest& manifest : manifests) {
    if (HasBundles(manifest.id.group_kind()) && Mentions(manifest, api::kAnnotationInjectCaFrom)) {
      targets.push_back(manifest.id);
    }
  }
  if (targets.empty() || IsCertManagers(inventory)) return kept;
  Known known;
  for (const auto& [id, entry] : inventory.entries()) {
    if (entry.stale || !kube::Is(id, "", "Secret")) continue;
    kept.failed = targets.front();
    kept.ended = Read(ctx, id, known);
    if (!kept.ended.ok()) return kept;
  }
  for (const kube::ObjectId& id : targets) {
    kept.failed = id;
    kept.ended = Inject(ctx, id, known, kept);
    if (!kept.ended.ok()) return kept;
  }
  return kept;
}

Certifier::Kept Certifier::Keep(const Context& ctx, const Observation& o, const std::vector<kube::ObjectId>& due) {
  Kept kept;
  Known known;
  for (const CertificateSeen& seen : o.fleet.certificates) {
    kept.failed = seen.id;
    kept.ended = Read(ctx, seen.id, known);
    if (!kept.ended.ok()) return kept;
  }
  for (const BundleSeen& target : o.fleet.bundles) known.targets.push_back(target.id);
  auto is_due = [&](const kube::ObjectId& id) { return std::find(due.begin(), due.end(), id) != due.end(); };
  for (const kube::ObjectId& id : InOrder(known.secrets)) {
    if (!is_due(id)) continue;
    kept.failed = id;
    kept.ended = KeepSecret(ctx, id, known, kept);
    if (!kept.ended.ok()) return kept;
  }
  for (const BundleSeen& target : o.fleet.bundles) {
    if (!is_due(target.id)) continue;
    kept.failed = target.id;
    kept.ended = Inject(ctx, target.id, known, kept);
    if (!kept.ended.ok()) return kept;
  }
  return kept;
}

// First whoever has to trust the new CA, then the Secret: nobody is shown a certificate that he doesn't trust. What a
// crash in between leaves behind is a CA too many, until the next try.
Status Certifier::KeepSecret(const Context& ctx, const kube::ObjectId& id, Known& known, Kept& kept) {
  CertificateSecret& secret = known.secrets.at(id);
  if (!secret.IsOurs()) return Ok();
  const CertificateSecret before = secret;
  auto change = secret.Next(known.secrets, ctx.clock->Now());
  if (!change.ok()) return change.error().With(id.ToString());
  if (!change->writes) return Ok();
  if (change->new_ca) {
    for (const kube::ObjectId& target : known.targets) TRY(Inject(ctx, target, known, kept));
  }
  auto written = client_.Apply(ctx, kube::Builtin("Secret"), secret.ToApply(), AsCertifier());
  if (!written.ok()) {
    tracks_.MarkUncertain(id);
    return WithoutValues(WithoutValues(written.error(), secret.data()), before.data()).With(id.ToString());
  }
  tracks_.Expect(id, written->resource_version());
  ++kept.writes;
  kept.what.push_back(change->what);
  return Ok();
}

// Only where the object says that it wants this CA: an injector of somebody else's is left alone.
Status Certifier::Inject(const Context& ctx, const kube::ObjectId& id, const Known& known, Kept& kept) {
  const kube::Resource& resource = kube::Builtin(id.kind);
  auto live = client_.Get(ctx, resource, "", id.name);
  if (!live.ok() && live.code() == Code::kNotFound) return Ok();
  if (!live.ok()) return live.error().With(id.ToString());
  const CertificateSecret* secret = known.Of(live->annotation(api::kAnnotationInjectCaFrom));
  if (secret == nullptr || secret->Bundle().empty()) return Ok();
  kube::Object bundles = BundlesFor(resource, *live, secret->Bundle(), secret->BundleHash());
  auto written = client_.Apply(ctx, resource, bundles, AsCertifier());
  // It is gone, or another one of that name: its event comes.
  if (!written.ok() && written.code() == Code::kConflict) return Ok();
  if (!written.ok()) {
    tracks_.MarkUncertain(id);
    return written.error().With(id.ToString());
  }
  if (written->resource_version() == live->resource_version()) return Ok();
  tracks_.Expect(id, written->resource_version());
  ++kept.writes;
  return Ok();
}

Status Certifier::Leave(const Context& ctx, const kube::ObjectId& id) {
  Json patch = Json::object();
  for (std::string_view name : {api::kAnnotationCertificate, api::kAnnotationCertificateState}) {
    patch["metadata"]["annotations"][std::string(name)] = nullptr;
  }
  auto left = client_.Patch(ctx, kube::Builtin("Secret"), id.ns, id.name, kube::PatchType::kMerge, patch, AsCertifier());
  if (!left.ok() && left.code() == Code::kNotFound) return Ok();
  if (!left.ok()) return left.error().With(id.ToString());
  tracks_.Expect(id, left->resource_version());
  return Ok();
}

void Certifier::Ended(const Context& ctx, const std::string& provider, const Kept& kept) {
  const MonoTime now = ctx.clock->Monotonic();
  MutexLock lock(mu_);
  Record& record = records_[provider];
  record.news.insert(record.news.end(), kept.what.begin(), kept.what.end());
  record.tries.push_back(now);
  while (record.tries.front() + std::chrono::minutes(1) < now) record.tries.pop_front();
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
  ++record.failures;
  record.next = now + std::min(wait, kLongestRetry);
}

CertificateTrouble Certifier::TroubleOf(Clock& clock, const std::string& provider) {
  MutexLock lock(mu_);
  auto record = records_.find(provider);
  if (record == records_.end() || !record->second.error) return {};
  return {record->second.error,
          std::max(std::chrono::ceil<Millis>(record->second.next - clock.Monotonic()), Millis(0))};
}

std::vector<std::string> Certifier::TakeNews(const std::string& provider) {
  MutexLock lock(mu_);
  auto record = records_.find(provider);
  return record == records_.end() ? std::vector<std::string>() : std::exchange(record->second.news, {});
}

void Certifier::Forget(const std::string& provider) {
  MutexLock lock(mu_);
  records_.erase(provider);
}

}  // namespace capi::ops
