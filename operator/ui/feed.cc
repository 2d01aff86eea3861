#include "operator/ui/feed.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "operator/ui/node.h"

namespace capi::ops::ui {
namespace {

std::string Event(std::string_view name, const std::string& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

std::string ProviderEvent(std::uint64_t revision, const std::string& node) {
  return Event("provider", fmt::format(R"({{"revision":{},"provider":{}}})", revision, node));
}

}  // namespace

Feed::Feed(Clock& clock, std::function<bool()> leads, FeedOptions options)
    : clock_(clock), leads_(std::move(leads)), options_(options) {}

void Feed::Changed() {
  dirty_ = true;
  if (watched_) changed_.notify_all();
}

void Feed::OnChange(const ProviderCache::Change& change) {
  const std::string key = change.id.Key();
  MutexLock lock(mu_);
  if (!change.is) {
    facts_.erase(key);
    timeline_.Forget(key);
  } else if (change.was && change.was->uid == change.is->uid) {
    timeline_.Note(key, change.was->status, change.is->status, clock_.Now());
  }
  Changed();
}

void Feed::OnPass(const Observation& o, const std::function<std::string(std::string)>& hide) {
  const std::string key = o.provider.id.Key();
  Facts facts = FactsOf(o, hide);
  MutexLock lock(mu_);
  if (!providers_->Get(key)) return;  // it went meanwhile, and nobody would drop them
  std::shared_ptr<const Facts>& mine = facts_[key];
  if (mine && *mine == facts) return;
  mine = std::make_shared<const Facts>(std::move(facts));
  Changed();
}

std::int64_t Feed::Minute() const {
  return std::chrono::duration_cast<std::chrono::minutes>(clock_.Monotonic().time_since_epoch()).count();
}

void Feed::OnRestored(const api::ProviderId&, size_t objects) {
  MutexLock lock(mu_);
  const std::int64_t minute = Minute();
  auto& [when, count] = restored_[static_cast<size_t>(minute) % kMinutes];
  count = (when == minute ? count : 0) + objects;
  when = minute;
  Changed();
}

std::map<std::string, std::shared_ptr<const Facts>> Feed::AllFacts() const {
  MutexLock lock(mu_);
  return facts_;
}

std::string Feed::FleetText() const {
  size_t restored = 0;
  MutexLock lock(mu_);
  const std::int64_t oldest = Minute() - static_cast<std::int64_t>(kMinutes);
  for (const auto& [when, count] : restored_) restored += when > oldest ? count : 0;
  return ToJsonText({{"version", kProjectVersion}, {"leads", leads_()}, {"restoredInTheLastHour", restored}});
}

// Whatever isn't as it was shown last. Texts are made of those alone.
std::vector<Feed::News> Feed::Refresh() {
  std::vector<News> news;
  const std::vector<CachedPtr> all = providers_->All();
  const auto facts = AllFacts();
  std::map<std::string, Place> places = Connect(all);
  std::set<std::string> there;
  for (const CachedPtr& cached : all) {
    const std::string key = cached->provider->id.Key();
    there.insert(key);
    auto known = facts.find(key);
    std::shared_ptr<const Facts> mine = known == facts.end() ? nullptr : known->second;
    Shown& shown = shown_[key];
    if (shown.cached == cached && shown.facts == mine && shown.place == places[key]) continue;
    std::string text = ToJsonText(NodeOf(*cached, mine.get(), places[key]));
    const bool is_news = text != shown.text;
    shown = {cached, std::move(mine), places[key], std::move(text), is_news ? ++revision_ : shown.revision};
    if (is_news) news.push_back({ProviderEvent(shown.revision, shown.text), cached->provider->id});
  }
  for (auto it = shown_.begin(); it != shown_.end();) {
    if (there.contains(it->first)) {
      ++it;
      continue;
    }
    const std::string gone = fmt::format(R"({{"revision":{},"id":{}}})", ++revision_, ToJsonText(Json(it->first)));
    news.push_back({Event("gone", gone), it->second.cached->provider->id});
    it = shown_.erase(it);
  }
  if (std::string fleet = FleetText(); fleet != fleet_) {
    fleet_ = std::move(fleet);
    news.push_back({Event("fleet", fleet_), std::nullopt});
  }
  return news;
}

void Feed::Send(const std::vector<News>& news) {
  size_t size = 0;
  for (const News& one : news) size += one.text.size();
  for (const Viewer& viewer : viewers_) {
    std::string text;
    for (const News& one : news) {
      if (!one.of || viewer.sees(*one.of)) text += size > kMostAtOnce ? "" : one.text;
    }
    if (size > kMostAtOnce) text = Event("again", "{}");
    if (!text.empty()) viewer.stream->Send(std::move(text));
  }
}

void Feed::DropViewers(MonoTime now) {
  std::erase_if(viewers_, [now](const Viewer& viewer) {
    if (viewer.until <= now) viewer.stream->End();
    return viewer.stream->ended();
  });
  if (!viewers_.empty()) return;
  shown_.clear();
  fleet_.clear();
  MutexLock lock(mu_);
  watched_ = false;
}

std::string Feed::Snapshot(const Sees& sees) {
  MutexLock lock(show_mu_);
  Send(Refresh());
  std::string out = fmt::format(R"({{"revision":{},"fleet":{},"providers":[)", revision_, fleet_);
  bool first = true;
  for (const auto& [key, shown] : shown_) {
    if (!sees(shown.cached->provider->id)) continue;
    if (!std::exchange(first, false)) out += ',';
    out += shown.text;
  }
  DropViewers(clock_.Monotonic());
  return out + "]}";
}

std::optional<std::string> Feed::Details(const std::string& key, const Sees& sees) {
  CachedPtr cached = providers_->Get(key);
  if (!cached || !sees(cached->provider->id)) return std::nullopt;
  const std::map<std::string, Place> places = Connect(providers_->All());
  std::shared_ptr<const Facts> facts;
  std::vector<Transition> transitions;
  {
    MutexLock lock(mu_);
    if (auto found = facts_.find(key); found != facts_.end()) facts = found->second;
    transitions = timeline_.Of(key);
  }
  auto place = places.find(key);
  return ToJsonText(DetailsOf(*cached, facts.get(), place == places.end() ? Place{} : place->second, transitions));
}

kube::ObjectPtr Feed::Object(const std::string& key, const Sees& sees) const {
  CachedPtr cached = providers_->Get(key);
  return cached && sees(cached->provider->id) ? cached->object : nullptr;
}

std::vector<api::ProviderId> Feed::Ids() const {
  std::vector<api::ProviderId> out;
  for (const CachedPtr& cached : providers_->All()) out.push_back(cached->provider->id);
  return out;
}

std::shared_ptr<http::ServerStream> Feed::Join(Sees sees) {
  MutexLock lock(show_mu_);
  const MonoTime now = clock_.Monotonic();
  DropViewers(now);
  if (viewers_.size() >= options_.viewers) return nullptr;
  Send(Refresh());  // what comes from now on is news to this one, too
  auto stream = std::make_shared<http::ServerStream>(options_.waiting);
  stream->Send("retry: 1000\n" + Event("hello", fmt::format(R"({{"revision":{}}})", revision_)));
  viewers_.push_back({stream, std::move(sees), now + options_.longest});
  MutexLock short_lock(mu_);
  watched_ = true;
  changed_.notify_all();
  return stream;
}

void Feed::Tick() {
  MutexLock lock(show_mu_);
  DropViewers(clock_.Monotonic());
  if (!viewers_.empty()) Send(Refresh());
}

Status Feed::Run(const Context& ctx) {
  MonoTime beat = clock_.Monotonic() + options_.beat;
  while (!ctx.stop.stop_requested()) {
    bool news = false;
    {
      MutexLock lock(mu_);
      clock_.WaitUntil(changed_, mu_, ctx.stop, beat, [this] {
        mu_.AssertHeld();
        return dirty_ && watched_;
      });
      news = watched_ && std::exchange(dirty_, false);
    }
    if (news) Tick();
    if (clock_.Monotonic() >= beat) {
      beat = clock_.Monotonic() + options_.beat;
      Tick();
      MutexLock lock(show_mu_);
      for (const Viewer& viewer : viewers_) viewer.stream->Send(": still here\n\n");
    }
    if (!clock_.Sleep(ctx.stop, options_.tick)) break;  // what comes meanwhile is told together
  }
  MutexLock lock(show_mu_);
  for (const Viewer& viewer : viewers_) viewer.stream->End();
  viewers_.clear();
  return Ok();
}

}  // namespace capi::ops::ui
