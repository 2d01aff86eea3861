#include "cli/install/wait.h"

#include <fmt/format.h>

#include <functional>

#include "api/reasons.h"
#include "base/strings.h"
#include "cli/operator_manifests/manifests.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{100};

std::string WordsOf(const kube::Condition& condition) {
  return condition.message.empty() ? condition.reason : fmt::format("{}: {}", condition.reason, condition.message);
}

std::string Describe(const api::ProviderId& id) {
  return fmt::format("{} {}/{}", api::KindOf(id.type).kind, id.ns, id.name);
}

Error Refused(const std::vector<std::string>& providers) {
  return {
      Code::kFailedPrecondition,
      fmt::format("the operator doesn't go on with {}. `clusterctl why NAME` says what to do", Join(providers, "; ")),
      {}};
}

// Polls until `ended` or the end of the time, and gives what was seen last. An outage is waited out.
struct Seen {
  ProviderProgress progress = ProviderProgress::kUnseen;
  std::string words;
};
std::string WordsOf(const Seen& seen) { return seen.words.empty() ? "the operator hasn't looked at it" : seen.words; }
Result<Seen> Poll(const Context& ctx, kube::Client& client, const api::ProviderId& id,
                  const std::function<bool(const Seen&)>& ended) {
  Seen seen;
  while (true) {
    auto live = client.Get(ctx, api::ResourceOf(id.type), id.ns, id.name);
    if (live.ok()) {
      auto parsed = api::ParseProvider(*live);
      seen.progress = ProgressOf(parsed.ok() ? *parsed : api::ParseProviderMeta(*live), seen.words);
      if (ended(seen)) return seen;
    } else if (!live.error().Transient() && live.code() != Code::kDeadlineExceeded) {
      return live.error().With(Describe(id));
    }
    if (!ctx.Check().ok() || !ctx.clock->Sleep(ctx.stop, kPause)) return seen;
  }
}

}  // namespace

ProviderProgress ProgressOf(const api::Provider& provider, std::string& words) {
  using namespace api::condition;  // NOLINT(google-build-using-namespace): names alone
  const auto& conditions = provider.status.conditions;
  words.clear();
  const kube::Condition* ready = kube::FindCondition(conditions, kReady);
  if (ready == nullptr || provider.status.observed_generation < provider.generation) return ProviderProgress::kUnseen;
  words = WordsOf(*ready);
  if (ready->status == "True") return ProviderProgress::kReady;
  return kube::IsTrue(conditions, kStalled) ? ProviderProgress::kStalled : ProviderProgress::kGoesOn;
}

Status AwaitLook(const Context& ctx, kube::Client& client, const std::vector<api::ProviderId>& ids, Seconds limit) {
  Context bounded = ctx.WithTimeout(limit);
  std::vector<std::string> refused, unseen;
  for (const api::ProviderId& id : ids) {
    auto seen = Poll(bounded, client, id, [](const Seen& s) { return s.progress != ProviderProgress::kUnseen; });
    if (!seen.ok()) return seen.error();
    if (seen->progress == ProviderProgress::kStalled)
      refused.push_back(fmt::format("{}: {}", Describe(id), seen->words));
    if (seen->progress == ProviderProgress::kUnseen) unseen.push_back(Describe(id));
  }
  if (!refused.empty()) return Refused(refused);
  if (unseen.empty()) return Ok();
  return Error{
      ctx.stop.stop_requested() ? Code::kCancelled : Code::kDeadlineExceeded,
      fmt::format("the operator hasn't looked at {} within {} s: look at its pods (kubectl get pods -A -l {}), "
                  "then run the same command again",
                  Join(unseen, ", "), limit.count(), kOperatorSelector),
      {}};
}

Status AwaitReady(const Context& ctx, kube::Client& client, const std::vector<api::ProviderId>& ids, Seconds timeout,
                  LiveLines& lines, Millis old_words) {
  const MonoTime believed = ctx.clock->Monotonic() + old_words;
  size_t ready = 0;
  for (const api::ProviderId& id : ids) {
    bool moved = false;
    auto ended = [&](const Seen& seen) {
      lines.Draw({fmt::format("{} of {} are ready. {}: {}", ready, ids.size(), Describe(id), WordsOf(seen))});
      const bool stalled = seen.progress == ProviderProgress::kStalled;
      moved = moved || !stalled;
      if (stalled) return moved || ctx.clock->Monotonic() >= believed;
      return seen.progress == ProviderProgress::kReady;
    };
    Seen seen = TRY(Poll(ctx.WithTimeout(timeout), client, id, ended));
    if (seen.progress == ProviderProgress::kReady) {
      ++ready;
      continue;
    }
    if (seen.progress == ProviderProgress::kStalled) return Refused({fmt::format("{}: {}", Describe(id), seen.words)});
    return Error{ctx.stop.stop_requested() ? Code::kCancelled : Code::kDeadlineExceeded,
                 fmt::format("{} is not ready after {} s: {}. `clusterctl why {}` says what to do", Describe(id),
                             timeout.count(), WordsOf(seen), id.name),
                 {}};
  }
  return Ok();
}

}  // namespace capi::cli
