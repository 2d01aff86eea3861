#include "e2e/model/view.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "e2e/model/release.h"

namespace capi::e2e::model {
namespace {

constexpr Millis kOften{2}, kAnyway{100};
constexpr Seconds kCatchesUp{60};

std::uint64_t Version(const kube::Object& object) {
  return std::strtoull(object.resource_version().c_str(), nullptr, 10);
}

}  // namespace

View::View(kube::ControlPlane& plane) : client_(plane.NewClient("e2e-view")) {
  for (int who = 0; who < kMembers; ++who) Watch(api::ResourceOf(NamesOf(who).type), "");
  for (Part part : {Part::kCrd, Part::kConfig, Part::kRole, Part::kHook, Part::kDeployment}) {
    Watch(ResourceOf(part), kLabelOurs);
  }
  Watch(kube::Builtin("Namespace"), "");
  Watch(kube::Builtin("Pod"), "model", /*pods=*/true);
  for (const Watched& one : watched_) {
    kube::Informer* informer = one.informer.get();
    threads_.emplace_back([informer](std::stop_token stop) { informer->Run(Context{.stop = stop}); });
  }
  for (const Watched& one : watched_) {
    Status synced = one.informer->WaitForSync(Context{}.WithTimeout(kCatchesUp));
    EXPECT_TRUE(synced.ok()) << one.resource.kind << ": " << synced.error().message;
  }
}

void View::Watch(const kube::Resource& resource, const std::string& label, bool pods) {
  kube::InformerOptions options{.label_selector = label, .metadata_only = pods};
  options.transform = kube::DropManagedFields;
  const size_t at = watched_.size();
  auto changed = [this, at, pods](const kube::ObjectPtr&, const kube::ObjectPtr&) {
    if (pods) JudgePods(*watched_[at].informer);
    ++changes_;
  };
  watched_.push_back({resource, label, nullptr});
  watched_.back().informer = std::make_unique<kube::Informer>(*client_, resource, options, changed);
}

// After every event, so that no instant is left out.
void View::JudgePods(const kube::Informer& pods) {
  std::set<std::string> core, others;
  for (const auto& pod : pods.List()) {
    if (pod->deleting()) continue;
    (pod->label("model") == NameOf(kCore) ? core : others).insert(pod->label("contract"));
  }
  for (const std::string& one : core) {
    for (const std::string& other : others) {
      if (Fits(one, other)) continue;
      MutexLock lock(mu_);
      broken_ = fmt::format("the golden rule: a core of {} runs beside a provider of {}", one, other);
    }
  }
}

std::string View::GoldenRule() const {
  MutexLock lock(mu_);
  return broken_;
}

const View::Watched* View::Find(const kube::Resource& resource) const {
  for (const Watched& one : watched_) {
    if (one.resource.group == resource.group && one.resource.kind == resource.kind) return &one;
  }
  return nullptr;
}

kube::ObjectPtr View::Get(const kube::Resource& resource, const std::string& ns, const std::string& name) const {
  return Find(resource)->informer->Get(ns, name);
}

std::vector<kube::ObjectPtr> View::List(const kube::Resource& resource) const {
  return Find(resource)->informer->List();
}

void View::CatchUp(const kube::Resource& resource, const std::string& ns, const std::string& name) {
  const std::string& label = Find(resource)->label;
  auto caught = [&] {
    kube::ObjectPtr seen = Get(resource, ns, name);
    auto live = client_->Get(Context{}.WithTimeout(kCatchesUp), resource, ns, name, {.metadata_only = true});
    if (!live.ok()) return live.code() == Code::kNotFound && seen == nullptr;
    bool watched = label.empty() || live->has_label(label);
    return watched ? seen != nullptr && Version(*seen) >= Version(*live) : seen == nullptr;
  };
  EXPECT_TRUE(Await(caught, kCatchesUp)) << "the watch doesn't show " << name;
}

bool View::Await(const std::function<bool()>& done, Millis timeout) {
  std::uint64_t looked = 0;
  MonoTime next{};
  return kube::Eventually(
      [&] {
        const std::uint64_t now = changes_ + 1;
        const MonoTime time = SystemClock().Monotonic();
        if (now == looked && time < next) return false;
        looked = now;
        next = time + kAnyway;
        return done();
      },
      timeout, kOften);
}

}  // namespace capi::e2e::model
