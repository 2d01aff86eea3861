#include "local/programs/executable.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "base/files.h"
#include "base/strings.h"

namespace capi::local {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t kMachine = 62;
constexpr std::string_view kPlatform = "linux/amd64";
#elif defined(__aarch64__)
constexpr std::uint64_t kMachine = 183;
constexpr std::string_view kPlatform = "linux/arm64";
#else
#error "name this machine as ELF and as images have it"
#endif

constexpr size_t kHead = 64 << 10;  // where a program says what it wants
constexpr size_t kLongestPath = 4096;
constexpr std::string_view kElf =
                               "\x7f"
                               "ELF",
                           kUsualSearch = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

Error DoesntRun(const std::string& path, std::string_view why) {
  return Error{Code::kUnsupported, fmt::format("{} {}", path, why), {}};
}

struct OpenFile {
  explicit OpenFile(const std::string& path) : fd(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd >= 0) close(fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const int fd;
};

Result<std::string> HeadOf(const std::string& path) {
  const OpenFile file(path);
  if (file.fd < 0) return FileError(path, errno);
  std::string out(kHead, '\0');
  const ssize_t n = pread(file.fd, out.data(), out.size(), 0);
  if (n < 0) return FileError(path, errno);
  out.resize(static_cast<size_t>(n));
  return out;
}

// Little-endian; 0 beyond the end.
std::uint64_t NumberAt(std::string_view bytes, std::uint64_t at, size_t size) {
  std::uint64_t value = 0;
  for (size_t i = size; i-- > 0;)
    value =
        (value << 8) | (at < bytes.size() && i < bytes.size() - at ? static_cast<unsigned char>(bytes[at + i]) : 0u);
  return value;
}

// The loader that a program of 64 bits wants; "" for a static one.
std::string LoaderOf(std::string_view head) {
  constexpr std::uint64_t kHeaders = 32, kHeaderSize = 54, kHeaderCount = 56, kInterpreter = 3, kMostHeaders = 1000;
  const std::uint64_t from = NumberAt(head, kHeaders, 8), size = NumberAt(head, kHeaderSize, 2);
  const std::uint64_t count = NumberAt(head, kHeaderCount, 2);
  for (std::uint64_t i = 0; i < count && i < kMostHeaders && from < head.size(); ++i) {
    const std::uint64_t at = from + i * size;
    if (NumberAt(head, at, 4) != kInterpreter) continue;
    const std::uint64_t name = NumberAt(head, at + 8, 8), length = NumberAt(head, at + 32, 8);
    if (name >= head.size() || length > kLongestPath) return "?";
    const std::string_view text = head.substr(static_cast<size_t>(name), static_cast<size_t>(length));
    return std::string(text.substr(0, text.find('\0')));
  }
  return "";
}

// The architecture that ELF's number is for, where images have one of that name.
std::string ArchitectureOf(std::uint64_t machine) {
  switch (machine) {
    case 3: return "386";
    case 21: return "ppc64le";
    case 22: return "s390x";
    case 40: return "arm";
    case 62: return "amd64";
    case 183: return "arm64";
    case 243: return "riscv64";
    default: return fmt::format("number {} of ELF", machine);
  }
}

Status CheckElf(const std::string& path, std::string_view head) {
  constexpr size_t kClass = 4, kData = 5, kMachineAt = 18;
  constexpr unsigned char k64Bits = 2, kLittleEndian = 1;
  const std::uint64_t machine = NumberAt(head, kMachineAt, 2);
  if (NumberAt(head, kClass, 1) != k64Bits || NumberAt(head, kData, 1) != kLittleEndian || machine != kMachine)
    return DoesntRun(path, fmt::format("is a program for another architecture ({}): this machine is {}",
                                       ArchitectureOf(machine), kPlatform));
  const std::string loader = LoaderOf(head);
  if (loader.empty() || access(loader.c_str(), X_OK) == 0) return Ok();
  return DoesntRun(path,
                   fmt::format("isn't a static program: it wants the loader {}, which isn't on this machine", loader));
}

Status CheckScript(const std::string& path, std::string_view head) {
  std::string_view line = head.substr(2, head.find('\n') == head.npos ? head.npos : head.find('\n') - 2);
  line = Trim(line);
  const std::string interpreter(line.substr(0, line.find_first_of(" \t")));
  if (interpreter.starts_with('/') && access(interpreter.c_str(), X_OK) == 0) return Ok();
  return DoesntRun(path, fmt::format("is a script for \"{}\", which isn't on this machine", Shorten(interpreter, 100)));
}

bool IsExecutableFile(const std::string& path) {
  struct stat info {};
  constexpr mode_t kAnybody = 0111;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & kAnybody) != 0;
}

}  // namespace

std::string PathBelow(const std::string& root, std::string_view path) {
  std::vector<std::string> out;
  for (std::string& part : Split(path, '/')) {
    if (part == ".." && !out.empty()) out.pop_back();
    if (!part.empty() && part != "." && part != "..") out.push_back(std::move(part));
  }
  return out.empty() ? root : root + "/" + Join(out, "/");
}

std::string_view ThisPlatform() { return kPlatform; }

Status CheckRuns(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return FileError(path, errno);
  if (!S_ISREG(info.st_mode)) return DoesntRun(path, "is no file");
  if (access(path.c_str(), X_OK) != 0) return DoesntRun(path, "may not be executed: see its mode (chmod +x)");
  const std::string head = TRY(HeadOf(path));
  if (head.starts_with(kElf)) return CheckElf(path, head);
  if (head.starts_with("#!")) return CheckScript(path, head);
  return DoesntRun(path, "is neither a program nor a script that names its interpreter");
}

Result<std::string> ProgramIn(const std::string& root, const std::string& word, const std::string& folder,
                              std::string_view search) {
  const Error missing{Code::kNotFound, fmt::format("the image has no program \"{}\"", Shorten(word, 100)), {}};
  if (word.empty() || word.find('\0') != word.npos) return missing;
  if (word.find('/') != word.npos) {
    const std::string path = PathBelow(root, word.starts_with('/') ? word : folder + "/" + word);
    return IsExecutableFile(path) ? Result<std::string>(path) : Result<std::string>(missing);
  }
  for (const std::string& one : Split(search.empty() ? kUsualSearch : search, ':')) {
    const std::string path = PathBelow(root, one + "/" + word);
    if (one.starts_with('/') && IsExecutableFile(path)) return path;
  }
  return missing;
}

}  // namespace capi::local
