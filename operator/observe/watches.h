// Watches that come and go with the providers: workloads, CRDs, and users' Secrets and ConfigMaps by name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "kube/cache/informer.h"

namespace capi::ops {

// Thread-safe. All watches end with the destructor.
class Watches {
 public:
  struct Key {
    kube::Resource resource;
    std::string ns, label_selector, field_selector;
    bool metadata_only = true;
    std::string ToString() const;
  };
  // `users` are the keys of the providers that asked for the watch.
  using Handler = std::function<void(const Key&, const std::set<std::string>& users, const kube::ObjectPtr& was,
                                     const kube::ObjectPtr& is)>;

  Watches(kube::Client& client, Handler handler);
  ~Watches();

  // The watch, started if need be, with its first state in place. It belongs to `user` until EndUse drops it. Blocks
  // while the first try to get that state goes on, and not again: kUnavailable, or why it failed, while there is none.
  Result<std::shared_ptr<kube::Informer>> Need(const Context& ctx, const Key& key, const std::string& user,
                                               std::function<void(kube::Object&)> transform = nullptr);
  // The same for what isn't needed: null where there is no state, and the first try is waited for once and shortly.
  std::shared_ptr<kube::Informer> IfThere(const Context& ctx, const Key& key, const std::string& user,
                                          std::function<void(kube::Object&)> transform = nullptr);
  kube::RestMapper& mapper() { return client_.mapper(); }
  // `user` needs only the watches that it asked for since BeginUse; others without a user end.
  void BeginUse(const std::string& user);
  void EndUse(const std::string& user);
  void Stop();

 private:
  struct Watch;
  std::shared_ptr<Watch> Start(const Context& ctx, const Key& key, const std::string& user,
                               std::function<void(kube::Object&)> transform);
  static Status AwaitState(const Context& ctx, const Watch& watch, Seconds silent);
  kube::Client& client_;
  Handler handler_;
  Mutex mu_;
  std::map<std::string, std::shared_ptr<Watch>> watches_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::ops
