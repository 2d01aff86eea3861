#include "e2e/resilience/fault_injection.h"

namespace capi::e2e {
namespace {

constexpr int kMany = 20;

// "" for none.
std::string KindOf(const kube::Fault& fault) {
  if (fault.after_server) return "done but not answered";
  if (fault.drop) return "dropped";
  if (fault.cut_after) return "cut short";
  if (fault.status != 0) return "refused";
  return fault.delay > Millis(0) ? "slow" : "";
}

}  // namespace

kube::Fault FaultInjection::Next(const kube::ProxyRequest& request) {
  MutexLock lock(mu_);
  kube::Fault fault = request.watch ? OfAWatch() : OfACall(request);
  if (std::string kind = KindOf(fault); !kind.empty()) ++made_[kind];
  return fault;
}

void FaultInjection::Note(const std::string& what) {
  MutexLock lock(mu_);
  ++made_[what];
}

std::vector<std::string> FaultInjection::Lacks() {
  MutexLock lock(mu_);
  std::vector<std::string> lacks;
  for (const char* kind : {"refused", "dropped", "done but not answered", "cut short", "slow", "away"}) {
    if (!made_.contains(kind)) lacks.emplace_back(kind);
  }
  int sum = 0;
  for (const auto& [kind, number] : made_) sum += number;
  if (sum < kMany) lacks.emplace_back("many");
  return lacks;
}

Millis FaultInjection::There() {
  MutexLock lock(mu_);
  return Millis(Number(1500, 6000));
}

Millis FaultInjection::Away() {
  MutexLock lock(mu_);
  return Millis(Number(50, 1500));
}

// A watch never ends by itself, so there is nothing that could be refused after it.
kube::Fault FaultInjection::OfAWatch() {
  switch (Number(1, 12)) {
    case 1: return {.status = 410};
    case 2: return {.status = 429, .retry_after = "1"};
    case 3: return {.status = 500};
    case 4: return {.drop = true};
    case 5: return {.delay = Millis(Number(1, 500))};
    case 6:
    case 7: return {.cut_after = static_cast<size_t>(Number(0, 20'000))};
    default: return {};
  }
}

kube::Fault FaultInjection::OfACall(const kube::ProxyRequest& request) {
  bool write = request.method != "GET";
  bool listing = !write && request.target.find('?') != std::string::npos;
  switch (Number(1, 36)) {
    case 1: return {.status = 429, .retry_after = std::to_string(Number(0, 1))};
    case 2: return {.status = 429};
    case 3: return {.status = 500};
    case 4: return {.status = 500, .after_server = true};
    case 5: return {.drop = true};
    case 6: return {.drop = true, .after_server = true};
    case 7: return {.cut_after = static_cast<size_t>(Number(0, 500))};
    case 8: return {.delay = Millis(Number(1, 500))};
    case 9: return {.status = 503, .retry_after = "1"};
    case 10: return write ? kube::Fault{.status = 409} : kube::Fault{};
    case 11: return listing ? kube::Fault{.status = 410} : kube::Fault{};
    default: return {};
  }
}

int FaultInjection::Number(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

}  // namespace capi::e2e
