#include "cli/frame/output.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/files.h"

namespace capi::cli {
namespace {

Status WriteThrough(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (file) return Ok();
  return Error{Code::kInternal, fmt::format("{}: {}", path, std::strerror(errno)), {}};
}

Status Write(const std::string& path, std::string_view content) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return WriteFile(path, content, 0600);
  if (S_ISDIR(info.st_mode)) return Error{Code::kInvalidArgument, path + ": is a folder", {}};
  if (!S_ISREG(info.st_mode)) return WriteThrough(path, content);
  std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr), &std::free);
  return WriteFile(target ? target.get() : path, content, info.st_mode & 0777);
}

}  // namespace

Status WriteOutputFile(const std::string& path, std::string_view content) {
  Status written = Write(path, content);
  return written.ok() ? written : written.error().With("failed to write to destination file");
}

}  // namespace capi::cli
