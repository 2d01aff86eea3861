#include "base/testing/cost.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string_view>

#include "base/heap.h"
#include "base/testing/process_status.h"

namespace capi {
namespace {

// "VmRSS" or "VmHWM" of this process, in bytes.
Result<double> Memory(std::string_view name) { return static_cast<double>(TRY(ProcessStatus(getpid(), name))) * 1024; }

double CpuSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// "SECONDS BYTES ANSWER", or why the memory isn't known.
Result<std::string> Report(const std::function<std::string()>& work) {
  KeepHeapSmall();  // as the operator does
  malloc_trim(0);   // what is free already would be used again, and not be seen
  std::ofstream("/proc/self/clear_refs") << "5";
  const double before = TRY(Memory("VmRSS"));
  double begin = CpuSeconds();
  std::string answer = work();
  const double peak = TRY(Memory("VmHWM"));
  return fmt::format("{} {} {}", CpuSeconds() - begin, peak - before, answer.substr(0, 1000));
}

}  // namespace

Cost Measure(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return {"it ended: no pipe", 0, 0};
  pid_t child = fork();
  if (child == 0) {
    auto report = Report(work);
    std::string text = report.ok() ? *report : report.error().message;
    _exit(write(ends[1], text.data(), text.size()) < 0 || !report.ok() ? 1 : 0);
  }
  close(ends[1]);
  std::string report;
  char piece[4096];
  for (ssize_t n = 0; (n = read(ends[0], piece, sizeof piece)) > 0;) report.append(piece, static_cast<size_t>(n));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  size_t first = report.find(' '), second = report.find(' ', first + 1);
  if (status != 0 || second == report.npos) return {"it ended: " + report, 0, 0};
  return {report.substr(second + 1), std::stod(report.substr(0, first)), std::stod(report.substr(first + 1))};
}

}  // namespace capi
