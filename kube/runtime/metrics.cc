#include "kube/runtime/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <list>
#include <sstream>
#include <variant>
#include <vector>

#include "base/files.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace capi::kube {
namespace {

using prometheus::MetricType;

// What /proc/self/stat, /proc/stat and /proc/self/fd say of this process, in seconds and bytes.
struct ProcessFacts {
  double cpu = 0, threads = 0, start = 0, virtual_bytes = 0, resident_bytes = 0, open_fds = 0, max_fds = 0;
};

double Number(const std::vector<std::string>& fields, size_t index) {
  return index < fields.size() ? std::strtod(fields[index].c_str(), nullptr) : 0;
}

double BootTime() {
  auto text = ReadFile("/proc/stat");
  if (!text.ok()) return 0;
  size_t at = text->find("\nbtime ");
  return at == std::string::npos ? 0 : std::strtod(text->c_str() + at + 7, nullptr);
}

ProcessFacts ReadProcessFacts() {
  ProcessFacts out;
  auto stat = ReadFile("/proc/self/stat");
  // The program's name, in brackets, may hold blanks: count fields from behind it (field 3 of proc(5) is index 0).
  size_t name_end = stat.ok() ? stat->rfind(") ") : std::string::npos;
  if (name_end != std::string::npos) {
    auto fields = Split(std::string_view(*stat).substr(name_end + 2), ' ');
    auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    out.cpu = (Number(fields, 11) + Number(fields, 12)) / ticks;
    out.threads = Number(fields, 17);
    out.start = BootTime() + Number(fields, 19) / ticks;
    out.virtual_bytes = Number(fields, 20);
    out.resident_bytes = Number(fields, 21) * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  // One of the names is the descriptor that reads the folder.
  if (auto fds = ListDir("/proc/self/fd"); fds.ok() && !fds->empty()) {
    out.open_fds = static_cast<double>(fds->size() - 1);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) out.max_fds = static_cast<double>(limit.rlim_cur);
  return out;
}

prometheus::MetricFamily Single(std::string name, std::string help, MetricType type, double value) {
  prometheus::ClientMetric metric;
  if (type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  return {std::move(name), std::move(help), type, {metric}};
}

std::vector<prometheus::MetricFamily> ProcessFamilies() {
  ProcessFacts p = ReadProcessFacts();
  return {
      Single("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", MetricType::Counter,
             p.cpu),
      Single("process_max_fds", "Maximum number of open file descriptors.", MetricType::Gauge, p.max_fds),
      Single("process_open_fds", "Number of open file descriptors.", MetricType::Gauge, p.open_fds),
      Single("process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::Gauge, p.resident_bytes),
      Single("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", MetricType::Gauge,
             p.start),
      Single("process_threads", "Number of threads of the process.", MetricType::Gauge, p.threads),
      Single("process_virtual_memory_bytes", "Virtual memory size in bytes.", MetricType::Gauge, p.virtual_bytes),
  };
}

}  // namespace

const Buckets& PassBuckets() {
  static const Buckets buckets = {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
                                  0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
                                  6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
  return buckets;
}

class Metrics::Impl {
 public:
  template <typename T>
  using Families = std::map<std::string, prometheus::Family<T>*>;

  // The family of that name and type; null where the name is of another type or not a name.
  template <typename T>
  prometheus::Family<T>* FamilyOf(Families<T>& families, const MetricFamily& family) CAPI_REQUIRES(mu) {
    auto known = families.find(family.name);
    if (known != families.end()) return known->second;
    try {
      auto& made = Builder<T>().Name(family.name).Help(family.help).Register(registry);
      return families[family.name] = &made;
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  template <typename T, typename... Args>
  T* MetricOf(Families<T>& families, const MetricFamily& family, const Labels& labels, const Args&... args)
      CAPI_REQUIRES(mu) {
    prometheus::Family<T>* made = FamilyOf(families, family);
    if (made == nullptr) return nullptr;
    try {
      return &made->Add(labels, args...);
    } catch (const std::exception&) {
      return nullptr;
    }
  }

  template <typename T, typename... Args>
  void RemoveFrom(Families<T>& families, const MetricFamily& family, const Labels& labels, const Args&... args)
      CAPI_REQUIRES(mu) {
    auto known = families.find(family.name);
    if (known == families.end() || !known->second->Has(labels)) return;
    known->second->Remove(&known->second->Add(labels, args...));
  }

  Mutex mu;
  prometheus::Registry registry;
  Families<prometheus::Counter> counters CAPI_GUARDED_BY(mu);
  Families<prometheus::Gauge> gauges CAPI_GUARDED_BY(mu);
  Families<prometheus::Histogram> histograms CAPI_GUARDED_BY(mu);
  Mutex looks_mu;  // held while they are called; taken before `mu`
  std::list<std::function<void()>> looks CAPI_GUARDED_BY(looks_mu);

 private:
  template <typename T>
  static auto Builder() {
    if constexpr (std::is_same_v<T, prometheus::Counter>) {
      return prometheus::BuildCounter();
    } else if constexpr (std::is_same_v<T, prometheus::Gauge>) {
      return prometheus::BuildGauge();
    } else {
      return prometheus::BuildHistogram();
    }
  }
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::Count(const MetricFamily& family, const Labels& labels, double by) {
  MutexLock lock(impl_->mu);
  if (auto* metric = impl_->MetricOf(impl_->counters, family, labels)) metric->Increment(by);
}

void Metrics::Set(const MetricFamily& family, const Labels& labels, double value) {
  MutexLock lock(impl_->mu);
  if (auto* metric = impl_->MetricOf(impl_->gauges, family, labels)) metric->Set(value);
}

void Metrics::Observe(const MetricFamily& family, const Labels& labels, double seconds, const Buckets& buckets) {
  MutexLock lock(impl_->mu);
  if (auto* metric = impl_->MetricOf(impl_->histograms, family, labels, buckets)) metric->Observe(seconds);
}

Metrics::Sample Metrics::Counter(const MetricFamily& family, const Labels& labels) {
  MutexLock lock(impl_->mu);
  auto* metric = impl_->MetricOf(impl_->counters, family, labels);
  return [metric](double by) {
    if (metric != nullptr) metric->Increment(by);
  };
}

Metrics::Sample Metrics::Gauge(const MetricFamily& family, const Labels& labels) {
  MutexLock lock(impl_->mu);
  auto* metric = impl_->MetricOf(impl_->gauges, family, labels);
  return [metric](double value) {
    if (metric != nullptr) metric->Set(value);
  };
}

Metrics::Sample Metrics::Histogram(const MetricFamily& family, const Labels& labels, const Buckets& buckets) {
  MutexLock lock(impl_->mu);
  auto* metric = impl_->MetricOf(impl_->histograms, family, labels, buckets);
  return [metric](double seconds) {
    if (metric != nullptr) metric->Observe(seconds);
  };
}

std::unique_ptr<MetricsLook> Metrics::BeforeText(std::function<void()> look) {
  MutexLock lock(impl_->looks_mu);
  auto at = impl_->looks.insert(impl_->looks.end(), std::move(look));
  return std::make_unique<MetricsLook>([impl = impl_.get(), at] {
    MutexLock ends(impl->looks_mu);
    impl->looks.erase(at);
  });
}

void Metrics::Remove(const MetricFamily& family, const Labels& labels) {
  MutexLock lock(impl_->mu);
  impl_->RemoveFrom(impl_->counters, family, labels);
  impl_->RemoveFrom(impl_->gauges, family, labels);
  impl_->RemoveFrom(impl_->histograms, family, labels, PassBuckets());
}

std::string Metrics::Text() const {
  {
    MutexLock lock(impl_->looks_mu);
    for (const auto& look : impl_->looks) look();
  }
  // Not under `mu`, for which everybody would wait: the registry has locks of its own.
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  for (auto& family : ProcessFamilies()) families.push_back(std::move(family));
  std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
  std::sort(families.begin(), families.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (auto& family : families) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace capi::kube
