#include "base/http/resolver.h"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <optional>
#include <system_error>
#include <thread>

#include "base/http/url.h"
#include "base/mutex.h"

namespace capi::http {
namespace {

constexpr size_t kMostThreads = 8;

using Addresses = std::vector<std::string>;

Result<Addresses> AskSystem(const std::string& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  int error = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (error != 0) return Error{Code::kUnavailable, gai_strerror(error), {}};
  Addresses addresses;
  for (addrinfo* at = found; at != nullptr; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0)
      addresses.emplace_back(text);
  }
  freeaddrinfo(found);
  return addresses;
}

// One name's look-up and the calls that wait for it. Its members belong to the resolver's mutex.
struct Pending {
  std::string host;
  int waiting = 0;
  std::optional<Result<Addresses>> answer;
  std::condition_variable_any answered;
};
using PendingPtr = std::shared_ptr<Pending>;

}  // namespace

struct Resolver::State {
  State(LookUp function, size_t most) : look_up(std::move(function)), most_threads(most) {}

  // The next that somebody waits for. The others are forgotten.
  PendingPtr Next() CAPI_REQUIRES(mu) {
    while (!queue.empty()) {
      PendingPtr next = std::move(queue.front());
      queue.pop_front();
      if (next->waiting > 0) return next;
      pending.erase(next->host);
    }
    return nullptr;
  }

  // The work of one thread, which ends when there is no more.
  void Run() CAPI_EXCLUDES(mu) {
    PendingPtr next;
    std::optional<Result<Addresses>> answer;
    while (true) {
      {
        MutexLock lock(mu);
        if (next) {
          next->answer = std::move(answer);
          pending.erase(next->host);
          next->answered.notify_all();
        }
        next = Next();
        if (!next) {
          --threads;
          return;
        }
      }
      answer = look_up(next->host);
    }
  }

  const LookUp look_up;
  const size_t most_threads;
  Mutex mu;
  size_t threads CAPI_GUARDED_BY(mu) = 0;
  std::deque<PendingPtr> queue CAPI_GUARDED_BY(mu);               // not begun
  std::map<std::string, PendingPtr> pending CAPI_GUARDED_BY(mu);  // begun or not, by name
};

Resolver::Resolver(LookUp look_up, size_t most_threads)
    : state_(std::make_shared<State>(std::move(look_up), most_threads)) {}
Resolver::~Resolver() = default;

Resolver& Resolver::System() {
  static auto* const resolver = new Resolver(AskSystem, kMostThreads);  // never destroyed: calls may outlast main
  return *resolver;
}

Result<Addresses> Resolver::Resolve(const Context& ctx, const std::string& host, MonoTime limit) {
  if (IsIpAddress(host)) return Addresses{host};
  State& state = *state_;
  MutexLock lock(state.mu);
  PendingPtr& slot = state.pending[host];
  if (!slot) {
    slot = std::make_shared<Pending>();
    slot->host = host;
    state.queue.push_back(slot);
  }
  const PendingPtr mine = slot;
  if (state.threads < state.most_threads && !state.queue.empty()) {
    try {
      std::thread([shared = state_] { shared->Run(); }).detach();
      ++state.threads;
    } catch (const std::system_error&) {
      // The machine has no more threads: those that run will come to it, or the call times out.
    }
  }
  ++mine->waiting;
  MonoTime end = ctx.deadline ? std::min(*ctx.deadline, limit) : limit;
  bool done = ctx.clock->WaitUntil(mine->answered, state.mu, ctx.stop, end, [&] { return mine->answer.has_value(); });
  --mine->waiting;
  if (done) {
    if (!mine->answer->ok()) return mine->answer->error().With("look up " + host);
    return mine->answer->value();
  }
  TRY(ctx.Check());
  if (ctx.deadline && *ctx.deadline <= limit) return Error{Code::kDeadlineExceeded, "deadline exceeded", {}};
  return Error{Code::kUnavailable, fmt::format("look up {}: timed out", host), {}};
}

}  // namespace capi::http
