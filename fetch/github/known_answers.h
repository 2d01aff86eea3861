// What GitHub's API has answered, kept beyond one look at a repository and shared by the providers of a process.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/http/client.h"
#include "base/mutex.h"
#include "base/result.h"

namespace capi::fetch {

// An answer is asked for by its ETag, with which GitHub sends it only where it is another one by now, and not at all in
// the time for which GitHub has said that it holds. Who was told to wait asks nothing until then. 4 MiB at most, the
// oldest go. Thread-safe.
class GitHubAnswers {
 public:
  struct Answer {
    std::string etag;
    MonoTime holds_until;
    http::Response response;
  };

  // `question`: the URL, and whose token asks for it.
  std::optional<Answer> Of(const std::string& question) const;
  // Where the response has an ETag. `now` is that of Clock::Monotonic.
  void Put(const std::string& question, const http::Response& response, MonoTime now);
  // Its question was asked again: it still holds, for as long as `not_modified` says.
  void Renew(const std::string& question, const http::Response& not_modified, MonoTime now);

  // `limit` (kRateLimited) was the answer to `asker`, whose requests GitHub counts together. Of several under way the
  // longest wait counts.
  void Limit(const std::string& asker, const Error& limit, MonoTime now);
  // That error until its time is over, with what is left of it.
  Status CheckLimit(const std::string& asker, MonoTime now) const;

 private:
  struct Told {
    Error error;
    MonoTime until;
  };

  void DropOldest() CAPI_REQUIRES(mu_);

  mutable Mutex mu_;
  std::map<std::string, Answer> answers_ CAPI_GUARDED_BY(mu_);
  std::deque<std::string> oldest_first_ CAPI_GUARDED_BY(mu_);  // the questions of answers_
  size_t bytes_ CAPI_GUARDED_BY(mu_) = 0;                      // of answers_
  std::map<std::string, Told> limits_ CAPI_GUARDED_BY(mu_);
};

}  // namespace capi::fetch
