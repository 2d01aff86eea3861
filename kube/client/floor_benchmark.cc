// What an API server needs for a set of objects: a program that sends them and does nothing else.
//
// floor_benchmark KUBECONFIG APPLIES SECONDS: sends server-side applies over eight connections, those of CRDs first,
// the others when all CRDs are established, and ends when all Deployments are available, or fails after SECONDS.
// APPLIES is a file in which each apply is two lines: path and query, and the object as JSON. Prints, as JSON, the
// seconds from the first request until the CRDs were established, everything was sent and all was available, its own
// CPU time meanwhile, its peak of memory in KiB, and how many applies had to be sent again because the server didn't
// serve a new kind yet.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/context.h"
#include "base/http/client.h"
#include "base/mutex.h"
#include "base/run_all.h"
#include "base/testing/process_status.h"
#include "base/testing/value_or_abort.h"
#include "kube/client/config/config.h"

namespace capi::kube {
namespace {

constexpr size_t kConnections = 8;
constexpr Millis kBeforeAgain{20};
constexpr std::string_view kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr std::string_view kDeployments = "/apis/apps/v1/deployments";
// Conditions as the server writes them, and where an object has its name: an event is searched for these, since parsing
// a CRD takes a hundred times as long.
constexpr std::string_view kEstablished = R"({"type":"Established","status":"True")";
constexpr std::string_view kAvailable = R"({"type":"Available","status":"True")";
constexpr std::string_view kMetadata = R"("metadata":{"name":")";
constexpr std::string_view kNamespace = R"("namespace":")";

struct Apply {
  std::string target, body;
};

struct Applies {
  std::vector<Apply> crds, others;
  std::set<std::string> crd_keys, deployment_keys;  // "name" and "namespace/name"
};

[[noreturn]] void Fail(const std::string& why) {
  fmt::print(stderr, "floor_benchmark: {}\n", why);
  std::_Exit(1);  // other threads are at work
}

// "ns/name" of ".../namespaces/ns/deployments/name?...", "name" of ".../customresourcedefinitions/name?...".
std::string KeyOf(std::string_view target) {
  target = target.substr(0, target.find('?'));
  const size_t name = target.rfind('/');
  const size_t ns = target.find("/namespaces/");
  if (ns == target.npos) return std::string(target.substr(name + 1));
  const size_t begin = ns + std::string_view("/namespaces/").size();
  return std::string(target.substr(begin, target.find('/', begin) - begin)) + std::string(target.substr(name));
}

Applies ReadApplies(const char* path) {
  std::ifstream file(path);
  if (!file) Fail(fmt::format("cannot read {}", path));
  Applies out;
  for (Apply apply; std::getline(file, apply.target) && std::getline(file, apply.body);) {
    const bool crd = apply.target.starts_with(kCrds);
    if (crd) out.crd_keys.insert(KeyOf(apply.target));
    if (apply.target.find("/deployments/") != std::string::npos) out.deployment_keys.insert(KeyOf(apply.target));
    (crd ? out.crds : out.others).push_back(std::move(apply));
  }
  if (out.deployment_keys.empty()) Fail(fmt::format("{} has no apply of a Deployment: nothing to wait for", path));
  return out;
}

std::string_view Quoted(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == text.npos) return "";
  const size_t begin = at + before.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

// Objects of which each has to come into a condition. Thread-safe.
class Awaited {
 public:
  Awaited(std::set<std::string> keys, std::string_view condition) : keys_(std::move(keys)), condition_(condition) {}

  // A stream of events, which `Feed` gets piece by piece; by one thread.
  void Begin() { partial_.clear(); }
  void Feed(std::string_view piece) CAPI_EXCLUDES(mu_) {
    partial_ += piece;
    size_t begin = 0;
    for (size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      Event(std::string_view(partial_).substr(begin, end - begin));
    }
    partial_.erase(0, begin);
  }

  // False where some aren't in time.
  bool Wait(MonoTime deadline) CAPI_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return done_.wait_until(mu_, deadline, [&] {
      mu_.AssertHeld();
      return keys_.empty();
    });
  }

  std::string Lacking() CAPI_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return keys_.empty() ? "" : fmt::format("{}, {} in all", *keys_.begin(), keys_.size());
  }

 private:
  void Event(std::string_view line) CAPI_EXCLUDES(mu_) {
    if (line.find(condition_) == line.npos) return;
    const std::string_view metadata = line.substr(std::min(line.find(kMetadata), line.size()));
    std::string key(Quoted(metadata, kMetadata));
    if (condition_ == kAvailable) key = std::string(Quoted(metadata, kNamespace)) + "/" + key;
    MutexLock lock(mu_);
    if (keys_.erase(key) > 0 && keys_.empty()) done_.notify_all();
  }

  Mutex mu_;
  std::condition_variable_any done_;
  std::set<std::string> keys_ CAPI_GUARDED_BY(mu_);
  const std::string_view condition_;
  std::string partial_;  // of an event that isn't whole yet
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Thread-safe.
class Sender {
 public:
  Sender(const Config& config, MonoTime deadline) : deadline_(deadline) {
    client_ =
        ValueOrAbort(http::Client::Create(config.server, {.tls = config.tls, .max_idle = kConnections + 2}), "client");
    if (config.credentials) {
      authorization_ = ValueOrAbort(config.credentials->Get(Context(), nullptr), "credentials").authorization;
    }
  }

