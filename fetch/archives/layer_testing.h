// For tests of layers: entries of any kind.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "fetch/archives/tar.h"
#include "fetch/archives/tar_fields.h"

namespace capi::fetch {

// A value.
struct TestEntry {
  std::string name;
  char type = '0';  // as tar has it
  std::string content = {};
  std::string link = {};
  unsigned mode = 0644;
};

inline std::string WithSum(std::string header) {
  std::string digits = fmt::format("{:06o}", SumOf(header));
  return header.replace(kTarSum.at, kTarSum.size, digits + std::string("\0 ", 2));
}

inline std::string TestHeader(const TestEntry& entry) {
  std::string header = TarHeader(entry.name, entry.content.size());
  header[kTarType.at] = entry.type;
  header.replace(kTarLink.at, entry.link.size(), entry.link);
  header.replace(kTarMode.at, 7, fmt::format("{:07o}", entry.mode));
  return WithSum(header);
}

inline std::string TestLayer(const std::vector<TestEntry>& entries) {
  std::string out;
  for (const TestEntry& entry : entries) out += TestHeader(entry) + entry.content + TarPadding(entry.content.size());
  return out + TarEnd();
}

// "<length> <key>=<value>\n"
inline std::string ExtendedRecord(std::string_view key, std::string_view value) {
  const std::string rest = fmt::format(" {}={}\n", key, value);
  size_t length = rest.size() + 1;
  while (fmt::format("{}{}", length, rest).size() != length) ++length;
  return fmt::format("{}{}", length, rest);
}

}  // namespace capi::fetch
