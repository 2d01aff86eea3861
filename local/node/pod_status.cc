#include "local/node/pod_status.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/strings.h"
#include "kube/meta/object_conditions.h"

namespace capi::local {
namespace {

constexpr size_t kTailLines = 10, kTailBytes = 2048, kShortestSecret = 6;

Json EndJson(const ContainerEnd& end) {
  Json json = {{"exitCode", end.exit_code},
               {"reason", end.reason},
               {"startedAt", FormatTime(end.started)},
               {"finishedAt", FormatTime(end.finished)}};
  if (!end.message.empty()) json["message"] = end.message;
  return {{"terminated", std::move(json)}};
}

Json StateJson(const ContainerFacts& facts) {
  if (facts.state == ContainerFacts::State::kRunning) {
    return {{"running", {{"startedAt", FormatTime(facts.started)}}}};
  }
  if (facts.state == ContainerFacts::State::kEnded && facts.end) return EndJson(*facts.end);
  Json waits = {{"reason", facts.reason}};
  if (!facts.message.empty()) waits["message"] = facts.message;
  return {{"waiting", std::move(waits)}};
}

Json ContainerJson(const ContainerFacts& facts) {
  Json json = {{"name", facts.name},
               {"image", facts.image},
               {"imageID", facts.source},
               {"ready", facts.ready},
               {"started", facts.state == ContainerFacts::State::kRunning && facts.began},
               {"restartCount", facts.restarts},
               {"state", StateJson(facts)},
               {"lastState", Json::object()}};
  if (facts.pid != 0) json["containerID"] = "process://" + std::to_string(facts.pid);
  if (facts.end && facts.state != ContainerFacts::State::kEnded) json["lastState"] = EndJson(*facts.end);
  return json;
}

Json Containers(const std::vector<ContainerFacts>& all) {
  Json list = Json::array();
  for (const ContainerFacts& facts : all) list.push_back(ContainerJson(facts));
  return list;
}

bool Done(const ContainerFacts& init) {
  return init.state == ContainerFacts::State::kEnded && init.end && init.end->exit_code == 0;
}

std::string NotReady(const PodFacts& facts) {
  std::vector<std::string> names;
  for (const ContainerFacts& one : facts.containers) {
    if (!one.ready) names.push_back(one.name);
  }
  return "containers with unready status: [" + Join(names, " ") + "]";
}

class Conditions {
 public:
  Conditions(const kube::Object& pod, WallTime now) : old_(kube::Conditions(pod)), now_(now) {}
  void Add(const char* type, bool is, const std::string& reason = "", const std::string& message = "") {
    const char* status = is ? "True" : "False";
    const kube::Condition* was = kube::FindCondition(old_, type);
    bool same = was != nullptr && was->status == status && !was->last_transition_time.empty();
    Json condition = {{"type", type}, {"status", status}};
    condition["lastTransitionTime"] = same ? was->last_transition_time : FormatTime(now_);
    if (!is && !reason.empty()) condition["reason"] = reason;
    if (!is && !message.empty()) condition["message"] = message;
    list_.push_back(std::move(condition));
  }
  Json Take() { return std::move(list_); }

 private:
  const std::vector<kube::Condition> old_;
  const WallTime now_;
  Json list_ = Json::array();
};

int NumberIn(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The values, without the space around them, and each of their lines: a log has them so, or has the end of one only.
std::vector<std::string> PartsOf(const std::vector<std::string>& secrets) {
  std::vector<std::string> parts;
  auto add = [&](std::string_view part) {
    if (part.size() >= kShortestSecret) parts.emplace_back(part);
  };
  for (const std::string& secret : secrets) {
    add(Trim(secret));
    for (const std::string& line : Split(secret, '\n')) add(Trim(line));
  }
  std::sort(parts.begin(), parts.end(),
            [](const std::string& a, const std::string& b) { return std::pair(b.size(), b) < std::pair(a.size(), a); });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

}  // namespace

std::string PortsAnnotation(const PodFacts& facts) {
  std::map<int, int> ports;
  for (const ContainerFacts& one : facts.containers) ports.insert(one.ports.begin(), one.ports.end());
  std::vector<std::string> pairs;
  for (const auto& [own, led] : ports) pairs.push_back(std::to_string(own) + ":" + std::to_string(led));
  return Join(pairs, ",");
}

std::map<int, int> PortsIn(const kube::Object& pod) {
  std::map<int, int> ports;
  for (const std::string& pair : Split(pod.annotation(kPortsAnnotation), ',')) {
    const size_t colon = pair.find(':');
    if (colon == pair.npos) continue;
    const int own = NumberIn(pair), led = NumberIn(std::string_view(pair).substr(colon + 1));
    if (own > 0 && led > 0) ports.emplace(own, led);
  }
  return ports;
}

bool IsReady(const PodFacts& facts) {
  auto ready = [](const ContainerFacts& one) { return one.ready; };
  return !facts.containers.empty() && std::all_of(facts.containers.begin(), facts.containers.end(), ready);
}

Json PodStatus(const kube::Object& pod, const PodFacts& facts, WallTime now) {
  bool initialized = std::all_of(facts.init.begin(), facts.init.end(), Done);
  auto began = [](const ContainerFacts& one) {
    return one.state != ContainerFacts::State::kWaiting || one.end.has_value();
  };
  bool runs = initialized && std::all_of(facts.containers.begin(), facts.containers.end(), began);
  bool ready = initialized && IsReady(facts);
  Conditions conditions(pod, now);
  conditions.Add("PodScheduled", true);
  conditions.Add("Initialized", initialized, "ContainersNotInitialized", "init containers haven't ended yet");
  conditions.Add("ContainersReady", ready, "ContainersNotReady", NotReady(facts));
  conditions.Add("Ready", ready, "ContainersNotReady", NotReady(facts));
  Json status = {{"phase", runs ? "Running" : "Pending"},
                 {"conditions", conditions.Take()},
                 {"hostIP", "127.0.0.1"},
                 {"podIP", "127.0.0.1"},
                 {"podIPs", Json::array({{{"ip", "127.0.0.1"}}})},
                 {"startTime", FormatTime(facts.started)},
                 {"containerStatuses", Containers(facts.containers)}};
  if (!facts.init.empty()) status["initContainerStatuses"] = Containers(facts.init);
  return status;
}

Json UnscheduledStatus(const kube::Object& pod, const std::string& reason, const std::string& message, WallTime now) {
  Conditions conditions(pod, now);
  conditions.Add("PodScheduled", false, reason, message);
  return {{"phase", "Pending"}, {"conditions", conditions.Take()}};
}

std::string LogTail(std::string_view log, const std::vector<std::string>& secrets) {
  // First, so that nothing is left of a value that the cut goes through; the longest first, since one may have another.
  std::string text(Trim(log));
  for (const std::string& part : PartsOf(secrets)) text = ReplaceAll(std::move(text), part, "***");
  std::vector<std::string> lines = Split(text, '\n');
  size_t from = lines.size() > kTailLines ? lines.size() - kTailLines : 0;
  std::string tail = Join(std::span(lines).subspan(from), "\n");
  if (tail.size() > kTailBytes) tail = tail.substr(tail.size() - kTailBytes);
  while (!tail.empty() && (static_cast<unsigned char>(tail[0]) & 0xC0) == 0x80) tail.erase(0, 1);
  return tail;
}

}  // namespace capi::local
