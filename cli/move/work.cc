#include "cli/move/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "api/text.h"
#include "base/run_all.h"

namespace capi::cli::move {
namespace {

// A server answers so many of one client at once without others noticing.
constexpr size_t kThreads = 10;
constexpr size_t kMostErrors = 10;
constexpr size_t kErrorsTold = 3;
// As clusterctl's: ten tries, 0.5 s to 13 s apart.
constexpr int kTries = 10;
constexpr Millis kFirstPause(500);

bool IsHidden(Hidden hidden, std::string_view warning) {
  if (hidden != Hidden::kSome) return hidden == Hidden::kAll;
  auto says = [&](std::string_view words) { return warning.find(words) != warning.npos; };
  if (says(" is deprecated; use ")) return true;
  return warning.starts_with("metadata.finalizers:") && says("prefer a domain-qualified finalizer name");
}

Status Together(const std::vector<Error>& errors) {
  if (errors.empty()) return Ok();
  Error out = errors.front();
  for (size_t i = 1; i < std::min(errors.size(), kErrorsTold); ++i) out.message += "; " + errors[i].message;
  if (errors.size() > kErrorsTold) out.message += fmt::format("; and {} more", errors.size() - kErrorsTold);
  return out;
}

}  // namespace

Result<Hidden> ParseHidden(const std::string& text) {
  if (text == "default") return Hidden::kSome;
  if (text == "all") return Hidden::kAll;
  if (text == "none") return Hidden::kNone;
  return Error{
      Code::kInvalidArgument,
      fmt::format("set of API warnings {} is unknown; choose \"default\", \"all\", or \"none\"", api::GoQuote(text)),
      {}};
}

void Progress::Say(int level, const std::string& message, Notes::Fields fields) {
  MutexLock lock(mu_);
  notes_.Say(level, message, fields);
}

void Progress::Warn(const std::string& message) {
  MutexLock lock(mu_);
  notes_.Warn(message);
}

void Progress::Tell(const std::vector<std::string>& warnings_of_server) {
  MutexLock lock(mu_);
  for (const std::string& warning : warnings_of_server) {
    if (IsHidden(hidden_, warning) || std::find(told_.begin(), told_.end(), warning) != told_.end()) continue;
    notes_.Say(0, "[API Server Warning] " + warning);
    told_.push_back(warning);
  }
}

Status Retried(const Context& ctx, const std::function<Status()>& once) {
  Millis pause = kFirstPause;
  for (int tries = 1;; ++tries) {
    Status done = once();
    if (done.ok() || !done.error().Transient() || tries == kTries) return done;
    if (!ctx.clock->Sleep(ctx.stop, pause)) return done;
    pause = pause * 3 / 2;
  }
}

Status ForEach(const Context& ctx, const std::vector<size_t>& which, const std::function<Status(size_t)>& each) {
  std::atomic<size_t> next = 0;
  Mutex mu;
  std::vector<Error> errors;
  auto work = [&] {
    for (size_t at = 0; (at = next++) < which.size();) {
      {
        MutexLock lock(mu);
        if (errors.size() >= kMostErrors) return;
      }
      Status done = Retried(ctx, [&] { return each(which[at]); });
      if (done.ok()) continue;
      MutexLock lock(mu);
      errors.push_back(done.error());
    }
  };
  size_t threads = std::min(kThreads, which.size());
  RunAll(threads, std::vector<std::function<void()>>(threads, work));
  return Together(errors);
}

Status ForEach(const Context& ctx, size_t count, const std::function<Status(size_t)>& each) {
  std::vector<size_t> which(count);
  std::iota(which.begin(), which.end(), 0);
  return ForEach(ctx, which, each);
}

}  // namespace capi::cli::move
