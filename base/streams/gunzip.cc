#include "base/streams/gunzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <climits>

namespace capi {
namespace {

constexpr int kGzip = 15 + 16;

Error NotGzip(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("what is packed can't be unpacked: {}", why), {}};
}

}  // namespace

struct GunzipStream::State {
  z_stream z{};
  bool ready = false;
  bool between = false;  // behind a whole member
};

GunzipStream::GunzipStream(Take take) : take_(std::move(take)), state_(std::make_unique<State>()) {
  state_->ready = inflateInit2(&state_->z, kGzip) == Z_OK;
}

GunzipStream::~GunzipStream() {
  if (state_->ready) inflateEnd(&state_->z);
}

Status GunzipStream::Add(std::string_view packed) {
  if (!state_->ready) return Error{Code::kInternal, "zlib: no memory", {}};
  z_stream& z = state_->z;
  char piece[64 * 1024];
  while (!packed.empty()) {
    if (std::exchange(state_->between, false) && inflateReset(&z) != Z_OK) return NotGzip("zlib fails");
    const size_t given = std::min<size_t>(packed.size(), UINT_MAX);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    z.avail_in = static_cast<uInt>(given);
    int state = Z_OK;
    do {
      z.next_out = reinterpret_cast<Bytef*>(piece);
      z.avail_out = sizeof piece;
      state = inflate(&z, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
        return NotGzip(z.msg != nullptr ? z.msg : "zlib fails");
      const size_t now = sizeof piece - z.avail_out;
      if (now > 0) TRY(take_({piece, now}));
    } while (state == Z_OK && (z.avail_in > 0 || z.avail_out == 0));
    packed.remove_prefix(given - z.avail_in);
    state_->between = state == Z_STREAM_END;
  }
  return Ok();
}

Status GunzipStream::Finish() const { return state_->between ? Ok() : Status(NotGzip("it is cut off")); }

}  // namespace capi
