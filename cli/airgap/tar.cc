#include "cli/airgap/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/text.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr size_t kBlock = 512, kPiece = 1u << 20;
constexpr size_t kMostEntries = 50'000;
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

std::uint64_t Padded(std::uint64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

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
Result<std::uint64_t> NumberIn(std::string_view field, std::string_view what) {
  std::uint64_t value = 0;
  size_t digits = 0;
  for (; digits < field.size() && field[digits] >= '0' && field[digits] <= '7'; ++digits)
    value = value * 8 + static_cast<std::uint64_t>(field[digits] - '0');
  const bool ended = std::all_of(field.begin() + static_cast<std::ptrdiff_t>(digits), field.end(),
                                 [](char c) { return c == '\0' || c == ' '; });
  if (digits > 0 && ended) return value;
  return Invalid(fmt::format("an entry has no {} that is read", what));
}

std::string HeaderOf(const std::string& name, std::uint64_t size) {
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
  std::uint64_t size = 0;
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

std::string TarHeader(const std::string& name, std::uint64_t size) { return HeaderOf(name, size); }

std::string TarPadding(std::uint64_t size) { return std::string(static_cast<size_t>(Padded(size) - size), '\0'); }

std::string TarEnd() { return std::string(2 * kBlock, '\0'); }

std::string WriteTar(const std::vector<std::pair<std::string, std::string_view>>& files) {
  std::string out;
  for (const auto& [name, content] : files) {
    out += HeaderOf(name, content.size());
    out += content;
    out += TarPadding(content.size());
  }
  return out + TarEnd();
}

ByteSource SourceOf(std::string_view text) {
  return {text.size(), [text](std::uint64_t at, size_t count) -> Result<std::string> {
            return std::string(text.substr(static_cast<size_t>(at), count));
          }};
}

Result<std::map<std::string, TarEntry>> ListTar(const ByteSource& archive) {
  std::map<std::string, TarEntry> files;
  std::set<std::string> seen;
  std::uint64_t at = 0;
  while (archive.size - at >= kBlock) {
    const std::string header = TRY(archive.read(at, kBlock));
    if (IsEmpty(header)) break;
    Entry entry = TRY(ReadHeader(header));
    at += kBlock;
    const std::string shown = api::GoQuote(Shorten(entry.name, kMostOfName));
    if (!seen.insert(entry.name).second) return Invalid(fmt::format("entry {} is there twice", shown));
    if (seen.size() > kMostEntries) return Invalid(fmt::format("it has more than {} entries", kMostEntries));
    if (Padded(entry.size) > archive.size - at) return Invalid(fmt::format("it is cut off in {}", shown));
    if (!entry.folder) files[entry.name] = {at, entry.size};
    at += Padded(entry.size);
  }
  if (archive.size - at < 2 * kBlock) return Invalid("it is cut off: its end is missing");
  while (at < archive.size) {
    const auto count = static_cast<size_t>(std::min<std::uint64_t>(archive.size - at, kPiece));
    if (!IsEmpty(TRY(archive.read(at, count)))) return Invalid("something is behind its end");
    at += count;
  }
  return files;
}

Result<std::map<std::string, std::string_view>> ReadTar(std::string_view archive) {
  std::map<std::string, std::string_view> files;
  for (const auto& [name, entry] : TRY(ListTar(SourceOf(archive))))
    files[name] = archive.substr(static_cast<size_t>(entry.at), static_cast<size_t>(entry.size));
  return files;
}

}  // namespace capi::cli
