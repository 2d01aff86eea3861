#include "cli/local/logs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/files.h"
#include "base/strings.h"
#include "cli/frame/printable.h"
#include "cli/local/place.h"

namespace capi::cli {
namespace {

constexpr Millis kPause{200};
constexpr int kTailOfMany = 10;
constexpr size_t kMostTail = 4u << 20;  // bytes that lines are counted in
constexpr std::string_view kExtension = ".log";

std::vector<std::string> LogNames(const std::string& folder) {
  std::vector<std::string> out;
  auto names = ListDir(folder);
  if (!names.ok()) return out;
  for (const std::string& name : *names) {
    if (name.ends_with(kExtension)) out.push_back(name.substr(0, name.size() - kExtension.size()));
  }
  return out;
}

// How far a log is printed. Thread-compatible.
class Reader {
 public:
  Reader(std::string path, World& world) : path_(std::move(path)), world_(world) {}

  // The next piece goes to the output; whether there was one.
  bool Print(const std::string& header) {
    std::ifstream file(path_, std::ios::binary);
    struct stat info {};
    if (!file || stat(path_.c_str(), &info) != 0) return false;
    const bool anew = static_cast<size_t>(info.st_size) < at_ || (inode_ != 0 && info.st_ino != inode_);
    inode_ = info.st_ino;
    if (anew) at_ = 0;
    file.seekg(static_cast<std::streamoff>(at_));
    bool any = false;
    char piece[1 << 16];
    while (file.read(piece, sizeof piece) || file.gcount() > 0) {
      const std::string_view text(piece, static_cast<size_t>(file.gcount()));
      if (!any) world_.out << header;
      any = true;
      at_ += text.size();
      if (world_.terminal) {
        world_.out << Printable(text);
      } else {
        world_.out << text;
      }
    }
    return any;
  }

  // Leaves out all but the last `lines`.
  void SkipTo(int lines) {
    std::ifstream file(path_, std::ios::binary | std::ios::ate);
    if (!file || lines < 0) return;
    const size_t size = static_cast<size_t>(file.tellg());
    const size_t from = size > kMostTail ? size - kMostTail : 0;
    std::string text(size - from, '\0');
    file.seekg(static_cast<std::streamoff>(from));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    size_t start = text.size();
    // The last line may have no break yet.
    const int breaks = lines + (text.ends_with('\n') ? 1 : 0);
    for (int i = 0; i < breaks && start != text.npos && start > 0; ++i)
      start = text.rfind('\n', i == 0 ? text.npos : start - 1);
    const bool whole = lines > 0 && (start == text.npos || start == 0);
    at_ = lines == 0 ? size : whole ? from : from + start + 1;
  }

 private:
  const std::string path_;
  World& world_;
  size_t at_ = 0;
  ino_t inode_ = 0;
};

Error NoSuchLog(const std::string& name, const std::vector<ProcessLog>& logs) {
  std::vector<std::string> names;
  for (const ProcessLog& log : logs) names.push_back(log.name);
  return {Code::kNotFound,
          fmt::format("no process \"{}\"; there {}", name, names.empty() ? "are none yet" : "are " + Join(names, ", ")),
          {}};
}

}  // namespace

std::vector<ProcessLog> LogsOf(const local::PlaneFolder& folder) {
  std::vector<ProcessLog> out;
  for (const std::string& name : LogNames(folder.Logs())) out.push_back({name, folder.Log(name)});
  auto pods = ListDir(folder.Pods());
  for (const std::string& pod : pods.ok() ? *pods : std::vector<std::string>()) {
    const std::string path = fmt::format("{}/{}", folder.Pods(), pod);
    const size_t underscore = pod.find('_');
    if (underscore == pod.npos) continue;
    for (const std::string& container : LogNames(path)) {
      out.push_back({fmt::format("{}/{}:{}", pod.substr(0, underscore), pod.substr(underscore + 1), container),
                     fmt::format("{}/{}{}", path, container, kExtension)});
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

std::vector<ProcessLog> MeantBy(const std::string& text, const std::vector<ProcessLog>& logs) {
  if (text.empty()) return logs;
  std::vector<ProcessLog> out;
  for (const ProcessLog& log : logs) {
    const std::string pod = log.name.substr(0, log.name.find(':'));
    const std::string name = pod.substr(pod.find('/') == pod.npos ? 0 : pod.find('/') + 1);
    const bool begins = pod != log.name && (name.starts_with(text + "-") || pod.starts_with(text + "-"));
    if (log.name == text || pod == text || name == text || begins) out.push_back(log);
  }
  return out;
}

Status LocalLogs(const Context& ctx, const LocalLogsOptions& options, World& world) {
  if (options.names.size() > 1) return Error{Code::kInvalidArgument, "name one process at most", {}};
  if (options.tail < -1) return Error{Code::kInvalidArgument, "--tail must not be negative", {}};
  const std::string name = options.names.empty() ? "" : options.names.front();
  const local::PlaneFolder folder = TRY(OpenPlane(options.folder, world.getenv));
  std::map<std::string, Reader> readers;
  std::string last;
  for (bool first = true;; first = false) {
    const std::vector<ProcessLog> all = LogsOf(folder);
    const std::vector<ProcessLog> meant = MeantBy(name, all);
    if (meant.empty() && first && !(name.empty() && options.follow)) return NoSuchLog(name, all);
    for (const ProcessLog& log : meant) {
      auto [at, fresh] = readers.try_emplace(log.path, log.path, world);
      const bool many = meant.size() > 1 || readers.size() > 1;
      if (fresh && first) at->second.SkipTo(options.tail >= 0 ? options.tail : many ? kTailOfMany : -1);
      const std::string header = many && last != log.name ? fmt::format("==> {} <==\n", log.name) : "";
      if (at->second.Print(header)) last = log.name;
    }
    world.out.flush();
    if (!options.follow || !world.out || !ctx.clock->Sleep(ctx.stop, kPause)) return Ok();
  }
}

}  // namespace capi::cli
