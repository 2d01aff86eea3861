#include "cli/airgap/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/text.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kMostEntries = 10'000;
constexpr size_t kMostOfName = 100;

// Where a header has what, and how long it is.
struct Field {
  size_t at, size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kOwner{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kSum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string_view Of(std::string_view header, Field field) { return header.substr(field.at, field.size); }

void Set(std::string& header, Field field, std::string_view text) { header.replace(field.at, text.size(), text); }

size_t Padded(size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

// Of all bytes, those of the sum itself as spaces.
unsigned SumOf(std::string_view header) {
  unsigned sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    bool own = i >= kSum.at && i < kSum.at + kSum.size;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

// Octal digits, ended by a zero byte or spaces.
Result<size_t> NumberIn(std::string_view field, std::string_view what) {
  size_t value = 0, digits = 0;
  for (; digits < field.size() && field[digits] >= '0' && field[digits] <= '7'; ++digits)
    value = value * 8 + static_cast<size_t>(field[digits] - '0');
  const bool ended = std::all_of(field.begin() + static_cast<std::ptrdiff_t>(digits), field.end(),
                                 [](char c) { return c == '\0' || c == ' '; });
  if (digits > 0 && ended) return value;
  return Invalid(fmt::format("an entry has no {} that is read", what));
}

std::string HeaderOf(const std::string& name, size_t size) {
  std::string header(kBlock, '\0');
  Set(header, kName, name);
  Set(header, kMode, "0000644");
  Set(header, kOwner, "0000000");
  Set(header, kGroup, "0000000");
  Set(header, kSize, fmt::format("{:011o}", size));
  Set(header, kTime, "00000000000");
  Set(header, kType, "0");
  Set(header, kMagic,
      std::string_view("ustar\0"
                       "00",
                       8));
  Set(header, kSum, fmt::format("{:06o}", SumOf(header)) + std::string("\0 ", 2));
  return header;
}

bool IsEmpty(std::string_view block) { return block.find_first_not_of('\0') == block.npos; }

struct Entry {
  std::string name;
  size_t size = 0;
  bool folder = false;
};

Result<Entry> ReadHeader(std::string_view header) {
  if (TRY(NumberIn(Of(header, kSum), "sum")) != SumOf(header) || !Of(header, kMagic).starts_with("ustar"))
    return Invalid("it is no tar archive, or was damaged on its way");
  std::string_view name = Of(header, kName);
  Entry entry{std::string(name.substr(0, name.find('\0')))};
  entry.size = TRY(NumberIn(Of(header, kSize), "size"));
  const char type = header[kType.at];
  entry.folder = type == '5';
  const std::string shown = api::GoQuote(Shorten(entry.name, kMostOfName));
  if (type != '0' && type != '\0' && !entry.folder)
    return Invalid(
        fmt::format("entry {} is a link, a device or an extended header: files and folders alone are read", shown));
  if (Of(header, kPrefix).front() != '\0') return Invalid(fmt::format("entry {} has too long a name", shown));
  if (entry.folder && entry.size != 0) return Invalid(fmt::format("entry {} is a folder with content", shown));
  return entry;
}

}  // namespace

std::string WriteTar(const std::vector<std::pair<std::string, std::string_view>>& files) {
  std::string out;
  for (const auto& [name, content] : files) {
    out += HeaderOf(name, content.size());
    out += content;
    out.resize(Padded(out.size()), '\0');
  }
  return out.append(2 * kBlock, '\0');
}

Result<std::map<std::string, std::string_view>> ReadTar(std::string_view archive) {
  std::map<std::string, std::string_view> files;
  std::map<std::string, bool> seen;
  while (archive.size() >= kBlock && !IsEmpty(archive.substr(0, kBlock))) {
    Entry entry = TRY(ReadHeader(archive.substr(0, kBlock)));
    archive.remove_prefix(kBlock);
    const std::string shown = api::GoQuote(Shorten(entry.name, kMostOfName));
    if (!seen.emplace(entry.name, true).second) return Invalid(fmt::format("entry {} is there twice", shown));
    if (seen.size() > kMostEntries) return Invalid(fmt::format("it has more than {} entries", kMostEntries));
    if (entry.size > archive.size() || Padded(entry.size) > archive.size())
      return Invalid(fmt::format("it is cut off in {}", shown));
    if (!entry.folder) files[entry.name] = archive.substr(0, entry.size);
    archive.remove_prefix(Padded(entry.size));
  }
  if (archive.size() < 2 * kBlock) return Invalid("it is cut off: its end is missing");
  if (!IsEmpty(archive)) return Invalid("something is behind its end");
  return files;
}

}  // namespace capi::cli
