#include "fetch/archives/tar_fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace capi::fetch {

std::string_view FieldOf(std::string_view header, TarField field) { return header.substr(field.at, field.size); }

std::string TextOf(std::string_view header, TarField field) {
  const std::string_view text = FieldOf(header, field);
  return std::string(text.substr(0, text.find('\0')));
}

Result<std::uint64_t> NumberOf(std::string_view header, TarField field, std::string_view what) {
  const std::string_view text = FieldOf(header, field);
  std::uint64_t value = 0;
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  size_t digits = begin;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '7'; ++digits)
    value = value * 8 + static_cast<std::uint64_t>(text[digits] - '0');
  const bool ended = std::all_of(text.begin() + static_cast<std::ptrdiff_t>(digits), text.end(),
                                 [](char c) { return c == '\0' || c == ' '; });
  if (digits > begin && ended) return value;
  return Error{Code::kInvalidArgument, fmt::format("an entry has no {} that is read", what), {}};
}

unsigned SumOf(std::string_view header) {
  unsigned sum = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= kTarSum.at && i < kTarSum.at + kTarSum.size;
    sum += own ? ' ' : static_cast<unsigned char>(header[i]);
  }
  return sum;
}

Status CheckTarHeader(std::string_view header, bool old) {
  const std::uint64_t sum = TRY(NumberOf(header, kTarSum, "sum"));
  const std::string_view magic = FieldOf(header, kTarMagic);
  const bool known = magic.starts_with("ustar") || (old && IsEmptyBlock(magic));
  if (sum == SumOf(header) && known) return Ok();
  return Error{Code::kInvalidArgument, "it is no tar archive, or was damaged on its way", {}};
}

std::uint64_t PaddedSize(std::uint64_t size) { return (size + kTarBlock - 1) / kTarBlock * kTarBlock; }

bool IsEmptyBlock(std::string_view block) { return block.find_first_not_of('\0') == block.npos; }

}  // namespace capi::fetch
