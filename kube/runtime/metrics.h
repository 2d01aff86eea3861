// Counters, gauges and histograms in Prometheus' text format. The only file that includes prometheus-cpp is metrics.cc.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace capi::kube {

using Labels = std::map<std::string, std::string>;

// Thread-safe. A metric is made by its first use, which gives it its type and its help; a use as another type, or with
// a name that Prometheus doesn't take, is ignored.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  void Count(const std::string& name, const std::string& help, const Labels& labels, double by = 1);  // 0 shows it
  void Set(const std::string& name, const std::string& help, const Labels& labels, double value);
  // A histogram with controller-runtime's buckets, 5 ms to 60 s.
  void Observe(const std::string& name, const std::string& help, const Labels& labels, double seconds);
  void Remove(const std::string& name, const Labels& labels);  // a metric of something that is gone
  // Prometheus text format 0.0.4, sorted; process_* (RSS, fds, CPU, threads, start time) included.
  std::string Text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
