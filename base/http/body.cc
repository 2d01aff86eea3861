#include "base/http/body.h"

#include <fmt/core.h>
#include <zlib.h>

namespace capi::http {
namespace {

constexpr size_t kPiece = 32u << 10;

}  // namespace

// Unpacks gzip, member after member, piece by piece. Thread-compatible.
class BodySink::Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  template <typename Pass>
  Status Take(std::string_view piece, Pass pass) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      if (at_end_ && stream_.avail_in > 0) {
        inflateReset(&stream_);
        at_end_ = false;
      }
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      int result = ready_ ? inflate(&stream_, Z_SYNC_FLUSH) : Z_MEM_ERROR;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return Error{Code::kUnavailable, "body is not valid gzip", {}};
      at_end_ = result == Z_STREAM_END;
      size_t got = out_.size() - stream_.avail_out;
      if (got > 0) TRY(pass(std::string_view(out_.data(), got)));
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return Ok();
  }

  bool at_end() const { return at_end_ || stream_.total_in == 0; }

 private:
  z_stream stream_ = {};
  std::string out_ = std::string(kPiece, '\0');
  bool ready_ = false;
  bool at_end_ = false;
};

BodySink::BodySink(bool gzip, const std::function<Status(std::string_view)>* on_data, size_t max_body)
    : inflater_(gzip ? std::make_unique<Inflater>() : nullptr), on_data_(on_data), max_body_(max_body) {}
BodySink::~BodySink() = default;

Status BodySink::Take(std::string_view piece) {
  if (!inflater_) return Pass(piece);
  return inflater_->Take(piece, [this](std::string_view unpacked) { return Pass(unpacked); });
}

Status BodySink::Pass(std::string_view piece) {
  if (on_data_ != nullptr) {
    Status taken = (*on_data_)(piece);
    refused_ = !taken.ok();
    return taken;
  }
  if (piece.size() > max_body_ - collected_.size())
    return Error{Code::kInvalidArgument, fmt::format("body is larger than {} bytes", max_body_), {}};
  collected_ += piece;
  return Ok();
}

Status BodySink::Finish() {
  if (inflater_ && !inflater_->at_end()) return Error{Code::kUnavailable, "gzip body is cut off", {}};
  return Ok();
}

}  // namespace capi::http
