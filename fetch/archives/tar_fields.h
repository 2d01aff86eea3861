// The header of an entry of a tar archive, field by field: what all who read and write such archives share. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::fetch {

inline constexpr size_t kTarBlock = 512;

// Where a header has what, and how long it is. A value.
struct TarField {
  size_t at, size;
};
inline constexpr TarField kTarName{0, 100}, kTarMode{100, 8}, kTarOwner{108, 8}, kTarGroup{116, 8}, kTarSize{124, 12},
    kTarTime{136, 12}, kTarSum{148, 8}, kTarType{156, 1}, kTarLink{157, 100}, kTarMagic{257, 8}, kTarPrefix{345, 155};

// `header` has a block's size here and below.
std::string_view FieldOf(std::string_view header, TarField field);
// Up to the first zero byte.
std::string TextOf(std::string_view header, TarField field);
// Octal digits, behind spaces where there are any, ended by a zero byte or spaces. kInvalidArgument for anything else;
// `what`: for people.
Result<std::uint64_t> NumberOf(std::string_view header, TarField field, std::string_view what);
// The sum of all bytes, of which those of the sum itself count as spaces.
unsigned SumOf(std::string_view header);
// kInvalidArgument for another sum than it says, and for what isn't of the form that POSIX describes, or,
// where `old`, of the one before that, which says nothing of itself.
Status CheckTarHeader(std::string_view header, bool old = false);

std::uint64_t PaddedSize(std::uint64_t size);  // whole blocks
bool IsEmptyBlock(std::string_view block);     // zero bytes alone

}  // namespace capi::fetch
