// A client that goes on at 50 requests a second whatever happens, and what it saw.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "e2e/support/cluster.h"

namespace capi::e2e {

// What a SteadyClient saw. A value.
struct SteadyFigures {
  int requests = 0, failures = 0;
  int writes = 0;                     // requests that webhooks see
  int late = 0;                       // sent over 100 ms after they were due: the machine was too slow for the rate
  Millis longest_gap{0};              // the longest time in which everything failed
  Millis first{0}, last{0};           // failures, since the beginning
  Millis slowest{0};                  // answer
  std::vector<std::string> messages;  // each kind of failure once, with its time and how often it came
  std::string Describe() const;       // one line
  std::string Explain() const;        // the messages, a line each
};

// From its construction on sends a request every 20 ms: creates, updates and deletes ClusterResourceSets and
// MachineDrainRules, past the core provider's webhooks, gets and lists them; creates at v1beta1, the rest at the
// versions given, so that all but one of them are converted. When a request is due doesn't depend on how long others
// take, and none is repeated. Thread-safe.
class SteadyClient {
 public:
  SteadyClient(Cluster& cluster, std::vector<std::string> versions);
  ~SteadyClient();
  // Waits until so many more requests were answered.
  void AwaitRequests(int more);
  // Ends it, deletes what it created, and says how it was. Once.
  SteadyFigures Finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::e2e
