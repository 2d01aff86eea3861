#include "fetch/archives/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/text.h"
#include "base/strings.h"
#include "fetch/archives/tar_fields.h"

namespace capi::fetch {
namespace {

constexpr size_t kBlock = kTarBlock, kPiece = 1u << 20;
constexpr size_t kMostEntries = 50'000;
constexpr size_t kMostOfName = 100;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

void Set(std::string& header, TarField field, std::string_view text) { header.replace(field.at, text.size(), text); }

std::string HeaderOf(const std::string& name, std::uint64_t size) {
  std::string header(kBlock, '\0');
  Set(header, kTarName, name);
  Set(header, kTarMode, "0000644");
  Set(header, kTarOwner, "0000000");
  Set(header, kTarGroup, "0000000");
  Set(header, kTarSize, fmt::format("{:011o}", size));
  Set(header, kTarTime, "00000000000");
  Set(header, kTarType, "0");
  Set(header, kTarMagic,
      std::string_view("ustar\0"
                       "00",
                       8));
  Set(header, kTarSum, fmt::format("{:06o}", SumOf(header)) + std::string("\0 ", 2));
  return header;
}

struct Entry {
  std::string name;
  std::uint64_t size = 0;
  bool folder = false;
};

Result<Entry> ReadHeader(std::string_view header) {
  TRY(CheckTarHeader(header));
  Entry entry{TextOf(header, kTarName)};
  entry.size = TRY(NumberOf(header, kTarSize, "size"));
  const char type = header[kTarType.at];
  entry.folder = type == '5';
  const std::string shown = api::GoQuote(Shorten(entry.name, kMostOfName));
  if (type != '0' && type != '\0' && !entry.folder)
    return Invalid(
        fmt::format("entry {} is a link, a device or an extended header: files and folders alone are read", shown));
  if (FieldOf(header, kTarPrefix).front() != '\0') return Invalid(fmt::format("entry {} has too long a name", shown));
  if (entry.folder && entry.size != 0) return Invalid(fmt::format("entry {} is a folder with content", shown));
  return entry;
}

}  // namespace

std::string TarHeader(const std::string& name, std::uint64_t size) { return HeaderOf(name, size); }

std::string TarPadding(std::uint64_t size) { return std::string(static_cast<size_t>(PaddedSize(size) - size), '\0'); }

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
    if (IsEmptyBlock(header)) break;
    Entry entry = TRY(ReadHeader(header));
    at += kBlock;
    const std::string shown = api::GoQuote(Shorten(entry.name, kMostOfName));
    if (!seen.insert(entry.name).second) return Invalid(fmt::format("entry {} is there twice", shown));
    if (seen.size() > kMostEntries) return Invalid(fmt::format("it has more than {} entries", kMostEntries));
    if (PaddedSize(entry.size) > archive.size - at) return Invalid(fmt::format("it is cut off in {}", shown));
    if (!entry.folder) files[entry.name] = {at, entry.size};
    at += PaddedSize(entry.size);
  }
  if (archive.size - at < 2 * kBlock) return Invalid("it is cut off: its end is missing");
  while (at < archive.size) {
    const auto count = static_cast<size_t>(std::min<std::uint64_t>(archive.size - at, kPiece));
    if (!IsEmptyBlock(TRY(archive.read(at, count)))) return Invalid("something is behind its end");
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

}  // namespace capi::fetch
