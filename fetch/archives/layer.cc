#include "fetch/archives/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/strings.h"
#include "fetch/archives/tar_fields.h"

namespace capi::fetch {
namespace {

constexpr size_t kMostOfExtension = 1u << 20, kMostOfName = 4096, kShown = 100;
constexpr std::uint64_t kMostOfFile = std::uint64_t{1} << 40;
constexpr std::uint64_t kAnybodyMayExecute = 0111;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string Shown(std::string_view name) { return api::GoQuote(Shorten(std::string(name), kShown)); }

// GNU's form for numbers that octal digits don't hold: the first byte's high bit, then bytes.
Result<std::uint64_t> SizeOf(std::string_view header) {
  const std::string_view text = FieldOf(header, kTarSize);
  if ((static_cast<unsigned char>(text[0]) & 0x80) == 0) return NumberOf(header, kTarSize, "size");
  std::uint64_t value = static_cast<unsigned char>(text[0]) & 0x7f;
  for (char c : text.substr(1)) {
    if (value > kMostOfFile) break;
    value = (value << 8) | static_cast<unsigned char>(c);
  }
  return value;
}

// POSIX's archives alone have the beginning of long names there.
std::string NameOf(std::string_view header) {
  const std::string name = TextOf(header, kTarName);
  const std::string prefix = TextOf(header, kTarPrefix);
  const bool posix = FieldOf(header, kTarMagic).starts_with(std::string_view("ustar\0", 6));
  return posix && !prefix.empty() ? prefix + "/" + name : name;
}

// The oldest archives have no type for folders: their names end with a slash.
LayerEntry::Kind KindOf(char type, std::string_view name) {
  if ((type == '\0' || type == '0') && name.ends_with('/')) return LayerEntry::Kind::kFolder;
  switch (type) {
    case '\0':
    case '0':
    case '7': return LayerEntry::Kind::kFile;
    case '1': return LayerEntry::Kind::kHardLink;
    case '2': return LayerEntry::Kind::kSymbolicLink;
    case '5': return LayerEntry::Kind::kFolder;
    default: return LayerEntry::Kind::kOther;
  }
}

// Of these the size says nothing: nothing follows.
bool IsHeaderAlone(char type) { return type >= '1' && type <= '6'; }

bool IsExtension(char type) { return type == 'x' || type == 'g' || type == 'L' || type == 'K'; }

// "<length> <key>=<value>\n", one after the other.
Status ReadRecords(std::string_view text, const std::function<Status(std::string_view, std::string_view)>& visit) {
  while (!text.empty()) {
    const size_t space = text.find(' ');
    std::uint64_t length = 0;
    if (space == text.npos || !api::ParseUint(text.substr(0, space), length) || length > text.size() ||
        length < space + 2 || text[length - 1] != '\n')
      return Invalid("an extended header can't be read");
    const std::string_view record = text.substr(space + 1, length - space - 2);
    const size_t equals = record.find('=');
    if (equals == record.npos) return Invalid("an extended header can't be read");
    TRY(visit(record.substr(0, equals), record.substr(equals + 1)));
    text.remove_prefix(length);
  }
  return Ok();
}

}  // namespace

Status LayerReader::Add(std::string_view piece) {
  while (!piece.empty() && !ended_) {
    if (content_ > 0) {
      const auto count = static_cast<size_t>(std::min<std::uint64_t>(content_, piece.size()));
      TRY(TakeContent(piece.substr(0, count)));
      piece.remove_prefix(count);
    } else if (padding_ > 0) {
      const auto count = static_cast<size_t>(std::min<std::uint64_t>(padding_, piece.size()));
      padding_ -= count;
      piece.remove_prefix(count);
    } else {
      const size_t count = std::min(kTarBlock - header_.size(), piece.size());
      header_ += piece.substr(0, count);
      piece.remove_prefix(count);
      if (header_.size() < kTarBlock) break;
      std::string header;
      header.swap(header_);
      TRY(Header(header));
    }
  }
  return Ok();
}

Status LayerReader::Finish() const {
  const bool between = header_.empty() && content_ == 0 && padding_ == 0 && extension_ == '\0';
  const bool waits = !next_name_.empty() || !next_link_.empty() || !next_size_.empty();
  return ended_ || (between && !waits) ? Ok() : Status(Invalid("it is cut off"));
}

Status LayerReader::Header(std::string_view header) {
  if (IsEmptyBlock(header)) {
    ended_ = true;
    return Ok();
  }
  TRY(CheckTarHeader(header, true));
  const char type = header[kTarType.at];
  const std::uint64_t size = IsHeaderAlone(type) ? 0 : TRY(SizeOf(header));
  if (!IsExtension(type)) return Entry(header, type, size);
  if (size > kMostOfExtension) return Invalid("an extended header is too large");
  extension_ = type;
  extension_text_.clear();
  return BeginContent(size);
}

Status LayerReader::Entry(std::string_view header, char type, std::uint64_t size) {
  LayerEntry entry;
  const std::string name = std::exchange(next_name_, {}), link = std::exchange(next_link_, {});
  entry.name = name.empty() ? NameOf(header) : name;
  entry.kind = KindOf(type, entry.name);
  entry.link = link.empty() ? TextOf(header, kTarLink) : link;
  const std::string large = std::exchange(next_size_, {});
  if (!large.empty() && !IsHeaderAlone(type) && !api::ParseUint(large, size))
    return Invalid(fmt::format("entry {} has no size that is read", Shown(entry.name)));
  if (type == 'S')
    return Error{Code::kUnsupported, fmt::format("entry {} is a sparse file: none is read", Shown(entry.name)), {}};
  if (entry.name.size() > kMostOfName || entry.link.size() > kMostOfName)
    return Invalid(fmt::format("entry {} has too long a name", Shown(entry.name)));
  if (entry.name.find('\0') != std::string::npos || entry.link.find('\0') != std::string::npos)
    return Invalid(fmt::format("entry {} has a name that no file has", Shown(entry.name)));
  if (size > kMostOfFile) return Invalid(fmt::format("entry {} is too large", Shown(entry.name)));
  is_file_ = entry.kind == LayerEntry::Kind::kFile;
  entry.size = is_file_ ? size : 0;
  entry.executable = is_file_ && (TRY(NumberOf(header, kTarMode, "mode")) & kAnybodyMayExecute) != 0;
  TRY(visitor_.begin(entry));
  return BeginContent(size);
}

Status LayerReader::BeginContent(std::uint64_t size) {
  content_ = size;
  padding_ = PaddedSize(size) - size;
  return size == 0 ? EndContent() : Ok();
}

Status LayerReader::TakeContent(std::string_view piece) {
  if (extension_ != '\0') extension_text_ += piece;
  if (is_file_ && extension_ == '\0' && visitor_.content) TRY(visitor_.content(piece));
  content_ -= piece.size();
  return content_ == 0 ? EndContent() : Ok();
}

Status LayerReader::EndContent() {
  if (extension_ != '\0') return Extended();
  if (std::exchange(is_file_, false) && visitor_.end) return visitor_.end();
  return Ok();
}

Status LayerReader::Extended() {
  const char type = std::exchange(extension_, '\0');
  const std::string text = std::exchange(extension_text_, {});
  if (type == 'L') next_name_ = text.substr(0, text.find('\0'));
  if (type == 'K') next_link_ = text.substr(0, text.find('\0'));
  if (type != 'x') return Ok();  // of a global one nothing is of use
  return ReadRecords(text, [&](std::string_view key, std::string_view value) -> Status {
    if (key == "path") next_name_ = value;
    if (key == "linkpath") next_link_ = value;
    if (key == "size") next_size_ = value;
    if (key.starts_with("GNU.sparse.")) return Error{Code::kUnsupported, "it has a sparse file: none is read", {}};
    return Ok();
  });
}

}  // namespace capi::fetch
