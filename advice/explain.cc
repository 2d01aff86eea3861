#include "advice/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "api/reasons.h"

namespace capi::advice {
namespace {

namespace reason = api::reason;

// Whether a condition tells of trouble; those that are parts of Ready say nothing more than it does.
bool IsAside(const api::ProviderStatus& status, const kube::Condition& condition) {
  using namespace api::condition;  // NOLINT(google-build-using-namespace): names alone
  if (condition.type == kDrifted || condition.type == kWarnings || condition.type == kPaused)
    return condition.status == "True";
  if (condition.type == kProviderUpgraded || condition.type == kContractCompatible ||
      condition.type == kStorageMigrated)
    return condition.status == "False";
  if (condition.type != kUpgradeAvailable) return false;
  // What a policy wants and can't begin (U13) says nothing against what runs.
  return condition.status == "Unknown" ||
         std::any_of(status.available_upgrades.begin(), status.available_upgrades.end(),
                     [](const api::AvailableUpgrade& one) { return one.refused.has_value(); });
}

// Reasons whose messages name the providers that have to do something first.
bool IsAboutOthers(std::string_view why) {
  constexpr std::string_view kReasons[] = {reason::kWaitingForOrder,     reason::kWaitingForPause,
                                           reason::kWaitingForContracts, reason::kMoreThanOneExists,
                                           reason::kDeletionBlocked,     reason::kObjectOwnedByAnotherProvider};
  return std::find(std::begin(kReasons), std::end(kReasons), why) != std::end(kReasons);
}

// Of these, the ones whose messages name others by "KIND/NAME"; elsewhere that is the provider itself.
bool NamesByKind(std::string_view why) {
  return why == reason::kDeletionBlocked || why == reason::kObjectOwnedByAnotherProvider;
}

// Of a release without a readable contract the same reason is told, and no core helps.
bool IsAboutTheCore(std::string_view why, std::string_view message) {
  return why == reason::kWaitingForCoreProviderReady ||
         (why == reason::kCAPIVersionIncompatibility && message.find("the core provider (") != message.npos);
}

// Of one that hands are off (P4) nothing else is written, Ready and the generation of the status stay as they were.
const kube::Condition* HandsOffIn(const api::Provider& provider) {
  const kube::Condition* paused = kube::FindCondition(provider.status.conditions, api::condition::kPaused);
  const bool off = paused != nullptr && paused->status == "True" && paused->reason == reason::kHandsOff;
  return off && paused->observed_generation >= provider.generation ? paused : nullptr;
}

void TellCondition(const kube::Condition& condition, Explanation& out) {
  out.reason = condition.reason;
  out.since = condition.last_transition_time;
  out.message = condition.message;
  if (const api::ReasonInfo* info = api::FindReason(condition.reason); info != nullptr) {
    out.meaning = info->meaning;
    out.action = info->action;
  }
}

// A message may name something else, before which there is its kind: "ServiceAccount team/aws". Where there is no kind
// it may be of each.
void AddNamed(std::string_view before, std::string_view name, std::set<std::string>& named) {
  if (api::KindByName(before) != nullptr) {
    named.insert(fmt::format("{}/{}", before, name));
  } else if (before.empty() || std::isupper(static_cast<unsigned char>(before.front())) == 0) {
    named.emplace(name);
  }
}

// Of a word like "capi-system/cluster-api".
bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '/'; }

}  // namespace

Explanation Explain(const api::Provider& provider) {
  Explanation out;
  const api::ProviderStatus& status = provider.status;
  const kube::Condition* ready = kube::FindCondition(status.conditions, api::condition::kReady);
  const bool looked = ready != nullptr && status.observed_generation >= provider.generation;
  if (const kube::Condition* paused = looked ? nullptr : HandsOffIn(provider)) {
    TellCondition(*paused, out);
    return out;
  }
  if (!looked) {
    out.message = ready == nullptr ? "The operator has not looked at it yet."
                                   : fmt::format(
                                         "The operator has not looked at the last change of it yet (generation "
                                         "{}); before that: {}",
                                         provider.generation, ready->message);
    out.action = "Wait; if it stays, see that the operator runs, and read its log.";
    return out;
  }
  out.ready = ready->status == "True";
  TellCondition(*ready, out);
  for (const kube::Condition& condition : status.conditions) {
    if (IsAside(status, condition) && condition.reason != ready->reason)
      out.also.push_back({condition.type, condition.reason, condition.message});
  }
  return out;
}

bool Awaited::Has(const api::ProviderId& id) const {
  return (core && id.type == api::ProviderType::kCore) || named.contains(id.ns + "/" + id.name) ||
         named.contains(id.Key()) || of_kind.contains(id.ToString());
}

Awaited AwaitedBy(std::string_view reason, std::string_view message) {
  Awaited out;
  out.core = IsAboutTheCore(reason, message);
  if (!IsAboutOthers(reason)) return out;
  std::string_view before;
  for (size_t at = 0; at < message.size();) {
    size_t end = at;
    while (end < message.size() && IsOfName(message[end])) ++end;
    std::string_view word = message.substr(at, end - at);
    while (word.ends_with('.')) word.remove_suffix(1);  // a sentence's
    if (std::count(word.begin(), word.end(), '/') == 1) AddNamed(before, word, out.named);
    const bool is_name = word.find('/') != word.npos;  // of a list, of which the next one is no object's
    if (!word.empty()) before = is_name ? std::string_view() : word;
    at = end + 1;
  }
  if (NamesByKind(reason)) out.of_kind = out.named;
  // A contract may also wait for this provider's own next version: it names nobody then.
  out.others = reason != reason::kWaitingForContracts || !out.named.empty();
  return out;
}

std::string RootOf(const std::string& from, const std::function<std::string(const std::string& key)>& next) {
  std::set<std::string> passed = {from};
  std::string at = from;
  for (std::string to = next(at); !to.empty(); to = next(at)) {
    at = std::move(to);
    if (!passed.insert(at).second) return "";
  }
  return at == from ? "" : at;
}

Json AsJson(const Explanation& explanation) {
  Json also = Json::array();
  for (const Aside& aside : explanation.also) {
    also.push_back({{"type", aside.type}, {"reason", aside.reason}, {"message", aside.message}});
  }
  return {{"ready", explanation.ready},
          {"reason", explanation.reason},
          {"since", explanation.since},
          {"message", explanation.message},
          {"meaning", explanation.meaning},
          {"action", explanation.action},
          {"see", explanation.ready ? "" : api::ReasonPlace(explanation.reason)},
          {"also", std::move(also)}};
}

}  // namespace capi::advice
