#include "kube/client/rest_mapper.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace capi::kube {
namespace {

constexpr Seconds kAskAgainAfter(1);

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
  const Resource* builtin = FindBuiltin(kind);
  if (builtin != nullptr && (version.empty() || version == builtin->version)) return *builtin;
  auto find = [&](const Table& table) {
    auto it = table.find(kind);
    return it == table.end() ? nullptr : FindVersion(it->second, version);
  };
  const Resource* learned = find(learned_);
  const Resource* discovered = find(discovered_);
  if (learned != nullptr && discovered != nullptr) {
    return Priority(discovered->version) > Priority(learned->version) ? *discovered : *learned;
  }
  if (learned != nullptr) return *learned;
  if (discovered != nullptr) return *discovered;
  return std::nullopt;
}

bool RestMapper::AskedJustNow() const { return last_refresh_ && clock_.Monotonic() - *last_refresh_ < kAskAgainAfter; }

std::optional<Resource> RestMapper::Known(const GroupKind& kind, std::string_view version) {
  MutexLock lock(mu_);
  if (covered_ != invalidations_ && !AskedJustNow()) discovered_.clear();
  return Lookup(kind, version);
}

Result<RestMapper::Finding> RestMapper::Look(const Context& ctx, const GroupKind& kind, std::string_view version) {
  if (auto known = Known(kind, version)) return Finding{std::move(known)};
  TRY(Refresh(ctx));
  MutexLock lock(mu_);
  return Finding{Lookup(kind, version), stale_.contains(kind.group)};
}

Result<Resource> RestMapper::For(const Context& ctx, const GroupKind& kind, std::string_view version) {
  Finding found = TRY(Look(ctx, kind, version));
  if (found.resource) return *std::move(found.resource);
  std::string what = version.empty() ? kind.ToString() : fmt::format("{} at {}", kind.ToString(), version);
  if (found.group_is_stale) {
    return Error{Code::kUnavailable, fmt::format("{}: the API of its group doesn't answer now", what), {}};
  }
  return Error{Code::kNotFound, fmt::format("the API server has no kind {}", what), {}};
}

void RestMapper::Learn(const Resource& resource) {
  MutexLock lock(mu_);
  std::vector<Resource>& versions = learned_[{resource.group, resource.kind}];
  std::erase_if(versions, [&](const Resource& r) { return r.version == resource.version; });
  auto at = std::find_if(versions.begin(), versions.end(),
                         [&](const Resource& r) { return Priority(r.version) < Priority(resource.version); });
  versions.insert(at, resource);
}

void RestMapper::Invalidate() {
  MutexLock lock(mu_);
  ++invalidations_;
}

Result<std::vector<Resource>> RestMapper::All(const Context& ctx) {
  TRY(Refresh(ctx));
  MutexLock lock(mu_);
  std::vector<Resource> out;
  for (const auto& [kind, versions] : discovered_) out.insert(out.end(), versions.begin(), versions.end());
  return out;
}

Status RestMapper::Refresh(const Context& ctx) {
  {
    MutexLock lock(mu_);
    while (asking_ || AskedJustNow()) {
      if (!asking_ && covered_ == invalidations_) return last_outcome_;
      MonoTime until = ctx.deadline.value_or(MonoTime::max());
      if (!asking_) {
        until = std::min(until, ctx.clock->Monotonic() + (*last_refresh_ + kAskAgainAfter - clock_.Monotonic()));
      }
      ctx.clock->WaitUntil(changed_, mu_, ctx.stop, until, [this, asking = asking_] {
        mu_.AssertHeld();
        return asking ? !asking_ : asking_ || covered_ == invalidations_;
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
  {
    MutexLock lock(mu_);
    before = invalidations_;
  }
  Result<Discovery> discovery = Discover(ctx, get_);
  MutexLock lock(mu_);
  Status outcome = discovery.ok() ? Ok() : Status(discovery.error());
  if (discovery.ok()) Keep(std::move(discovery).value());
  // The end of this caller's own context is no answer.
  if (outcome.ok() || ctx.Check().ok()) {
    last_refresh_ = clock_.Monotonic();
    last_outcome_ = outcome;
    covered_ = before;
  }
  return outcome;
}

void RestMapper::Keep(Discovery discovery) {
  Table table;
  for (Resource& r : discovery.resources) table[{r.group, r.kind}].push_back(std::move(r));
  // A group that doesn't answer now keeps what it last said.
  for (auto& [kind, versions] : discovered_) {
    if (discovery.stale.contains(kind.group) && !table.contains(kind)) table[kind] = std::move(versions);
  }
  discovered_ = std::move(table);
  stale_ = std::move(discovery.stale);
}

}  // namespace capi::kube
