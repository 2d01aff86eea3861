// A container's probes: when they are due, what they ask, and what their answers mean (behaviour.md G7).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/json.h"

namespace capi::local {

// One of a container's probes, with the defaults of Kubernetes. A value.
struct ProbeSpec {
  Json ask;  // the member with httpGet, tcpSocket or exec
  Seconds initial_delay{0}, period{10}, timeout{1};
  int successes = 1, failures = 3;  // in a row, until something changes
  std::optional<Seconds> grace;     // between SIGTERM and SIGKILL, where it fails; unset: the Pod's
};
// `field`: "readinessProbe", "livenessProbe" or "startupProbe". nullopt where the container has none; kUnsupported for
// one that isn't carried out.
Result<std::optional<ProbeSpec>> ProbeOf(const Json& container, const char* field);

// The container's port of a name or number: of containerPort, and as probes and Services write it. 0 for none.
int PortNumber(const Json& container, const Json& port);
// All that the container declares, and its probes ask.
std::vector<int> PortsOf(const Json& container);

struct ProbeTarget {
  const Json& container;
  const std::map<int, int>& ports;  // of the container -> of loopback; others are the same on both
  // Runs a command as the container's process runs: as whom, where, with which variables. Ok where it ends with 0.
  std::function<Status(const Context& ctx, const std::vector<std::string>& command, Millis timeout)> run;
  // Who listens on a port of loopback is the container's process; unset where that is certain.
  std::function<bool(int port)> own{};
};
// Asks once. An error says what came instead of a yes.
Status Ask(const Context& ctx, const ProbeSpec& probe, const ProbeTarget& target);

// The answers of one probe of one process. Thread-compatible.
class ProbeState {
 public:
  // `at_first`: what counts before the first change. `hurries`: while it isn't so, it is asked at once, without its
  // initial delay, and soon again (after 20 ms, then twice as long, 100 ms at most; a command each 200 ms): who waits
  // for a yes is told of it at once.
  ProbeState(ProbeSpec spec, bool at_first, bool hurries, MonoTime started);

  const ProbeSpec& spec() const { return spec_; }
  bool good() const { return good_; }
  MonoTime due() const { return due_; }
  void Answered(bool yes, MonoTime now);
  // For a startup probe: its time is over without a yes.
  bool Late(MonoTime now) const;

 private:
  const ProbeSpec spec_;
  const bool hurries_;
  const Millis longest_hurry_;
  const MonoTime started_;
  bool good_;
  int in_a_row_ = 0;  // answers that say the other thing
  Millis hurry_;      // until it is asked again
  MonoTime due_;
};

}  // namespace capi::local
