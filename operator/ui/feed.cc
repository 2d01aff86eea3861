#include "operator/ui/feed.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/caught.h"
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

std::string IdEvent(std::string_view name, std::uint64_t revision, const std::string& key) {
  return Event(name, fmt::format(R"({{"revision":{},"id":{}}})", revision, ToJsonText(Json(key))));
}

// A viewer hears of no provider that he may not get, not even that this one waits for it (behaviour.md B5).
Place OfThoseSeen(Place place, const Sees& sees) {
  auto is_hidden = [&](const std::string& key) { return !sees(api::ProviderId::FromKey(key)); };
  std::erase_if(place.waits_for, is_hidden);
  if (!place.root.empty() && is_hidden(place.root)) place.root.clear();
  return place;
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
  // Gone; or made again while the watch was away, which tells of no deletion then.
  const bool is_another = change.was && change.is && change.was->uid != change.is->uid;
  if (!change.is || is_another) {
    facts_.erase(key);
    timeline_.Forget(key);
  } else if (change.was) {
    timeline_.Note(key, change.was->status, change.is->status, clock_.Now());
  }
  Changed();
}

void Feed::OnPass(const Observation& o, const std::function<std::string(std::string)>& hide) {
  const std::string key = o.provider.id.Key();
  Facts facts = FactsOf(o, hide);
  MutexLock lock(mu_);
  auto cached = providers_->Get(key);
  // It went meanwhile, and nobody would drop them; or it was made again, and they are of the former one.
  if (!cached || cached->provider->uid != o.provider.uid) return;
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
    const bool is_same = text == shown.text;
    shown = {cached, std::move(mine), places[key], std::move(text), ++revision_};
    // The details have more than the node has: whoever shows them fetches them again.
    std::string event = is_same ? IdEvent("touched", revision_, key) : ProviderEvent(revision_, shown.text);
    news.push_back({std::move(event), cached->provider->id, !is_same});
  }
  for (auto it = shown_.begin(); it != shown_.end();) {
    if (there.contains(it->first)) {
      ++it;
      continue;
    }
    news.push_back({IdEvent("gone", ++revision_, it->first), it->second.cached->provider->id});
    it = shown_.erase(it);
  }
  if (std::string fleet = FleetText(); fleet != fleet_) {
    fleet_ = std::move(fleet);
    news.push_back({Event("fleet", fleet_), std::nullopt});
  }
  return news;
}

std::string Feed::NodeFor(const Shown& shown, const Sees& sees) {
  const Place place = OfThoseSeen(shown.place, sees);
  return place == shown.place ? shown.text : ToJsonText(NodeOf(*shown.cached, shown.facts.get(), place));
}

std::string Feed::TextFor(const News& one, const Sees& sees) const {
  if (!one.of) return one.text;
  if (!sees(*one.of)) return "";
  if (!one.has_node) return one.text;
  const Shown& shown = shown_.at(one.of->Key());
  return ProviderEvent(shown.revision, NodeFor(shown, sees));
}

void Feed::Send(const std::vector<News>& news) {
  for (const Viewer& viewer : viewers_) {
    std::string text;
    for (const News& one : news) {
      text += TextFor(one, viewer.sees);
      if (text.size() <= kMostAtOnce) continue;
      text = Event("again", "{}");
      break;
    }
    if (!text.empty()) viewer.stream->Send(std::move(text));
    auto is_unasked = [&](const News& one) { return one.has_node && viewer.unasked && viewer.unasked(*one.of); };
    if (std::any_of(news.begin(), news.end(), is_unasked)) viewer.stream->End();
  }
}

// Whoever wasn't told of a part of it has to fetch all again: what was shown last counts as told to everybody.
void Feed::SendNews() {
  try {
    Send(Refresh());
  } catch (...) {
    EndStreams();
    throw;
  }
}

void Feed::EndStreams() {
  for (const Viewer& viewer : viewers_) viewer.stream->End();
  DropViewers(clock_.Monotonic());
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
  SendNews();
  std::string out = fmt::format(R"({{"revision":{},"fleet":{},"providers":[)", revision_, fleet_);
  bool first = true;
  for (const auto& [key, shown] : shown_) {
    if (!sees(shown.cached->provider->id)) continue;
    if (!std::exchange(first, false)) out += ',';
    out += NodeFor(shown, sees);
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
  auto found = places.find(key);
  const Place place = found == places.end() ? Place{} : OfThoseSeen(found->second, sees);
  return ToJsonText(DetailsOf(*cached, facts.get(), place, transitions));
}

kube::ObjectPtr Feed::Object(const std::string& key, const Sees& sees) const {
  CachedPtr cached = providers_->Get(key);
  return cached && sees(cached->provider->id) ? std::make_shared<const kube::Object>(cached->Object()) : nullptr;
}

std::vector<api::ProviderId> Feed::Ids() const {
  std::vector<api::ProviderId> out;
  for (const CachedPtr& cached : providers_->All()) out.push_back(cached->provider->id);
  return out;
}

std::shared_ptr<http::ServerStream> Feed::Join(Sees sees, Sees unasked) {
  MutexLock lock(show_mu_);
  const MonoTime now = clock_.Monotonic();
  DropViewers(now);
  if (viewers_.size() >= options_.viewers) return nullptr;
  SendNews();  // what comes from now on is news to this one, too
  auto stream = std::make_shared<http::ServerStream>(options_.waiting);
  stream->Send("retry: 1000\n" + Event("hello", fmt::format(R"({{"revision":{}}})", revision_)));
  // Came since `unasked` was made, and is no news any more.
  const bool is_late = unasked && std::any_of(shown_.begin(), shown_.end(), [&](const auto& one) {
                         return unasked(one.second.cached->provider->id);
                       });
  viewers_.push_back({stream, std::move(sees), std::move(unasked), now + options_.longest});
  if (is_late) stream->End();
  MutexLock short_lock(mu_);
  watched_ = true;
  changed_.notify_all();
  return stream;
}

void Feed::Tick(bool beat) {
  MutexLock lock(show_mu_);
  DropViewers(clock_.Monotonic());
  if (!viewers_.empty()) SendNews();
  if (!beat) return;
  for (const Viewer& viewer : viewers_) viewer.stream->Send(": still here\n\n");
}

Status Feed::Run(const Context& ctx) {
  auto tick = [&](bool at_beat) {
    auto thrown = Caught([&] { Tick(at_beat); });
    if (thrown) ctx.log.Error("the page met a bug", {{"error", *thrown}});
  };
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
    if (news) tick(false);
    if (clock_.Monotonic() >= beat) {
      beat = clock_.Monotonic() + options_.beat;
      tick(true);
    }
    if (!clock_.Sleep(ctx.stop, options_.tick)) break;  // what comes meanwhile is told together
  }
  MutexLock lock(show_mu_);
  EndStreams();
  return Ok();
}

}  // namespace capi::ops::ui
