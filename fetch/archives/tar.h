// Archives of files, as much of tar as an image layout needs. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace capi::fetch {

// Name and content, in this order. Names have 100 characters at most. The same files give the same bytes.
std::string WriteTar(const std::vector<std::pair<std::string, std::string_view>>& files);

// What WriteTar puts before a file's content and behind it, and at the end, for who writes piece by piece.
std::string TarHeader(const std::string& name, std::uint64_t size);
std::string TarPadding(std::uint64_t size);
std::string TarEnd();

// What an archive is read from, piece by piece. A value, whose copies read the same.
struct ByteSource {
  std::uint64_t size = 0;
  // So many bytes that begin there; fewer are an error.
  std::function<Result<std::string>(std::uint64_t at, size_t count)> read;
};
// Of a text that outlives it.
ByteSource SourceOf(std::string_view text);

// Where a file lies in an archive. A value.
struct TarEntry {
  std::uint64_t at = 0, size = 0;
};

// Its files by their names; folders are left out. kInvalidArgument for an archive that is cut off or goes on behind its
// end, for two entries of one name, for links, devices and extended headers, and for what has a wrong sum. Names are as
// they stand there: whoever wants files has to look.
Result<std::map<std::string, TarEntry>> ListTar(const ByteSource& archive);
// The same with what they hold, which lives as long as `archive`.
Result<std::map<std::string, std::string_view>> ReadTar(std::string_view archive);

}  // namespace capi::fetch
