#include "local/node/command/program_help.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "base/encoding.h"
#include "base/files.h"
#include "base/json.h"
#include "base/processes/process.h"
#include "local/node/container_plan.h"

namespace capi::local {
namespace {

constexpr std::array kHelpTimes = {Seconds(5), Seconds(20)};  // a machine may be busy; what knows no --help runs on
constexpr Seconds kUnsure{60};
constexpr Millis kTick{50};
constexpr size_t kLongestHelp = 1u << 20;

// What a program prints, without a file: a full disk would cut it off. Thread-compatible.
class Pipe {
 public:
  static Result<std::unique_ptr<Pipe>> Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return FileError("a pipe", errno);
    return std::unique_ptr<Pipe>(new Pipe(ends));
  }
  ~Pipe() {
    for (int end : ends_) close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Whoever opens it writes into it, and waits where it is full.
  std::string path() const { return fmt::format("/proc/self/fd/{}", ends_[1]); }
  // Adds what is in it. Who says more than a help does may say it, so that it ends, but isn't listened to; for one
  // look.
  void Drain(std::string& text) const {
    std::array<char, 4096> piece{};
    ssize_t size = 0;
    for (size_t all = 0; all < kLongestHelp && (size = read(ends_[0], piece.data(), piece.size())) > 0;) {
      all += static_cast<size_t>(size);
      if (text.size() < kLongestHelp) text.append(piece.data(), static_cast<size_t>(size));
    }
  }

 private:
  explicit Pipe(std::array<int, 2> ends) : ends_(ends) {}
  const std::array<int, 2> ends_;
};

// By itself, and not for want of a library or by a signal.
constexpr int kNotRun = 126;

struct Answer {
  Flags flags;
  bool ended = false;  // by itself
};

Result<Answer> AskProgram(const Context& ctx, const std::string& path, const std::string& folder,
                          const std::vector<std::string>& environment, Seconds limit) {
  const std::unique_ptr<Pipe> pipe = TRY(Pipe::Open());
  Context soon = ctx.WithTimeout(limit);
  auto process = TRY(Process::Start({.argv = {path, "--help"},
                                     .log_file = pipe->path(),
                                     .folder = folder,
                                     .environment = environment,
                                     .inherit_environment = false}));
  const pid_t group = process->pid();
  std::string text;
  bool late = false;
  std::optional<int> code;
  while (!(code = process->Wait(kTick))) {
    pipe->Drain(text);
    late = late || !soon.Check().ok();
    if (late) process->Signal(SIGKILL);
  }
  kill(-group, SIGKILL);
  pipe->Drain(text);
  return Answer{FlagsOfHelp(text), !late && *code < kNotRun};
}

// What a file is: another one has another key. The number is that of how a help is read: a change of it is one of this.
constexpr int kReading = 1;
std::string KeyOf(const std::string& path, const struct stat& file) {
  return fmt::format("{} {} {} {} {} {}", kReading, path, file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec,
                     file.st_ino);
}

bool IsMachineCode(const std::string& path) {
  std::array<char, 4> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return std::string_view(head.data(), head.size()) ==
         "\x7f"
         "ELF";
}

// One for each path, so that a program that is built anew each hour leaves one.
std::string FileOf(const std::string& folder, const std::string& path) {
  return fmt::format("{}/{}.json", folder, Sha256Hex(path));
}

// What was kept of that file; nullopt for anything else, and for what isn't whole.
std::optional<Flags> ReadKept(const std::string& file, const std::string& key) {
  auto text = ReadFile(file, kLongestHelp);
  auto json = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!json.ok() || GetString(*json, {"program"}) != key) return std::nullopt;
  const Json* all = Find(*json, {"flags"});
  if (all == nullptr || !all->is_object()) return std::nullopt;
  Flags flags;
  for (const auto& [name, value] : all->items()) {
    if (!value.is_string()) return std::nullopt;
    flags[name] = value.get<std::string>();
  }
  return flags;
}

// Without it the program is asked again: nobody has to know why it couldn't be kept.
void Keep(const std::string& file, const std::string& key, const Flags& flags) {
  std::error_code ignored;
  std::filesystem::create_directories(file.substr(0, file.rfind('/')), ignored);
  Json json = {{"program", key}, {"flags", Json::object()}};
  for (const auto& [name, value] : flags) json["flags"][name] = value;
  (void)WriteFile(file, ToJsonText(json), 0600);
}

// The last answer of those that it gives in its times.
Result<Answer> AskPatiently(const Context& ctx, const std::string& path, const std::string& folder,
                            const std::vector<std::string>& environment) {
  Answer answer;
  for (Seconds limit : kHelpTimes) {
    auto asked = AskProgram(ctx, path, folder, environment, limit);
    if (!asked.ok()) return Error{Code::kUnavailable, "its --help can't be asked: " + asked.error().message, {}};
    TRY(ctx.Check());  // it may have been cut off
    answer = std::move(*asked);
    if (answer.ended) break;
  }
  return answer;
}

}  // namespace

std::optional<Flags> ProgramHelp::KnownFlags(const Context& ctx, const std::string& key) const {
  MutexLock lock(mu_);
  auto known = known_.find(key);
  const bool counts = known != known_.end() && ctx.clock->Monotonic() < known->second.until;
  return counts ? std::optional(known->second.flags) : std::nullopt;
}

Result<Flags> ProgramHelp::Of(const Context& ctx, const std::string& path, const std::string& folder,
                              const std::vector<std::string>& environment) {
  struct stat file {};
  stat(path.c_str(), &file);
  const std::string key = KeyOf(path, file);
  const Turns::Turn turn = TRY(asked_.Take(ctx, key));
  if (auto known = KnownFlags(ctx, key)) return *known;
  // A default may be the value of a variable, which no file is to have, and which is another one tomorrow.
  const bool keeps = !folder_.empty() && IsMachineCode(path) && ValuesToHide(environment).empty();
  auto kept = keeps ? ReadKept(FileOf(folder_, path), key) : std::nullopt;
  Answer answer;
  if (kept) {
    answer = {std::move(*kept), true};
  } else {
    answer = TRY(AskPatiently(ctx, path, folder, environment));
    // An answer without flags may be that of a program that couldn't start, for want of memory, say.
    if (keeps && answer.ended && !answer.flags.empty()) Keep(FileOf(folder_, path), key, answer.flags);
  }
  MutexLock lock(mu_);
  Known& known = known_[key];
  known = {std::move(answer.flags), answer.ended ? MonoTime::max() : ctx.clock->Monotonic() + kUnsure};
  return known.flags;
}

}  // namespace capi::local
