#include "kube/client/rest_mapper.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

constexpr Seconds kAskAgainAfter(1);
// Of several API servers each hears of a CRD by itself.
constexpr Seconds kDiscoveryLag(30);

// Kubernetes' order of versions: v2, v1, v1beta2, v1beta1, v1alpha1, then anything else. Larger is preferred.
std::tuple<int, int, int> Priority(std::string_view version) {
  auto number = [&](size_t& at) {
    int out = 0;
    bool any = false;
    while (at < version.size() && version[at] >= '0' && version[at] <= '9' && out < 1'000'000) {
      out = out * 10 + (version[at++] - '0');
      any = true;
    }
    return any ? out : -1;
  };
  size_t at = 1;
  int major = version.starts_with("v") ? number(at) : -1;
  if (major < 0) return {0, 0, 0};
  if (at == version.size()) return {3, major, 0};
  int stage = version.substr(at).starts_with("beta") ? 2 : version.substr(at).starts_with("alpha") ? 1 : 0;
  at += stage == 2 ? 4 : 5;
  if (stage == 0 || at > version.size()) return {0, 0, 0};
  return {stage, major, number(at)};
}

const Resource* FindVersion(const std::vector<Resource>& versions, std::string_view version) {
  auto it = std::find_if(versions.begin(), versions.end(),
                         [&](const Resource& r) { return version.empty() || r.version == version; });
  return it == versions.end() ? nullptr : &*it;
}

}  // namespace

std::optional<Resource> RestMapper::Lookup(const GroupKind& kind, std::string_view version) const {
  const Resource* found = FindBuiltin(kind);
  if (found != nullptr && (version.empty() || version == found->version)) return *found;
  auto learned = learned_.find(kind);
  auto discovered = discovered_.find(kind);
  found = learned != learned_.end()         ? FindVersion(learned->second.versions, version)
          : discovered != discovered_.end() ? FindVersion(discovered->second, version)
                                            : nullptr;
  return found == nullptr ? std::nullopt : std::optional<Resource>(*found);
}

bool RestMapper::AskedJustNow() const { return last_refresh_ && clock_.Monotonic() - *last_refresh_ < kAskAgainAfter; }

bool RestMapper::IsSettled(const GroupKind& kind, std::string_view version, long need) const {
  if (!Lookup(kind, version)) return false;
  return covered_ >= need || AskedJustNow() || FindBuiltin(kind) != nullptr || learned_.contains(kind);
}

std::optional<Resource> RestMapper::Known(const GroupKind& kind, std::string_view version) {
  MutexLock lock(mu_);
  return Lookup(kind, version);
}

Result<RestMapper::Finding> RestMapper::Look(const Context& ctx, const GroupKind& kind, std::string_view version) {
  Status asked = Ask(ctx, &kind, version);
  if (!asked.ok()) TRY_WITH(ctx.Check(), "waiting for discovery");
  MutexLock lock(mu_);
  Finding found{Lookup(kind, version), stale_.contains(kind.group)};
  if (!found.resource && !asked.ok()) return asked.error();
  return found;
}

Result<Resource> RestMapper::For(const Context& ctx, const GroupKind& kind, std::string_view version) {
  Finding found = TRY(Look(ctx, kind, version));
  if (found.resource) return *std::move(found.resource);
  std::string what = version.empty() ? kind.ToString() : fmt::format("{} at {}", kind.ToString(), version);
  if (found.group_is_stale) return GroupIsAway(what);
  return Error{Code::kNotFound, fmt::format("the API server has no kind {}", what), {}};
}

Result<Resource> RestMapper::ForAnew(const Context& ctx, const GroupKind& kind) {
  Forget(kind);
  TRY(Ask(ctx, nullptr, ""));
  return For(ctx, kind);
}

void RestMapper::Learn(const GroupKind& kind, std::vector<Resource> versions) {
  std::stable_sort(versions.begin(), versions.end(),
                   [](const Resource& a, const Resource& b) { return Priority(a.version) > Priority(b.version); });
  MutexLock lock(mu_);
  learned_[kind] = {std::move(versions), clock_.Monotonic()};
}

void RestMapper::Forget(const GroupKind& kind) {
  MutexLock lock(mu_);
  learned_.erase(kind);
  ++invalidations_;
}

void RestMapper::Invalidate() {
  MutexLock lock(mu_);
  ++invalidations_;
}

Result<std::vector<Resource>> RestMapper::All(const Context& ctx, std::set<std::string>* away) {
  TRY(Ask(ctx, nullptr, ""));
  MutexLock lock(mu_);
  std::vector<Resource> out;
  for (const auto& [kind, versions] : discovered_) out.insert(out.end(), versions.begin(), versions.end());
  if (away != nullptr) *away = stale_;
  return out;
}

Status RestMapper::Ask(const Context& ctx, const GroupKind* kind, std::string_view version) {
  {
    MutexLock lock(mu_);
    const long need = invalidations_;
    const auto came = last_refresh_;
    for (;;) {
      if (kind != nullptr && IsSettled(*kind, version, need)) return Ok();
      const bool just_now = AskedJustNow();
      if (tried_ >= need && (just_now || last_refresh_ != came)) return last_outcome_;
      if (!asking_ && !just_now) break;
      MonoTime until = ctx.deadline.value_or(MonoTime::max());
      if (!asking_) {
        until = std::min(until, ctx.clock->Monotonic() + (*last_refresh_ + kAskAgainAfter - clock_.Monotonic()));
      }
      ctx.clock->WaitUntil(changed_, mu_, ctx.stop, until, [this, need, asking = asking_] {
        mu_.AssertHeld();
        return asking ? !asking_ : asking_ || tried_ >= need;
      });
      TRY_WITH(ctx.Check(), "waiting for discovery");
    }
    asking_ = true;
  }
  return AskNow(ctx);
}

Status RestMapper::AskNow(const Context& ctx) {
  // Also where what the server says throws: nobody would ask any more.
  struct Done {
    ~Done() {
      MutexLock lock(mapper.mu_);
      mapper.asking_ = false;
      mapper.changed_.notify_all();
    }
    RestMapper& mapper;
  } done{*this};
  long before = 0;
  const MonoTime began = clock_.Monotonic();
  {
    MutexLock lock(mu_);
    before = invalidations_;
  }
  Result<Discovery> discovery = Discover(ctx.InOwnName(), get_);  // it is for all
  MutexLock lock(mu_);
  Status outcome = discovery.ok() ? Ok() : Status(discovery.error());
  if (discovery.ok()) {
    Keep(std::move(discovery).value(), began);
    covered_ = before;
  }
  // The end of this caller's own context is no answer.
  if (outcome.ok() || ctx.Check().ok()) {
    last_refresh_ = clock_.Monotonic();
    last_outcome_ = outcome;
    tried_ = before;
  }
  return outcome;
}

void RestMapper::Keep(Discovery discovery, MonoTime asked) {
  Table table;
  for (Resource& r : discovery.resources) table[{r.group, r.kind}].push_back(std::move(r));
  // A group that doesn't answer now keeps what it last said.
  for (auto& [kind, versions] : discovered_) {
    if (discovery.stale.contains(kind.group) && !table.contains(kind)) table[kind] = std::move(versions);
  }
  std::erase_if(learned_, [&](const auto& entry) {
    return asked - entry.second.at >= kDiscoveryLag && !discovery.stale.contains(entry.first.group);
  });
  discovered_ = std::move(table);
  stale_ = std::move(discovery.stale);
}

}  // namespace capi::kube
