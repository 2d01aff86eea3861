#include "base/processes/log_end.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "base/files.h"
#include "base/strings.h"

namespace capi {

Result<std::string> EndOfLog(const std::string& path, std::int64_t from) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError(path, errno);
  struct stat file {};
  const std::int64_t size = fstat(fd, &file) == 0 ? file.st_size : 0, begin = from > size ? 0 : from;
  const std::int64_t at = std::max(begin, size - kLogEnd);
  std::string text(static_cast<size_t>(kLogEnd), '\0');
  const ssize_t read = pread(fd, text.data(), text.size(), at);
  const int number = errno;
  close(fd);
  if (read < 0) return FileError(path, number);
  text.resize(static_cast<size_t>(read));
  if (at > begin) text.erase(0, std::min(text.find('\n'), text.size()));
  return text;
}

std::string LastLines(const std::string& path, size_t lines) {
  const auto text = EndOfLog(path);
  if (!text.ok()) return text.error().message;
  const std::vector<std::string> all = Split(Trim(*text), '\n');
  const size_t from = all.size() > lines ? all.size() - lines : 0;
  return Join(std::span(all).subspan(from), "\n");
}

}  // namespace capi
