// Counters, gauges and histograms in Prometheus' text format. The only file that includes prometheus-cpp is metrics.cc.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace capi::kube {

class MetricsLook;
using Labels = std::map<std::string, std::string>;

// Of a histogram, in seconds, ascending.
using Buckets = std::vector<double>;
const Buckets& PassBuckets();  // controller-runtime's for passes: 5 ms to 60 s

// What all metrics of a name share. The texts outlive each call.
struct MetricFamily {
  const char* name;
  const char* help;
};

// Thread-safe. A metric is made by its first use, which gives it its type and its help; a use as another type, or with
// a name that Prometheus doesn't take, is ignored.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  void Count(const MetricFamily& family, const Labels& labels, double by = 1);  // 0 shows it
  void Set(const MetricFamily& family, const Labels& labels, double value);
  // A histogram; all uses of a name have the same buckets.
  void Observe(const MetricFamily& family, const Labels& labels, double seconds,
               const Buckets& buckets = PassBuckets());
  void Remove(const MetricFamily& family, const Labels& labels);  // a metric of something that is gone
  // The same for what is used often: the series is there from now on, and what is returned adds to it without looking
  // for it. It is not to be removed. Thread-safe.
  using Sample = std::function<void(double)>;
  Sample Counter(const MetricFamily& family, const Labels& labels);
  Sample Gauge(const MetricFamily& family, const Labels& labels);
  Sample Histogram(const MetricFamily& family, const Labels& labels, const Buckets& buckets = PassBuckets());
  // Prometheus text format 0.0.4, sorted; process_* (RSS, fds, CPU, threads, start time) included.
  std::string Text() const;

  // `look` is called before each Text, to set what is known at a moment alone, until what is returned goes: then no
  // call of it is under way. It must not call Text, and the metrics outlive what is returned.
  [[nodiscard]] std::unique_ptr<MetricsLook> BeforeText(std::function<void()> look);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A look that ends with it (Metrics::BeforeText). Thread-compatible.
class MetricsLook {
 public:
  explicit MetricsLook(std::function<void()> end) : end_(std::move(end)) {}
  ~MetricsLook() { end_(); }
  MetricsLook(const MetricsLook&) = delete;
  MetricsLook& operator=(const MetricsLook&) = delete;

 private:
  const std::function<void()> end_;
};

}  // namespace capi::kube
