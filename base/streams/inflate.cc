#include "base/streams/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <climits>

namespace capi {
namespace {

Error NotZlib(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("what is packed can't be unpacked: {}", why), {}};
}

}  // namespace

Result<size_t> Inflate(std::string_view packed, size_t size, const std::function<void(std::string_view)>& take) {
  z_stream z{};
  if (inflateInit(&z) != Z_OK) return Error{Code::kInternal, "zlib: no memory", {}};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(std::min<size_t>(packed.size(), UINT_MAX));
  char piece[16 * 1024];
  size_t came = 0;
  int state = Z_OK;
  while (state == Z_OK && came <= size) {
    z.next_out = reinterpret_cast<Bytef*>(piece);
    z.avail_out = sizeof piece;
    state = inflate(&z, Z_NO_FLUSH);
    const size_t now = sizeof piece - z.avail_out;
    came += now;
    if (now > 0 && came <= size) take({piece, now});
  }
  const std::string why = z.msg != nullptr ? z.msg : "it is cut off";
  const size_t used = z.total_in;
  inflateEnd(&z);
  if (came > size) return NotZlib(fmt::format("it has more than the {} bytes that are told", size));
  if (state != Z_STREAM_END) return NotZlib(why);
  if (came < size) return NotZlib(fmt::format("it has {} bytes, {} are told", came, size));
  return used;
}

}  // namespace capi
