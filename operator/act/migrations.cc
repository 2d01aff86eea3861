#include "operator/act/migrations.h"

#include <algorithm>

#include "operator/observe/tracks.h"
#include "operator/report/next_pass.h"

namespace capi::ops {
namespace {

constexpr Seconds kTellEvery{10};

// What fails and can't be seen to be mended: as everything else that isn't as it should be (F6).
Millis DelayAfter(int failures) {
  return std::min(kNowAndThen.base * (1 << std::min(failures - 1, 10)), kNowAndThen.max);
}

}  // namespace

Migrations::Migrations(Migrate migrate, std::function<void(const std::string& key)> wake, Clock& clock)
    : migrate_(std::move(migrate)), wake_(std::move(wake)), clock_(clock) {}

// While it runs, or waits for its turn behind another CRD's, nobody can say when it ends: the worker wakes who asked.
MigrationProgress Migrations::Describe(const Job& job) const {
  if (job.users.empty()) return {job.objects, {}, {}};
  MigrationProgress progress{job.objects, job.error, {}};
  if (job.error && !job.asked && !job.running) {
    progress.next = std::max(Millis(0), std::chrono::ceil<Millis>(job.not_before - clock_.Monotonic()));
  }
  return progress;
}

// What was done isn't so for good: an older version may be that of a cluster restored from a backup (F3).
MigrationProgress Migrations::Ask(const std::string& key, const CrdState& crd, bool runs) {
  MutexLock lock(mu_);
  Job& job = jobs_[crd.name];
  job.askers.insert(key);
  const MonoTime now = clock_.Monotonic();
  if (VersionNumber(crd.resource_version) <= job.done_at && now < job.seen_by) {
    return {job.objects, {}, std::chrono::ceil<Millis>(job.seen_by - now)};
  }
  if (runs && job.users.empty()) {
    job.error.reset();
    job.failures = 0;
    job.not_before = {};
  }
  job.users.insert(key);
  if (!job.running && !job.asked && now >= job.not_before) {
    job.asked = true;
    changed_.notify_all();
  }
  return Describe(job);
}

MigrationProgress Migrations::ProgressOf(const std::string& crd) {
  MutexLock lock(mu_);
  auto it = jobs_.find(crd);
  return it == jobs_.end() ? MigrationProgress{} : Describe(it->second);
}

void Migrations::Withdraw(const std::string& key) {
  MutexLock lock(mu_);
  for (auto& [name, job] : jobs_) Withdraw(job, key);
}

void Migrations::Withdraw(Job& job, const std::string& key) {
  if (job.users.erase(key) > 0 && job.users.empty()) job.asked = false;
}

void Migrations::Forget(const std::string& key) {
  MutexLock lock(mu_);
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = it->second;
    Withdraw(job, key);
    bool last = job.askers.erase(key) > 0 && job.askers.empty();
    it = last && !job.running ? jobs_.erase(it) : std::next(it);
  }
}

std::optional<std::string> Migrations::Next() {
  for (auto& [name, job] : jobs_) {
    if (job.asked) return name;
  }
  return std::nullopt;
}

void Migrations::Run(const Context& ctx) {
  while (!ctx.stop.stop_requested()) {
    std::optional<std::string> next;
    {
      MutexLock lock(mu_);
      clock_.WaitUntil(changed_, mu_, ctx.stop, MonoTime::max(), [this] {
        mu_.AssertHeld();
        return Next().has_value();
      });
      next = Next();
    }
    if (next && !ctx.stop.stop_requested()) RunOne(ctx, *next);
  }
}

void Migrations::RunOne(const Context& ctx, const std::string& crd) {
  lifecycle::MigrationCursor cursor;
  {
    MutexLock lock(mu_);
    auto it = jobs_.find(crd);
    if (it == jobs_.end() || !it->second.asked) return;  // withdrawn meanwhile
    Job& job = it->second;
    job.asked = false;
    job.running = true;
    job.done_at = 0;
    job.told = clock_.Monotonic();
    cursor = job.cursor;
    job.objects = cursor.objects;
  }
  auto ended = migrate_(ctx, crd, cursor, [&] { return Looked(crd, cursor.objects); });
  Ended(ctx, crd, cursor, ended);
}

// The log has no words of the server's: who they are told to hides what is secret of them first (I7).
void Migrations::Ended(const Context& ctx, const std::string& crd, const lifecycle::MigrationCursor& cursor,
                       const Result<std::string>& ended) {
  std::set<std::string> users;
  {
    MutexLock lock(mu_);
    auto it = jobs_.find(crd);
    Job& job = it->second;
    users = job.users;
    job.running = false;
    job.cursor = cursor;
    job.objects = cursor.objects;
    if (job.askers.empty()) {  // they went while it ran
      jobs_.erase(it);
    } else if (ended.ok()) {
      ctx.log.Info("migrated", {{"crd", crd}, {"objects", cursor.objects}});
      job = Job{.askers = std::move(job.askers),
                .objects = cursor.objects,
                .done_at = VersionNumber(ended.value()),
                .seen_by = clock_.Monotonic() + kWatchLag};
      if (job.done_at == 0) jobs_.erase(it);  // the CRD has gone
    } else if (ended.code() == Code::kCancelled) {
      job.asked = !users.empty();  // withdrawn, and asked for again before it ended
      return;
    } else {
      ctx.log.Info("not migrated", {{"crd", crd}, {"objects", cursor.objects}, {"code", CodeName(ended.error().code)}});
      Fail(job, ended.error());
    }
  }
  for (const std::string& key : users) wake_(key);
}

void Migrations::Fail(Job& job, const Error& error) {
  job.error = error;
  Millis delay = std::max(DelayAfter(++job.failures), error.retry_after.value_or(Millis(0)));
  job.not_before = clock_.Monotonic() + delay;
}

// An error where nobody needs the rest any more. Who comes further than the last try has no failure to tell.
Status Migrations::Looked(const std::string& crd, size_t objects) {
  std::set<std::string> users;
  {
    MutexLock lock(mu_);
    Job& job = jobs_.find(crd)->second;
    if (job.users.empty()) return Error{Code::kCancelled, "nobody needs " + crd + " migrated any more", {}};
    if (job.objects != objects) {
      job.objects = objects;
      job.error.reset();
      job.failures = 0;
    }
    if (clock_.Monotonic() < job.told + kTellEvery) return Ok();
    job.told = clock_.Monotonic();
    users = job.users;
  }
  for (const std::string& key : users) wake_(key);
  return Ok();
}

}  // namespace capi::ops
