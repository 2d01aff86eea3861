// Time and memory of Render on a real release, and on inputs of 10 KB to 50 MB made of its documents.
//
// templating_benchmark COMPONENTS_FILE [--benchmark_...]; tools/bench starts it for each benchmark anew, so that memory
// is that of a fresh process, and draws the result.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/process_status.h"
#include "base/testing/value_or_abort.h"
#include "templating/render.h"

namespace capi::templating {
namespace {

constexpr size_t kSizes[] = {10'000,    30'000,     100'000,    300'000,   1'000'000,
                             3'000'000, 10'000'000, 30'000'000, 50'000'000};

// "VmRSS" or "VmHWM" of this process, in bytes.
double Memory(std::string_view name) {
  return static_cast<double>(ValueOrAbort(ProcessStatus(getpid(), name), name)) * 1024;
}

// From here on VmHWM is the peak since now.
void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::vector<std::string> DocumentsOf(const std::string& text) {
  std::vector<std::string> out;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find("\n---\n", begin), text.size());
    out.push_back(text.substr(begin, end - begin) + "\n---\n");
    begin = end + 5;
  }
  return out;
}

// The object of the document as another one: two of one name are refused.
std::string Renamed(std::string document, size_t round) {
  const size_t metadata = document.find("metadata:\n"), name = document.find("\n  name: ", metadata);
  if (round > 0 && name != document.npos) document.insert(document.find('\n', name + 1), fmt::format("-{}", round));
  return document;
}

// Documents in turn, as many as fit: the same mix at every size.
std::string InputOf(const std::vector<std::string>& documents, size_t size) {
  std::string out;
  bool fits = true;
  for (size_t round = 0; fits; ++round) {
    fits = false;
    for (const std::string& document : documents) {
      bool second = document.find("\nkind: Namespace\n") != document.npos && !out.empty();
      std::string renamed = Renamed(document, round);
      if (second || out.size() + renamed.size() > size) continue;
      out += renamed;
      fits = true;
    }
  }
  return out;
}

// What one benchmark keeps between the runs that the library makes of it.
struct Case {
  std::function<std::string()> make;
  std::string text;
  double peak = 0;  // of all renderings: the first one finds no heap to use again
};

void Run(benchmark::State& state, Case& c) {
  if (c.text.empty()) c.text = c.make();
  api::Release release;
  release.components = c.text;
  RenderInput input;
  input.name = "cluster-api";
  input.release = &release;
  input.target_namespace = "target-system";
  input.limits = {1u << 30, 1u << 30, 1'000'000};  // what it costs beyond them, too
  size_t objects = 0;
  for (auto _ : state) {
    state.PauseTiming();
    ResetPeak();
    double before = Memory("VmRSS");
    state.ResumeTiming();
    RenderResult result = Render(input);
    state.PauseTiming();
    c.peak = std::max(c.peak, Memory("VmHWM") - before);
    if (result.error) {
      state.SkipWithError(result.error->error.message.c_str());
      break;
    }
    objects = result.output ? result.output->objects.size() : 0;
    result = {};
    state.ResumeTiming();
  }
  auto bytes = static_cast<double>(c.text.size());
  state.counters["bytes"] = bytes;
  state.counters["peak"] = c.peak + bytes;  // the text itself was there before
  state.counters["objects"] = static_cast<double>(objects);
}

void Register(const std::string& name, std::function<std::string()> make) {
  auto c = std::make_shared<Case>(Case{.make = std::move(make)});
  benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& state) { Run(state, *c); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

}  // namespace
}  // namespace capi::templating

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  auto text = argc == 2 ? capi::ReadFile(argv[1]) : capi::Error{capi::Code::kInvalidArgument, "name a file", {}};
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", argv[0], text.error().message);
    return 1;
  }
  capi::templating::Register("release", [&] { return *text; });
  auto documents = capi::templating::DocumentsOf(*text);
  for (size_t size : capi::templating::kSizes) {
    capi::templating::Register(fmt::format("size/{}", size),
                               [&documents, size] { return capi::templating::InputOf(documents, size); });
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
