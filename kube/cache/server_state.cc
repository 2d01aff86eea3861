#include "kube/cache/server_state.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kube/client/client.h"

namespace capi::kube {
namespace {

constexpr Millis kFirstDelay(100), kLongestDelay(10'000), kSpacing(1'000);
constexpr Millis kFirstProbeDelay(500), kLongestProbeDelay(5'000);
// The storage of a CRD that was just Established answers after a tenth of a second or two: no reason to queue up.
constexpr int kFailuresToQueue = 4;
constexpr Millis kProbeTimeout(5'000);

bool MayBeUnreachable(const Error& error) {
  return error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
}

}  // namespace

ServerState::ServerState(Probe probe, unsigned seed) : probe_(std::move(probe)), random_(seed) {}

std::shared_ptr<ServerState> ServerState::Of(Client& client) {
  static Mutex mu;
  static std::map<Client*, std::weak_ptr<ServerState>> states;
  MutexLock lock(mu);
  std::erase_if(states, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<ServerState> state = states[&client].lock();
  if (state == nullptr) {
    // Any answer will do: a server that isn't ready in one respect may serve what an informer asks for.
    auto probe = [&client](const Context& ctx) { return client.Ping(ctx); };
    state = std::make_shared<ServerState>(probe, std::random_device{}());
    states[&client] = state;
  }
  return state;
}

bool ServerState::streams_lists() const {
  MutexLock lock(mu_);
  return streams_lists_;
}

void ServerState::NoStreamedLists() {
  MutexLock lock(mu_);
  streams_lists_ = false;
}

Millis ServerState::Jittered(Millis first, Millis longest, int doublings) {
  double plain = static_cast<double>(first.count()) * std::exp2(std::min(doublings, 30));
  std::uniform_real_distribution<double> factor(0.75, 1.25);
  return Millis(std::llround(std::min(plain, static_cast<double>(longest.count())) * factor(random_)));
}

void ServerState::Wait(const Context& ctx, int failures, const Error& error) {
  if (MayBeUnreachable(error)) AwaitServer(ctx);
  Millis delay = error.retry_after.value_or(Millis(0));
  if (failures <= 1 && delay == Millis(0)) return;
  {
    MutexLock lock(mu_);
    delay = std::max(delay, Jittered(kFirstDelay, kLongestDelay, std::max(failures - 2, 0)));
  }
  if (!ctx.clock->Sleep(ctx.stop, delay) || failures < kFailuresToQueue) return;
  MonoTime now = ctx.clock->Monotonic(), turn;
  {
    MutexLock lock(mu_);
    turn = std::max(next_turn_, now);
    next_turn_ = turn + kSpacing;
  }
  ctx.clock->Sleep(ctx.stop, std::chrono::ceil<Millis>(turn - now));
}

void ServerState::AwaitServer(const Context& ctx) {
  MutexLock lock(mu_);
  const long answers = answers_;
  for (int failures = 0; answers_ == answers && !ctx.stop.stop_requested();) {
    if (probing_) {
      ctx.clock->WaitUntil(changed_, mu_, ctx.stop, MonoTime::max(), [&] {
        mu_.AssertHeld();
        return !probing_ || answers_ != answers;
      });
      continue;
    }
    probing_ = true;
    if (failures > 0) {
      Millis delay = Jittered(kFirstProbeDelay, kLongestProbeDelay, failures - 1);
      ctx.clock->WaitUntil(changed_, mu_, ctx.stop, ctx.clock->Monotonic() + delay, [] { return false; });
    }
    mu_.unlock();
    Status answer = probe_(ctx.WithTimeout(kProbeTimeout));
    mu_.lock();
    probing_ = false;
    ++failures;
    if (answer.ok() || (!MayBeUnreachable(answer.error()) && answer.code() != Code::kCancelled)) ++answers_;
    changed_.notify_all();
  }
}

}  // namespace capi::kube
