#include "kube/apply/outcomes.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

constexpr size_t kInFull = 5;  // errors told in full
constexpr size_t kNamed = 10;  // of those behind them, by their names

// What it says of all of them.
int Weight(const Error& error) {
  if (error.Transient()) return 2;
  return error.code == Code::kPermissionDenied ? 0 : 1;
}

}  // namespace

Outcome Failed(const ObjectId& id, const Error& error) {
  return {Change{.id = id, .action = Change::Action::kFailed, .error = error.message, .refused = !IsOutage(error)},
          error};
}

void Collect(const std::vector<Outcome>& outcomes, std::vector<Change>& changes) {
  for (const Outcome& outcome : outcomes) {
    if (outcome.change) changes.push_back(*outcome.change);
  }
}

Status Summarize(const std::vector<Outcome>& outcomes) {
  std::optional<Error> sum;
  std::vector<std::string> full, names;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.error) continue;
    const Error& error = *outcome.error;
    std::string id = outcome.change->id.ToString();
    full.size() < kInFull ? full.push_back(id + ": " + error.message) : names.push_back(id);
    if (!sum || Weight(error) > Weight(*sum)) sum = error;
    if (error.retry_after && error.Transient()) {
      sum->retry_after = std::max(sum->retry_after.value_or(Millis(0)), *error.retry_after);
    }
  }
  if (!sum) return Ok();
  sum->message = Join(full, "; ");
  if (!names.empty()) sum->message += "; and so did " + JoinNames(names, kNamed);
  if (size_t failed = full.size() + names.size(); failed > 1) {
    sum->message = fmt::format("{} of {} objects failed: {}", failed, outcomes.size(), sum->message);
  }
  return *sum;
}

}  // namespace capi::kube