  void SendAll(const std::vector<Apply>& applies) {
    std::vector<std::function<void()>> tasks;
    tasks.reserve(applies.size());
    for (const Apply& apply : applies) tasks.push_back([this, &apply] { Send(apply); });
    RunAll(kConnections, tasks);
  }

  // Of all that there is and comes, until `stop`. A watch that the server has ended, as it does with one that it thinks
  // slow, is begun again: it shows first what there is.
  void Watch(std::stop_token stop, std::string_view collection, Awaited& awaited) {
    while (!stop.stop_requested()) {
      http::Request request = RequestTo("GET", std::string(collection) + "?watch=1");
      awaited.Begin();
      request.on_data = [&](std::string_view piece) {
        awaited.Feed(piece);
        return Ok();
      };
      auto ended = client_->Do(Context().WithStop(stop), request);
      if (stop.stop_requested()) return;
      if (!ended.ok()) Fail(ended.error().message);
      if (ended->status != 200) Fail(fmt::format("{}: {}", request.target, ended->body));
    }
  }

  size_t again() const { return again_; }

 private:
  http::Request RequestTo(std::string method, std::string target) const {
    http::Request request{.method = std::move(method), .target = std::move(target)};
    if (!authorization_.empty()) request.headers.Set("Authorization", authorization_);
    return request;
  }

  void Send(const Apply& apply) {
    for (;;) {
      http::Request request = RequestTo("PATCH", apply.target);
      request.headers.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
      request.content_type = "application/apply-patch+yaml";
      request.body = apply.body;
      Context ctx;
      ctx.deadline = deadline_;
      auto answer = client_->Do(ctx, std::move(request));
      if (!answer.ok()) Fail(fmt::format("{}: {}", apply.target, answer.error().message));
      if (answer->status / 100 == 2) return;
      // A kind that has just come isn't served (404), or its storage isn't there (429).
      if (answer->status != 404 && answer->status != 429) Fail(fmt::format("{}: {}", apply.target, answer->body));
      if (!ctx.Check().ok()) Fail(fmt::format("{}: not in time: {}", apply.target, answer->body));
      ++again_;
      SystemClock().Sleep({}, kBeforeAgain);
    }
  }

  const MonoTime deadline_;
  std::unique_ptr<http::Client> client_;
  std::string authorization_;
  std::atomic<size_t> again_ = 0;
};

void Run(const Config& config, const Applies& applies, Seconds limit) {
  const MonoTime begin = SystemClock().Monotonic();
  const double cpu = CpuSeconds();
  const auto since = [&] { return std::chrono::duration<double>(SystemClock().Monotonic() - begin).count(); };
  Sender sender(config, begin + limit);
  Awaited established(applies.crd_keys, kEstablished), available(applies.deployment_keys, kAvailable);
  std::jthread crds([&](std::stop_token stop) { sender.Watch(stop, kCrds, established); });
  sender.SendAll(applies.crds);
  if (!established.Wait(begin + limit)) Fail("not established in time: " + established.Lacking());
  const double when_established = since();
  crds.request_stop();
  std::jthread deployments([&](std::stop_token stop) { sender.Watch(stop, kDeployments, available); });
  sender.SendAll(applies.others);
  const double when_sent = since();
  if (!available.Wait(begin + limit)) Fail("not available in time: " + available.Lacking());
  fmt::print(R"({{"established": {:.4f}, "sent": {:.4f}, "seconds": {:.4f}, "cpu": {:.4f}, "peak": {}, "again": {}}})"
             "\n",
             when_established, when_sent, since(), CpuSeconds() - cpu,
             ValueOrAbort(ProcessStatus(getpid(), "VmHWM"), "memory"), sender.again());
}

}  // namespace
}  // namespace capi::kube

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const capi::Seconds limit(std::atoi(argv[3]));
  const auto applies = capi::kube::ReadApplies(argv[2]);
  capi::kube::Run(capi::ValueOrAbort(capi::kube::LoadConfig({.kubeconfig = argv[1]}), argv[1]), applies, limit);
  return 0;
}
