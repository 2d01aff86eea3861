// Counters, gauges and histograms in Prometheus' text format. The only file that includes prometheus-cpp is metrics.cc.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace capi::kube {

using Labels = std::map<std::string, std::string>;

// Thread-safe. A metric is made by its first use; `help` of the first use stays.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  void Count(const std::string& name, const std::string& help, const Labels& labels, double by = 1);
  void Set(const std::string& name, const std::string& help, const Labels& labels, double value);
  void Observe(const std::string& name, const std::string& help, const Labels& labels, double seconds);
  void Remove(const std::string& name, const Labels& labels);  // a gauge of something that is gone
  std::string Text() const;  // Prometheus text format 0.0.4; process_* (RSS, fds, CPU, threads, start time) included

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace capi::kube
