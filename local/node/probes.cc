#include "local/node/probes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/http/client.h"
#include "local/node/back_off.h"
#include "local/node/services/loopback.h"

namespace capi::local {
namespace {

constexpr Millis kFirstHurry{20}, kHurry{100};
constexpr Millis kHurryOfCommands{200};  // each is a process
constexpr std::array kProbes = {"startupProbe", "readinessProbe", "livenessProbe"};
constexpr std::array kHandlers = {"httpGet", "tcpSocket"};

Status AskHttp(const Context& ctx, const Json& get, int port) {
  bool tls = GetString(get, {"scheme"}) == "HTTPS";
  std::string path = GetString(get, {"path"}, "/");
  http::Request request;
  request.headers.Set("User-Agent", "kube-probe/local");
  request.max_body = 1u << 20;
  if (const Json* headers = Find(get, {"httpHeaders"}); headers != nullptr && headers->is_array()) {
    for (const Json& header : *headers) request.headers.Set(GetString(header, {"name"}), GetString(header, {"value"}));
  }
  http::Options options;
  options.tls.insecure_skip_verify = true;  // as a kubelet has it
  std::string url =
      fmt::format("{}://127.0.0.1:{}{}{}", tls ? "https" : "http", port, path.starts_with('/') ? "" : "/", path);
  auto answer = TRY(http::Fetch(ctx, url, std::move(request), options));
  if (answer.status >= 200 && answer.status < 400) return Ok();
  return Error{Code::kUnavailable, fmt::format("{} answers {}", path, answer.status), {}};
}

Status AskTcp(const Context& ctx, int port) {
  TRY(ConnectLoopback(ctx, port));
  return Ok();
}

int Led(const ProbeTarget& target, const Json& port) {
  int own = PortNumber(target.container, port);
  auto led = target.ports.find(own);
  return led == target.ports.end() ? own : led->second;
}

Json Member(const Json& value, const char* name) {
  const Json* found = Find(value, {name});
  return found == nullptr ? Json() : *found;
}

}  // namespace

Result<std::optional<ProbeSpec>> ProbeOf(const Json& container, const char* field) {
  const Json* json = Find(container, {field});
  if (json == nullptr) return std::optional<ProbeSpec>();
  if (Find(*json, {"grpc"}) != nullptr) {
    return Error{Code::kUnsupported, fmt::format("{}.grpc isn't carried out on a local plane", field), {}};
  }
  for (const char* handler : kHandlers) {
    std::string host = GetString(*json, {handler, "host"});
    if (host.empty() || host == "localhost" || host == "127.0.0.1") continue;
    return Error{Code::kUnsupported,
                 fmt::format("{}.{}.host isn't carried out on a local plane: it asks this machine", field, handler),
                 {}};
  }
  ProbeSpec spec{.ask = *json};
  spec.initial_delay = Seconds(GetInt(*json, {"initialDelaySeconds"}, 0));
  spec.period = Seconds(std::max<std::int64_t>(1, GetInt(*json, {"periodSeconds"}, 10)));
  spec.timeout = Seconds(std::max<std::int64_t>(1, GetInt(*json, {"timeoutSeconds"}, 1)));
  spec.successes = static_cast<int>(std::max<std::int64_t>(1, GetInt(*json, {"successThreshold"}, 1)));
  spec.failures = static_cast<int>(std::max<std::int64_t>(1, GetInt(*json, {"failureThreshold"}, 3)));
  if (Find(*json, {"terminationGracePeriodSeconds"}) != nullptr)
    spec.grace = Bounded(GetInt(*json, {"terminationGracePeriodSeconds"}));
  return std::optional(std::move(spec));
}

int PortNumber(const Json& container, const Json& port) {
  if (port.is_number_integer()) return port.get<int>();
  const Json* ports = Find(container, {"ports"});
  if (!port.is_string() || ports == nullptr || !ports->is_array()) return 0;
  for (const Json& one : *ports) {
    if (GetString(one, {"name"}) == port.get_ref<const std::string&>()) {
      return static_cast<int>(GetInt(one, {"containerPort"}));
    }
  }
  return 0;
}

std::vector<int> PortsOf(const Json& container) {
  std::vector<int> all;
  if (const Json* ports = Find(container, {"ports"}); ports != nullptr && ports->is_array()) {
    for (const Json& one : *ports) all.push_back(static_cast<int>(GetInt(one, {"containerPort"})));
  }
  for (const char* probe : kProbes) {
    for (const char* handler : kHandlers) {
      const Json* port = Find(container, {probe, handler, "port"});
      if (port != nullptr) all.push_back(PortNumber(container, *port));
    }
  }
  return all;
}

Status Ask(const Context& ctx, const ProbeSpec& probe, const ProbeTarget& target) {
  Context soon = ctx.WithTimeout(probe.timeout);
  for (const char* handler : kHandlers) {
    const Json* ask = Find(probe.ask, {handler});
    if (ask == nullptr) continue;
    int port = Led(target, Member(*ask, "port"));
    TRY(handler == kHandlers[0] ? AskHttp(soon, *ask, port) : AskTcp(soon, port));
    if (!target.own || target.own(port)) return Ok();
    return Error{Code::kUnavailable, fmt::format("port {} is that of another process", port), {}};
  }
  const Json* command = Find(probe.ask, {"exec", "command"});
  if (command == nullptr || !command->is_array()) return Ok();
  std::vector<std::string> words;
  for (const Json& word : *command) words.push_back(word.is_string() ? word.get<std::string>() : "");
  return target.run(soon, words, probe.timeout);
}

ProbeState::ProbeState(ProbeSpec spec, bool at_first, bool hurries, MonoTime started)
    : spec_(std::move(spec)),
      hurries_(hurries),
      longest_hurry_(Find(spec_.ask, {"exec"}) == nullptr ? kHurry : kHurryOfCommands),
      started_(started),
      good_(at_first),
      hurry_(longest_hurry_ == kHurry ? kFirstHurry : longest_hurry_),
      due_(hurries ? started : started + spec_.initial_delay) {}

void ProbeState::Answered(bool yes, MonoTime now) {
  in_a_row_ = yes == good_ ? 0 : in_a_row_ + 1;
  if (in_a_row_ >= (yes ? spec_.successes : spec_.failures)) {
    good_ = yes;
    in_a_row_ = 0;
  }
  if (!hurries_ || good_) {
    due_ = now + spec_.period;
    return;
  }
  due_ = now + hurry_;
  hurry_ = std::min(hurry_ * 2, longest_hurry_);
}

bool ProbeState::Late(MonoTime now) const {
  return !good_ && now >= started_ + spec_.initial_delay + Bounded((spec_.period * spec_.failures).count());
}

}  // namespace capi::local
