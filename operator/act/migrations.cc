#include "operator/act/migrations.h"

#include <algorithm>

namespace capi::ops {
namespace {

constexpr Seconds kLater{60}, kTellEvery{10};

}  // namespace

Migrations::Migrations(Migrate migrate, std::function<void(const std::string& key)> wake, Clock& clock)
    : migrate_(std::move(migrate)), wake_(std::move(wake)), clock_(clock) {}

MigrationProgress Migrations::Describe(const Job& job) const {
  MigrationProgress progress{job.objects, job.error, {}};
  if (job.error) {
    progress.next = std::max(Millis(0), std::chrono::ceil<Millis>(job.not_before - clock_.Monotonic()));
  }
  return progress;
}

MigrationProgress Migrations::Ask(const std::string& key, const CrdState& crd) {
  MutexLock lock(mu_);
  Job& job = jobs_[crd.name];
  job.users.insert(key);
  if (!job.running) job.crd = crd;
  if (!job.running && !job.asked && clock_.Monotonic() >= job.not_before) {
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

void Migrations::Forget(const std::string& key) {
  MutexLock lock(mu_);
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = it->second;
    job.users.erase(key);
    it = job.users.empty() && !job.running ? jobs_.erase(it) : std::next(it);
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
  CrdState state;
  MigrationCursor cursor;
  {
    MutexLock lock(mu_);
    Job& job = jobs_[crd];
    job.asked = false;
    job.running = true;
    job.told = clock_.Monotonic();
    state = job.crd;
    cursor = job.cursor;
  }
  Status ended = migrate_(ctx, state, cursor, [&] { Looked(crd); });
  std::set<std::string> users;
  {
    MutexLock lock(mu_);
    Job& job = jobs_[crd];
    users = job.users;
    job.running = false;
    job.cursor = cursor;
    if (ended.ok()) {
      ctx.log.Info("migrated", {{"crd", crd}, {"objects", cursor.objects}});
      jobs_.erase(crd);
    } else {
      ctx.log.Info("not migrated", {{"crd", crd}, {"objects", cursor.objects}, {"error", ended.error().message}});
      job.error = ended.error();
      job.not_before = clock_.Monotonic() + std::max<Millis>(kLater, ended.error().retry_after.value_or(Millis(0)));
      if (users.empty()) jobs_.erase(crd);
    }
  }
  for (const std::string& key : users) wake_(key);
}

void Migrations::Looked(const std::string& crd) {
  std::set<std::string> users;
  {
    MutexLock lock(mu_);
    Job& job = jobs_[crd];
    ++job.objects;
    job.error.reset();
    if (clock_.Monotonic() < job.told + kTellEvery) return;
    job.told = clock_.Monotonic();
    users = job.users;
  }
  for (const std::string& key : users) wake_(key);
}

}  // namespace capi::ops
