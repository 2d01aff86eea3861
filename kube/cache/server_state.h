// What the informers of one client know together of their API server: whether it is there, and whether it streams
// lists.
//
// docs/behaviour.md F3. The client itself spaces calls that get no answer; this spaces those that get a bad one, and
// keeps many informers from asking one by one whether the server is back.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <random>

#include "base/context.h"
#include "base/mutex.h"

namespace capi::kube {

class Client;

// Thread-safe.
class ServerState {
 public:
  // `probe` asks the server whether it is there; any answer but an outage will do.
  using Probe = std::function<Status(const Context&)>;
  ServerState(Probe probe, unsigned seed);
  // The one that all informers of `client` share.
  static std::shared_ptr<ServerState> Of(Client& client);

  bool streams_lists() const;
  void NoStreamedLists();  // the server has refused one

  // Waits before an informer asks again, after its `failures`-th failure in a row. Where `error` tells of an outage:
  // until the server is back, with one informer asking for all. The first failure costs no more; later ones an
  // exponential delay with jitter, and a second between any two informers. Returns early when stopped.
  void Wait(const Context& ctx, int failures, const Error& error);

 private:
  void AwaitServer(const Context& ctx) CAPI_EXCLUDES(mu_);
  Millis Jittered(Millis first, Millis longest, int doublings) CAPI_REQUIRES(mu_);

  const Probe probe_;
  mutable Mutex mu_;
  std::condition_variable_any changed_;
  bool streams_lists_ CAPI_GUARDED_BY(mu_) = true;
  bool probing_ CAPI_GUARDED_BY(mu_) = false;
  long answers_ CAPI_GUARDED_BY(mu_) = 0;  // probes that found the server there
  MonoTime next_turn_ CAPI_GUARDED_BY(mu_){};
  std::mt19937 random_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::kube
