#include "e2e/real_managers/steady_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/strings.h"
#include "base/testing/value_or_abort.h"

namespace capi::e2e {
namespace {

constexpr Millis kEvery{20};
constexpr Millis kLate{100};
constexpr int kThreads = 100;  // each sends once in two seconds; an answer may take as long without making others late
constexpr size_t kKept = 20;   // objects of a kind, before the oldest is deleted
constexpr Seconds kTimeout{60};  // as long as the API server gives a request
constexpr const char* kCreatedAt = "v1beta1";

struct Kind {
  const char *group, *plural, *object;
};
// Nothing happens to these; only the first has a mutating webhook. @ is the name.
constexpr Kind kKinds[] = {
    {"addons.cluster.x-k8s.io", "clusterresourcesets",
     R"({"apiVersion": "addons.cluster.x-k8s.io/v1beta1", "kind": "ClusterResourceSet",
         "metadata": {"name": "@", "labels": {"steady": ""}},
         "spec": {"clusterSelector": {"matchLabels": {"nobody": "has"}}, "resources": [{"kind": "Secret", "name": "x"}]}})"},
    {"cluster.x-k8s.io", "machinedrainrules",
     R"({"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDrainRule",
         "metadata": {"name": "@", "labels": {"steady": ""}}, "spec": {"drain": {"behavior": "Skip"}}})"},
};

std::string Path(const Kind& kind, const std::string& version, const std::string& rest = "") {
  return fmt::format("/apis/{}/{}/namespaces/default/{}{}", kind.group, version, kind.plural, rest);
}

// Shared with each request that is about it, so that none finds it deleted by another.
using Name = std::shared_ptr<const std::string>;

struct Request {
  int number = 0;
  std::string method, path, body, content;
  size_t kind = 0;  // of kKinds
  Name name;        // of the object; null for a list
};

std::string SecondsOf(Millis time) { return fmt::format("{:.2f} s", static_cast<double>(time.count()) / 1000); }

// The same failure of other requests has the same text.
std::string KindOfFailure(const Request& request, const Error& error) {
  std::string text = fmt::format("{} {}: {}", request.method, request.path, error.message);
  if (request.name) text = ReplaceAll(text, *request.name, "NAME");
  return text;
}

}  // namespace

std::string SteadyFigures::Describe() const {
  std::string text = fmt::format("{} requests ({} through webhooks), {} failed, ", requests, writes, failures);
  if (failures > 0) {
    text += fmt::format("between {} and {}, ", SecondsOf(first), SecondsOf(last));
    text += fmt::format("everything for {}, ", SecondsOf(longest_gap));
  }
  return text + fmt::format("slowest answer {}, {} sent late", SecondsOf(slowest), late);
}

std::string SteadyFigures::Explain() const { return Join(messages, "\n"); }

