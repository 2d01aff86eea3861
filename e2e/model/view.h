// What the cluster has of the model's objects, as watches show it: a look at it costs the API server nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "kube/cache/informer.h"
#include "kube/testing/control_plane.h"

namespace capi::e2e::model {

// Thread-compatible; its watches run in threads of their own.
class View {
 public:
  // Returns with the first state of everything.
  explicit View(kube::ControlPlane& plane);

  kube::ObjectPtr Get(const kube::Resource& resource, const std::string& ns, const std::string& name) const;
  std::vector<kube::ObjectPtr> List(const kube::Resource& resource) const;

  // Until it shows what the server has of this object now, or later: what one wrote is seen then.
  void CatchUp(const kube::Resource& resource, const std::string& ns, const std::string& name);
  // Asks `done` whenever something has changed, and now and then.
  bool Await(const std::function<bool()>& done, Millis timeout);

  // How the golden rule was broken at any instant since the beginning (C1); "" if it never was.
  std::string GoldenRule() const;

 private:
  struct Watched {
    kube::Resource resource;
    std::string label;
    std::unique_ptr<kube::Informer> informer;
  };
  void Watch(const kube::Resource& resource, const std::string& label, bool pods = false);
  void JudgePods(const kube::Informer& pods);
  const Watched* Find(const kube::Resource& resource) const;

  std::unique_ptr<kube::Client> client_;
  std::vector<Watched> watched_;
  std::atomic<std::uint64_t> changes_ = 0;
  mutable Mutex mu_;
  std::string broken_ CAPI_GUARDED_BY(mu_);
  std::vector<std::jthread> threads_;
};

}  // namespace capi::e2e::model
