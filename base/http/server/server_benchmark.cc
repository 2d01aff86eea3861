// How the server answers probes beside clients that are slow or never end, and reviews over TLS.
//
// http_benchmark [probes | HOST:PORT PID [HOST:PORT PID]]: of servers in processes of their own, `probes` of one alone,
// or of those that serve probes (the operator's, say) and reviews there. Fails when a probe does or when the 99th
// percentile of them takes longer than 100 ms (behaviour.md T5a). `probes` is for a machine with other work: that much
// longer than without such clients, and once of a few times, as a server that they hold up is slow each time.
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/http/certificate.h"
#include "base/http/server/hostile_testing.h"
#include "base/http/server/server.h"
#include "base/testing/process_status.h"
#include "base/testing/value_or_abort.h"

namespace capi::http {
namespace {

constexpr size_t kHostile = 1000;
constexpr int kProbes = 500;
constexpr Millis kBetweenProbes = Millis(10);
constexpr double kSlowest = 100;  // milliseconds, the kubelet's patience being a second
constexpr int kAttempts = 3;
constexpr int kReviewers = 8;
constexpr Millis kReviewTime = Seconds(5);

struct Target {
  std::string address;
  int pid = 0;
};

Response Serve(const ServerRequest& request) {
  Response response{.status = 200, .headers = {}, .body = "ok\n"};
  if (request.method == "POST") response.body.assign(2000, 'r');
  return response;
}

// A process that serves until it is killed, or this one ends; made before this one has threads.
Target StartServer(bool tls) {
  int pipes[2];
  if (pipe(pipes) != 0) std::abort();
  int pid = fork();
  if (pid != 0) {
    char address[64] = "";
    ssize_t got = read(pipes[0], address, sizeof address);
    return {std::string(address, static_cast<size_t>(std::max<ssize_t>(got, 0))), pid};
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ServerOptions options;
  options.threads = tls ? 8 : 1;
  if (tls) {
    auto made = MakeSelfSigned({"127.0.0.1"});
    options.cert_pem = made->cert_pem;
    options.key_pem = made->key_pem;
  }
  auto server = Server::Start(options, Serve);
  std::string address = server.ok() ? (*server)->address() : "";
  if (write(pipes[1], address.data(), address.size()) < 0) std::abort();
  pause();
  _exit(0);
}

void EndServer(const Target& target) {
  kill(target.pid, SIGKILL);
  waitpid(target.pid, nullptr, 0);
}

struct Times {
  std::vector<double> ms;  // of what succeeded
  int failed = 0;
  std::string failure;  // the last one's

  double At(double share) {
    if (ms.empty()) return 0;
    std::sort(ms.begin(), ms.end());
    return ms[std::min(ms.size() - 1, static_cast<size_t>(share * static_cast<double>(ms.size())))];
  }
  void Add(const Result<Response>& response, MonoTime since) {
    bool ok = response.ok() && response->status == 200;
    failed += !ok;
    if (!ok) failure = response.ok() ? std::to_string(response->status) : response.error().message;
    if (ok) ms.push_back(std::chrono::duration<double, std::milli>(SystemClock().Monotonic() - since).count());
  }
};

// As the kubelet does it: each over a connection of its own, and given up after a second.
Times Probe(const Target& target, Millis patience) {
  Times times;
  for (int i = 0; i < kProbes; ++i) {
    MonoTime since = SystemClock().Monotonic();
    auto client = Client::Create("http://" + target.address, {});
    times.Add((*client)->Do(Context().WithTimeout(patience), {.target = "/healthz"}), since);
    std::this_thread::sleep_for(kBetweenProbes);
  }
  return times;
}

// Admission reviews over kept connections, as many as go.
Times Review(const Target& target) {
  std::vector<Times> each(kReviewers);
  MonoTime end = SystemClock().Monotonic() + kReviewTime;
  {
    std::vector<std::jthread> threads;
    for (Times& times : each) {
      threads.emplace_back([&] {
        Options options;
        options.tls.insecure_skip_verify = true;
        auto client = Client::Create("https://" + target.address, options);
        Request request{.method = "POST", .target = "/validate", .headers = {}, .body = std::string(8000, 'o')};
        for (MonoTime since; (since = SystemClock().Monotonic()) < end;) {
          times.Add((*client)->Do(Context().WithTimeout(Seconds(10)), request), since);
        }
      });
    }
  }
  Times all;
  for (Times& times : each) {
    all.failed += times.failed;
    if (times.failed > 0) all.failure = times.failure;
    all.ms.insert(all.ms.end(), times.ms.begin(), times.ms.end());
  }
  return all;
}

// Of the process so far.
double CpuSeconds(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  double ticks = 0;
  for (int i = 1; i <= 15 && stat >> word; ++i) ticks += i >= 14 ? std::stod(word) : 0;
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// That the process has now.
double Megabytes(int pid) {
  return static_cast<double>(ValueOrAbort(ProcessStatus(pid, "VmRSS"), "memory")) * 1024 / 1e6;
}

// Measures `ask` and prints its line of the table.
Times Measure(std::string_view what, const Target& target, const std::function<Times(const Target&)>& ask) {
  MonoTime since = SystemClock().Monotonic();
  double cpu = CpuSeconds(target.pid);
  Times times = ask(target);
  double took = std::chrono::duration<double>(SystemClock().Monotonic() - since).count();
  fmt::print("| {} | {} | {} | {:.1f} ms | {:.1f} ms | {:.1f} ms | {:.0f} % | {:.1f} MB |\n", what, times.ms.size(),
             times.failed, times.At(0.5), times.At(0.99), times.At(1), 100 * (CpuSeconds(target.pid) - cpu) / took,
             Megabytes(target.pid));
  if (times.failed > 0) fmt::print(stderr, "the last failure: {}\n", times.failure);
  std::fflush(stdout);
  return times;
}

int Run(std::optional<Target> other, std::optional<Target> others_reviews, bool probes_alone) {
  http_testing::AllowDescriptors(8192);
  Target probes = other ? *other : StartServer(false);
  std::optional<Target> reviews = others_reviews;
  if (!other && !probes_alone) reviews = StartServer(true);
  fmt::print("| what | answered | failed | median | 99% | slowest | CPU | memory afterwards |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  const auto probe = [&](const Target& target) { return Probe(target, probes_alone ? Seconds(5) : Seconds(1)); };
  Times alone = Measure("probes", probes, probe), beside;
  const double allowed = kSlowest + (probes_alone ? alone.At(0.99) : 0);
  bool held = false;
  {
    http_testing::HostileClients hostile(probes.address, kHostile);
    hostile.AwaitConnections(kHostile);
    for (int attempt = 0; !held && attempt < (probes_alone ? kAttempts : 1); ++attempt) {
      beside = Measure(fmt::format("probes beside {} hostile clients", kHostile), probes, probe);
      held = alone.failed + beside.failed == 0 && beside.At(0.99) <= allowed;
    }
  }
  if (reviews) {
    Measure(fmt::format("reviews over TLS in {} s", kReviewTime / Seconds(1)), *reviews, Review);
    http_testing::HostileClients hostile(reviews->address, kHostile);
    hostile.AwaitConnections(kHostile);
    Measure("the same beside as many hostile clients", *reviews, Review);
  }
  if (!other) {
    EndServer(probes);
    if (reviews) EndServer(*reviews);
  }
  if (!held) fmt::print(stderr, "probes failed, or 1% of them took longer than {} ms\n", allowed);
  return held ? 0 : 1;
}

}  // namespace
}  // namespace capi::http

int main(int argc, char** argv) {
  std::optional<capi::http::Target> probes, reviews;
  const bool probes_alone = argc == 2 && argv[1] == std::string_view("probes");
  if (argc >= 3) probes = {argv[1], std::atoi(argv[2])};
  if (argc >= 5) reviews = {argv[3], std::atoi(argv[4])};
  return capi::http::Run(probes, reviews, probes_alone);
}
