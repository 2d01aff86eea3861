#include "fetch/git/delta.h"

#include <cstdint>

namespace capi::fetch {
namespace {

constexpr size_t kCopyOfNoSize = 0x10000;

Error Bad() { return Error{Code::kInvalidArgument, "it has a difference that isn't one of its base", {}}; }

// Seven bits in each byte, the lowest first; the highest says that more come.
Result<size_t> TakeSize(std::string_view& text) {
  std::uint64_t size = 0;
  for (unsigned shift = 0; !text.empty() && shift < 42; shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    size |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return static_cast<size_t>(size);
  }
  return Bad();
}

// Those of `count` little-endian bytes that the bits say are there.
Result<size_t> TakeNumber(std::string_view& text, unsigned bits, unsigned count) {
  size_t number = 0;
  for (unsigned i = 0; i < count; ++i) {
    if ((bits >> i & 1) == 0) continue;
    if (text.empty()) return Bad();
    number |= static_cast<size_t>(static_cast<unsigned char>(text.front())) << (8 * i);
    text.remove_prefix(1);
  }
  return number;
}

Status AddNext(std::string_view base, std::string_view& delta, size_t most, std::string& out) {
  const auto op = static_cast<unsigned char>(delta.front());
  delta.remove_prefix(1);
  std::string_view piece;
  if ((op & 0x80) != 0) {
    const size_t at = TRY(TakeNumber(delta, op & 0x0f, 4));
    size_t size = TRY(TakeNumber(delta, op >> 4 & 7, 3));
    if (size == 0) size = kCopyOfNoSize;
    if (at > base.size() || size > base.size() - at) return Bad();
    piece = base.substr(at, size);
  } else {
    if (op == 0 || op > delta.size()) return Bad();
    piece = delta.substr(0, op);
    delta.remove_prefix(op);
  }
  if (piece.size() > most - out.size()) return Bad();
  out += piece;
  return Ok();
}

}  // namespace

Result<size_t> SizeOfDelta(size_t base, std::string_view delta) {
  if (TRY(TakeSize(delta)) != base) return Bad();
  return TakeSize(delta);
}

Result<std::string> ApplyDelta(std::string_view base, std::string_view delta, size_t most) {
  if (TRY(TakeSize(delta)) != base.size()) return Bad();
  const size_t size = TRY(TakeSize(delta));
  if (size > most) return Error{Code::kInvalidArgument, "it has an object that is too large", {}};
  std::string out;
  out.reserve(size);
  while (!delta.empty()) TRY(AddNext(base, delta, size, out));
  if (out.size() != size) return Bad();
  return out;
}

}  // namespace capi::fetch
