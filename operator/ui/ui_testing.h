// For tests of the page: providers as the cluster has them, and a feed of them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "api/reasons.h"
#include "api/version.h"
#include "operator/ui/feed.h"

namespace capi::ops::ui {

// An object as the API server sends it. A value.
struct Sample {
  api::ProviderType type = api::ProviderType::kInfrastructure;
  std::string ns = "n", name = "aws";
  bool ready = true;
  std::string reason = std::string(api::reason::kWorkloadsReady), message = "all is well";
  Json spec = {{"version", "v1.0.0"}};
  Json status = Json::object();  // besides Ready
  std::string uid = {};          // by the key, where it is ""

  std::string Key() const { return api::ProviderId{type, ns, name}.Key(); }
};

inline kube::Object ObjectOf(const Sample& sample, int version = 1) {
  Json status = {{"installedVersion", "v1.0.0"}, {"contract", "v1beta2"}, {"observedGeneration", 1}};
  status["conditions"] = Json::array({{{"type", "Ready"},
                                       {"status", sample.ready ? "True" : "False"},
                                       {"reason", sample.reason},
                                       {"message", sample.message},
                                       {"lastTransitionTime", "2026-01-02T03:04:05Z"}}});
  for (const auto& [name, value] : sample.status.items()) {
    if (name == "conditions") {
      for (const Json& one : value) status["conditions"].push_back(one);
    } else {
      status[name] = value;
    }
  }
  return kube::Object(Json{{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                           {"kind", api::KindOf(sample.type).kind},
                           {"metadata",
                            {{"namespace", sample.ns},
                             {"name", sample.name},
                             {"uid", sample.uid.empty() ? sample.Key() : sample.uid},
                             {"resourceVersion", std::to_string(version)},
                             {"generation", 1}}},
                           {"spec", sample.spec},
                           {"status", status}});
}

// A cache with a feed of it. Thread-compatible.
class Watched {
 public:
  explicit Watched(
      FeedOptions options = {}, std::function<bool()> leads = [] { return true; })
      : feed(SystemClock(), std::move(leads), options) {
    feed.Follow(cache);
  }
  void Put(const Sample& sample) {
    auto object = std::make_shared<const kube::Object>(ObjectOf(sample, ++version_));
    cache.OnEvent(sample.type, std::exchange(objects_[sample.Key()], object), object);
  }
  void Remove(const Sample& sample) {
    cache.OnDelete(sample.type, objects_[sample.Key()]);
    objects_.erase(sample.Key());
  }
  // A pass over it that sees `fleet`, and that this version lies in the cluster.
  void Pass(const Sample& sample, Fleet fleet, const std::string& release = "v1.0.0") {
    Observation o;
    o.provider = *cache.Get(sample.Key())->provider;
    o.provider.uid = ObjectOf(sample).uid();
    o.fleet = std::move(fleet);
    o.releases = {{.ns = sample.ns, .name = "r", .version_text = release, .version = *api::Version::Parse(release)}};
    feed.OnPass(o, [](std::string text) { return text; });
  }

  Feed feed;
  ProviderCache cache{[this](const ProviderCache::Change& change) { feed.OnChange(change); }};

 private:
  int version_ = 0;
  std::map<std::string, kube::ObjectPtr> objects_;
};

inline bool SeesAll(const api::ProviderId&) { return true; }

inline Sample Core() {
  Sample core;
  core.type = api::ProviderType::kCore;
  core.ns = "capi-system";
  core.name = "cluster-api";
  return core;
}

inline Sample Held(std::string name, std::string_view reason, std::string message) {
  Sample out;
  out.name = std::move(name);
  out.ready = false;
  out.reason = reason;
  out.message = std::move(message);
  return out;
}

}  // namespace capi::ops::ui
