#include "fetch/github/known_answers.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr size_t kMostBytes = 4u << 20;
constexpr Seconds kHoldsAtMost{60};  // as long as GitHub says; a new release is to be seen soon, whatever a mirror says

// For how long the server says that an answer holds; 0 where it doesn't.
Seconds Lifetime(const http::Response& response) {
  Seconds lifetime{0};
  for (const std::string& part : Split(ToLower(response.headers.Get("Cache-Control")), ',')) {
    const std::string_view word = Trim(part);
    if (word == "no-cache" || word == "no-store") return Seconds(0);
    constexpr std::string_view kMaxAge = "max-age=";
    if (!word.starts_with(kMaxAge)) continue;
    unsigned seconds = 0;
    const char* end = word.data() + word.size();
    if (std::from_chars(word.data() + kMaxAge.size(), end, seconds).ptr != end) return Seconds(0);
    lifetime = std::min(Seconds(seconds), kHoldsAtMost);
  }
  return lifetime;
}

size_t Size(const std::string& question, const GitHubAnswers::Answer& answer) {
  size_t size = 2 * question.size() + answer.etag.size() + answer.response.body.size();
  for (const auto& [name, value] : answer.response.headers.all()) size += name.size() + value.size();
  return size + 200;
}

}  // namespace

std::optional<GitHubAnswers::Answer> GitHubAnswers::Of(const std::string& question) const {
  MutexLock lock(mu_);
  auto answer = answers_.find(question);
  return answer == answers_.end() ? std::nullopt : std::optional(answer->second);
}

void GitHubAnswers::Put(const std::string& question, const http::Response& response, MonoTime now) {
  Answer answer{response.headers.Get("ETag"), now + Lifetime(response), {}};
  answer.response.status = response.status;
  answer.response.body = response.body;
  if (std::string link = response.headers.Get("Link"); !link.empty()) answer.response.headers.Set("Link", link);
  MutexLock lock(mu_);
  if (auto former = answers_.find(question); former != answers_.end()) {
    bytes_ -= Size(question, former->second);
    answers_.erase(former);
    std::erase(oldest_first_, question);
  }
  const size_t size = Size(question, answer);
  if (answer.etag.empty() || size > kMostBytes) return;
  while (bytes_ + size > kMostBytes) DropOldest();
  bytes_ += size;
  answers_.emplace(question, std::move(answer));
  oldest_first_.push_back(question);
}

void GitHubAnswers::DropOldest() {
  auto oldest = answers_.find(oldest_first_.front());
  bytes_ -= Size(oldest->first, oldest->second);
  answers_.erase(oldest);
  oldest_first_.pop_front();
}

void GitHubAnswers::Renew(const std::string& question, const http::Response& not_modified, MonoTime now) {
  MutexLock lock(mu_);
  auto answer = answers_.find(question);
  if (answer != answers_.end()) answer->second.holds_until = now + Lifetime(not_modified);
}

void GitHubAnswers::Limit(const std::string& asker, const Error& limit, MonoTime now) {
  MutexLock lock(mu_);
  std::erase_if(limits_, [now](const auto& told) { return told.second.until <= now; });
  const MonoTime until = now + limit.retry_after.value_or(Millis(0));
  auto told = limits_.try_emplace(asker, Told{limit, until}).first;
  if (told->second.until < until) told->second = {limit, until};
}

Status GitHubAnswers::CheckLimit(const std::string& asker, MonoTime now) const {
  MutexLock lock(mu_);
  auto told = limits_.find(asker);
  if (told == limits_.end() || told->second.until <= now) return Ok();
  Error error = told->second.error;
  error.retry_after = std::chrono::ceil<Millis>(told->second.until - now);
  return error;
}

}  // namespace capi::fetch
