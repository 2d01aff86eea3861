#include "cli/frame/output.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

namespace capi::cli {
namespace {

Status WriteThrough(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (file) return Ok();
  return Error{Code::kInternal, fmt::format("{}: {}", path, std::strerror(errno)), {}};
}

// What a path names. A value.
struct Target {
  std::string path;  // behind symbolic links
  bool is_file = true;
  unsigned mode = 0600;
};

Result<Target> TargetOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return Target{path};
  if (S_ISDIR(info.st_mode)) return Error{Code::kInvalidArgument, path + ": is a folder", {}};
  std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return Target{real ? real.get() : path, S_ISREG(info.st_mode), info.st_mode & 0777};
}

Status Write(const std::string& path, std::string_view content) {
  const Target target = TRY(TargetOf(path));
  return target.is_file ? WriteFile(target.path, content, target.mode) : WriteThrough(path, content);
}

Result<std::unique_ptr<NewFile>> New(const std::string& path) {
  const Target target = TRY(TargetOf(path));
  if (target.is_file) return NewFile::Create(target.path, target.mode);
  return Error{Code::kInvalidArgument, path + ": something is there that is no file: name another one", {}};
}

constexpr std::string_view kFailed = "failed to write to destination file";

}  // namespace

Status WriteOutputFile(const std::string& path, std::string_view content) {
  Status written = Write(path, content);
  return written.ok() ? written : written.error().With(kFailed);
}

Result<std::unique_ptr<NewFile>> NewOutputFile(const std::string& path) { return TRY_WITH(New(path), kFailed); }

}  // namespace capi::cli
