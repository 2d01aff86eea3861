#include "operator/wakes.h"

#include "operator/decide/contract_rules.h"
#include "operator/decide/drift.h"
#include "operator/decide/pause.h"
#include "operator/observe/observe.h"

namespace capi::ops {
namespace {

using kube::Priority;

// What the contract rules of the others look at; what runs counts with them also without a contract, until it goes
// (C6).
bool ChangesContracts(const api::Provider& was, const api::Provider& is) {
  return was.status.contract != is.status.contract || SaysPaused(was.status) != SaysPaused(is.status) ||
         DesiredContract(was) != DesiredContract(is);
}

std::string_view OutcomeOf(const api::ProviderStatus& status) {
  return status.history.empty() ? "" : std::string_view(status.history.front().outcome);
}

// What others look at in the core: what it has (I4), and how its last change went (U13).
bool ChangesCore(const api::Provider& was, const api::Provider& is) {
  return is.id.type == api::ProviderType::kCore &&
         (was.status.inventory != is.status.inventory || OutcomeOf(was.status) != OutcomeOf(is.status));
}

// I5: another provider may have it now. What can't be read owns nothing.
bool GivesUpObjects(const api::Provider& was, const api::Provider& is) {
  if (was.status.inventory == is.status.inventory) return false;
  auto had = kube::Inventory::Parse(was.status.inventory), has = kube::Inventory::Parse(is.status.inventory);
  if (!had.ok()) return false;
  if (!has.ok()) return had->size() > 0;
  for (const auto& [id, entry] : had->entries()) {
    if (has->Find(id) == nullptr) return true;
  }
  return false;
}

// What became of an object with our label, by its metadata (D1).
enum class Turn { kNone, kOurs, kForeign };
Turn TurnOf(const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  if (!is) return Turn::kForeign;
  if (!was) return Turn::kOurs;  // nobody else has installed it
  const bool same_one = was->uid() == is->uid() && was->deleting() == is->deleting() &&
                        was->label(api::kLabelProvider) == is->label(api::kLabelProvider);
  if (!same_one) return Turn::kForeign;
  const Trace before = TraceOf(*was), now = TraceOf(*is);
  if (before.fields == now.fields && before.marks == now.marks) return Turn::kNone;
  return now.by.empty() ? Turn::kOurs : Turn::kForeign;  // also who only took fields away, of which nothing tells
}

// Of what happened to a provider itself.
Priority OwnPriority(ProviderCache::ToldBy by) {
  switch (by) {
    case ProviderCache::ToldBy::kFirstList: return Priority::kLater;  // the operator starts
    case ProviderCache::ToldBy::kOurWrite: return Priority::kNormal;
    case ProviderCache::ToldBy::kWatch: return Priority::kNow;
  }
  return Priority::kNow;
}

bool ComesOrGoes(const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  return !was || !is || was->deleting() != is->deleting();
}

bool IsSame(const Json& was, const Json& is, JsonPath path) {
  const Json *before = Find(was, path), *now = Find(is, path);
  return before == nullptr || now == nullptr ? before == now : *before == *now;
}

// What belongs to a cluster may do so no more without its end, or be another one of its name (X2).
bool BelongsAsBefore(const kube::ObjectPtr& was, const kube::ObjectPtr& is) {
  if (ComesOrGoes(was, is) || was->uid() != is->uid()) return false;
  return IsSame(was->json(), is->json(), {"metadata", "labels"}) &&
         IsSame(was->json(), is->json(), {"metadata", "ownerReferences"});
}

}  // namespace

ProviderNews NewsOf(const ProviderCache::Change& change) {
  ProviderNews news{change.id, std::nullopt, false, false};
  if (change.spec) news.itself = OwnPriority(change.by);
  if (!change.is) {
    news.all = true;
  } else if (!change.was) {
    news.came = true;
    news.all = !change.is->status.contract.empty() || change.id.type == api::ProviderType::kCore;
  } else {
    news.all = ChangesContracts(*change.was, *change.is) || ChangesCore(*change.was, *change.is) ||
               GivesUpObjects(*change.was, *change.is);
  }
  return news;
}

bool Wakes(const ProviderNews& news, const api::ProviderId& other) {
  return other != news.id && (news.all || (news.came && other.type == news.id.type));
}

std::optional<ObjectNews> NewsOf(const Watches::Event& event) {
  const kube::ObjectPtr &was = event.was, &is = event.is;
  const Turn turn = TurnOf(was, is);
  if (event.watch.metadata_only && turn == Turn::kNone) return std::nullopt;
  const kube::Object& object = is ? *is : *was;
  ObjectNews news;
  news.own = event.first ? kOthers : turn == Turn::kForeign ? Priority::kNow : Priority::kNormal;
  news.labels = {object.label(api::kLabelProvider)};
  if (was) news.labels.insert(was->label(api::kLabelProvider));
  const bool of_core = news.labels.contains("cluster-api");
  bool turned = !was || !is || kube::HealthOf(*was).ok() != kube::HealthOf(*is).ok();
  news.all = (IsCrd(object) && of_core && turned) || (!is && IsWorkload(object.id()));
  return news;
}

bool IsNews(const Watches::Event& event) {
  if (event.watch.purpose == Watches::Purpose::kInUse) return !BelongsAsBefore(event.was, event.is);
  return event.watch.purpose != Watches::Purpose::kNamespaces || ComesOrGoes(event.was, event.is);
}

// What one spec alone names is somebody's edit of that. A Secret that all specs name may be written each minute, and
// would have a thousand of them before the next edit. What all share is as the change of a sibling: each release that
// is stored wakes all of its Namespace.
Priority PriorityOf(const Watches::Event& event) {
  const bool of_all = event.watch.IsShared() || event.watch.purpose == Watches::Purpose::kCertManager;
  if (event.first || of_all) return kOthers;
  const bool of_one = event.watch.purpose == Watches::Purpose::kReferenced && event.users.size() == 1;
  return of_one ? Priority::kNow : Priority::kNormal;
}

bool Concerns(const Watches::Key& shared, const kube::Object& object, const api::ProviderId& provider) {
  return provider.ns == (shared.purpose == Watches::Purpose::kNamespaces ? object.name() : object.ns());
}

}  // namespace capi::ops