class SteadyClient::Impl {
 public:
  Impl(Cluster& cluster, std::vector<std::string> versions) : cluster_(cluster), versions_(std::move(versions)) {
    kube::ClientOptions options{.user_agent = "steady-client", .timeout = kTimeout, .max_retries = 0};
    client_ = ValueOrAbort(kube::Client::Connect(cluster.plane().config(), options), "steady client");
    for (size_t i = 0; i < std::size(kKinds); ++i) {  // there is always something to read
      Request first = Creation(-1, i);
      ValueOrAbort(client_->Raw(cluster.ctx(), first.method, first.path, first.body, first.content), "steady client");
      names_[i].push_back(first.name);
    }
    begin_ = SystemClock().Monotonic();
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, i](std::stop_token stop) { Send(stop, i); });
    }
  }

  void AwaitRequests(int more) {
    int wanted = answered_ + more;
    EXPECT_TRUE(kube::Eventually([&] { return answered_ >= wanted; }, Seconds(60)));
  }

  SteadyFigures Finish() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
    CleanUp();
    MutexLock lock(mu_);
    FindGap();
    for (const auto& [text, seen] : failures_) {
      figures_.messages.push_back(fmt::format("{} times from {} on: {}", seen.second, SecondsOf(seen.first), text));
    }
    return figures_;
  }

 private:
  // Every kThreads-th request.
  void Send(const std::stop_token& stop, int number) {
    for (; !stop.stop_requested(); number += kThreads) {
      MonoTime due = begin_ + number * kEvery;
      {
        MutexLock lock(mu_);
        changed_.wait_until(mu_, stop, due, [] { return false; });
      }
      if (stop.stop_requested()) return;
      Ask(Next(number), due);
    }
  }

  // Of ten: two create, two update, two delete, one lists, three get. The first kind's controller writes to each
  // object, and may send 20 requests a second: it gets fewer new ones.
  Request Next(int number) {
    int turn = number % 10;
    size_t which = turn == 2 || turn == 7 ? 1 : static_cast<size_t>(number / 10 % 2);
    const Kind& kind = kKinds[which];
    const std::string& version = versions_[static_cast<size_t>(number / 20) % versions_.size()];
    MutexLock lock(mu_);
    auto& names = names_[which];
    if (turn == 0 || turn == 2) return Creation(number, which);
    if ((turn == 5 || turn == 7) && names.size() > kKept && names.front().use_count() == 1) {
      Name name = names.front();
      names.pop_front();
      return {number, "DELETE", Path(kind, kCreatedAt, "/" + *name), "", "", which, name};
    }
    Name name = names[static_cast<size_t>(number) * 7 % names.size()];  // seldom the same twice in a row
    std::string path = Path(kind, version, "/" + *name);
    if (turn == 3 || turn == 8) {
      std::string label = fmt::format(R"({{"metadata": {{"labels": {{"number": "{}"}}}}}})", number);
      return {number, "PATCH", path, label, "application/merge-patch+json", which, name};
    }
    if (turn == 4) return {number, "GET", Path(kind, version, "?limit=5"), "", "", which, nullptr};
    return {number, "GET", path, "", "", which, name};
  }
  static Request Creation(int number, size_t which) {
    auto name = std::make_shared<const std::string>(fmt::format("steady-{}", number));
    const Kind& kind = kKinds[which];
    return {number, "POST", Path(kind, kCreatedAt), ReplaceAll(kind.object, "@", *name), "application/json",
            which,  name};
  }

  void Ask(const Request& request, MonoTime due) {
    MonoTime sent = SystemClock().Monotonic();
    auto answer = client_->Raw(Context{}, request.method, request.path, request.body, request.content);
    MonoTime end = SystemClock().Monotonic();
    MutexLock lock(mu_);
    ++answered_;
    ++figures_.requests;
    if (sent - due > kLate) ++figures_.late;
    figures_.slowest = std::max(figures_.slowest, std::chrono::duration_cast<Millis>(end - sent));
    bool creates = request.method == "POST";
    if (creates || request.method == "PATCH") ++figures_.writes;
    outcomes_[request.number] = answer.ok();
    if (answer.ok()) {
      if (creates) names_[request.kind].push_back(request.name);
      return;
    }
    Millis at = std::chrono::duration_cast<Millis>(sent - begin_);
    if (figures_.failures++ == 0) figures_.first = at;
    figures_.first = std::min(figures_.first, at);
    figures_.last = std::max(figures_.last, at);
    auto [seen, fresh] = failures_.try_emplace(KindOfFailure(request, answer.error()), at, 0);
    ++seen->second.second;
  }

  void FindGap() CAPI_REQUIRES(mu_) {
    int failed = 0, most = 0;
    for (const auto& [number, ok] : outcomes_) {
      failed = ok ? 0 : failed + 1;
      most = std::max(most, failed);
    }
    figures_.longest_gap = most * kEvery;
  }

  // Again where it takes longer than a request may: the controller that takes the finalizers away has its own pace.
  void CleanUp() {
    for (const Kind& kind : kKinds) {
      std::string path = Path(kind, kCreatedAt, "?labelSelector=steady"), rest;
      bool gone = kube::Eventually(
          [&] {
            auto deleted = client_->Raw(cluster_.ctx(), "DELETE", path);
            auto list = client_->Raw(cluster_.ctx(), "GET", path + "&limit=1");
            auto json = list.ok() ? ParseJson(*list) : Result<Json>(list.error());
            const Json* items = json.ok() ? Find(*json, {"items"}) : nullptr;
            rest = !deleted.ok() ? deleted.error().message : list.ok() ? *list : list.error().message;
            return items != nullptr && items->empty();
          },
          Seconds(240), Millis(500));
      EXPECT_TRUE(gone) << kind.plural << " are left: " << rest;
    }
  }

  Cluster& cluster_;
  const std::vector<std::string> versions_;
  MonoTime begin_;  // set before the threads start
  std::unique_ptr<kube::Client> client_;
  std::atomic<int> answered_{0};
  Mutex mu_;
  std::condition_variable_any changed_;
  std::deque<Name> names_[std::size(kKinds)] CAPI_GUARDED_BY(mu_);  // of what was created, the oldest first
  std::map<int, bool> outcomes_ CAPI_GUARDED_BY(mu_);               // by number
  std::map<std::string, std::pair<Millis, int>> failures_ CAPI_GUARDED_BY(mu_);
  SteadyFigures figures_ CAPI_GUARDED_BY(mu_);
  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

SteadyClient::SteadyClient(Cluster& cluster, std::vector<std::string> versions)
    : impl_(std::make_unique<Impl>(cluster, std::move(versions))) {}
SteadyClient::~SteadyClient() = default;
void SteadyClient::AwaitRequests(int more) { impl_->AwaitRequests(more); }
SteadyFigures SteadyClient::Finish() { return impl_->Finish(); }

}  // namespace capi::e2e
