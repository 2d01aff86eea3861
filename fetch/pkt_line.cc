#include "fetch/pkt_line.h"

#include <fmt/format.h>

#include <charconv>

namespace capi::fetch {
namespace {

constexpr size_t kLengthDigits = 4;

Error NoLine(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

}  // namespace

Result<PktLine> TakePktLine(std::string_view& text) {
  if (text.size() < kLengthDigits) return NoLine("it is cut off");
  size_t length = 0;
  const char* digits = text.data();
  if (auto [end, failure] = std::from_chars(digits, digits + kLengthDigits, length, 16);
      failure != std::errc() || end != digits + kLengthDigits || length == 3) {
    return NoLine("a line has no length");
  }
  PktLine line;
  if (length < 3) {
    line.kind = length == 0 ? PktLine::Kind::kFlush : length == 1 ? PktLine::Kind::kDelimiter : PktLine::Kind::kEnd;
    text.remove_prefix(kLengthDigits);
    return line;
  }
  if (length > text.size()) return NoLine("it is cut off");
  line.text = text.substr(kLengthDigits, length - kLengthDigits);
  text.remove_prefix(length);
  return line;
}

std::string AsPktLine(std::string_view text) { return fmt::format("{:04x}{}", text.size() + kLengthDigits, text); }

}  // namespace capi::fetch
