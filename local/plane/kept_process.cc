#include "local/plane/kept_process.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::local {
namespace {

constexpr Millis kFirstPause{200}, kLongestPause{5000}, kLong{10'000};
constexpr Millis kAskedAgain{5000};  // one that was ready
constexpr Millis kLasts{2000};       // one that ended before
constexpr size_t kLogLines = 3, kLongestMessage = 500;

}  // namespace

KeptProcess::KeptProcess(KeptProcessOptions options, Clock& clock) : options_(std::move(options)), clock_(clock) {
  state_.name = options_.name;
  state_.port = options_.port;
}

void KeptProcess::Look() {
  if (process_) {
    auto end = process_->Wait(Millis(0));
    if (!end) return LookWhetherReady();
    Ended(*end);
  }
  if (clock_.Monotonic() >= next_) Start();
}

void KeptProcess::Start() {
  auto started = Process::Start(options_.command);
  started_ = clock_.Monotonic();
  if (!started.ok()) {
    state_.message = started.error().message;
    pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
    next_ = started_ + pause_;
    return;
  }
  process_ = std::move(*started);
  state_.pid = process_->pid();
  state_.started = clock_.Now();
  asked_ = {};
  LookWhetherReady();
}

void KeptProcess::Ended(int code) {
  const MonoTime now = clock_.Monotonic();
  state_.message = fmt::format("it ended with exit code {}: {}", code,
                               Shorten(ReplaceAll(process_->LogTail(kLogLines), "\n", " "), kLongestMessage));
  process_.reset();
  state_.pid = 0;
  state_.ready = false;
  ++state_.restarts;
  if (now - started_ >= kLong) pause_ = Millis(0);
  next_ = now + pause_;
  pause_ = std::clamp(pause_ * 2, kFirstPause, kLongestPause);
}

void KeptProcess::LookWhetherReady() {
  const MonoTime now = clock_.Monotonic();
  if (!options_.is_ready) {
    // One that ends again and again runs in most looks.
    state_.ready = state_.restarts == 0 || now - started_ >= kLasts;
    // Why the one before it ended is told until this one has shown that it lasts.
    if (now - started_ >= kLong) state_.message.clear();
    return;
  }
  if (state_.ready && now - asked_ < kAskedAgain) return;
  asked_ = now;
  state_.ready = options_.is_ready();
  if (state_.ready) state_.message.clear();
}

void KeptProcess::Stop() {
  if (process_) process_->Stop(options_.stop_signal, options_.grace);
  process_.reset();
  state_.pid = 0;
  state_.ready = false;
}

}  // namespace capi::local
