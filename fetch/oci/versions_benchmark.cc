// What a list of versions costs: the tags of a repository in a registry, which the first argument names.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/testing/process_status.h"
#include "base/testing/value_or_abort.h"
#include "fetch/oci/oci.h"

namespace capi::fetch {
namespace {

double Memory(const char* name) {
  return static_cast<double>(ValueOrAbort(ProcessStatus(getpid(), name), name)) * 1024;
}

// From here on VmHWM is the peak since now.
void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

// Each time of a repository that knows nothing yet.
void Versions(benchmark::State& state, const std::string& reference) {
  double peak = 0;  // of all times: the first one finds no heap to use again
  size_t found = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto repository = ValueOrAbort(OpenOci(reference, api::ProviderType::kInfrastructure, "aws", {}), "a repository");
    ResetPeak();
    const double before = Memory("VmRSS");
    state.ResumeTiming();
    auto versions = repository->Versions({});
    state.PauseTiming();
    peak = std::max(peak, Memory("VmHWM") - before);
    if (versions.ok()) found = versions->size();
    if (!versions.ok()) state.SkipWithError(versions.error().message.c_str());
    versions = std::vector<api::Version>();
    state.ResumeTiming();
  }
  state.counters["versions"] = static_cast<double>(found);
  state.counters["peak"] = peak;
}

}  // namespace
}  // namespace capi::fetch

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) return 2;
  const std::string reference = argv[1];
  benchmark::RegisterBenchmark("Versions",
                               [reference](benchmark::State& state) { capi::fetch::Versions(state, reference); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
