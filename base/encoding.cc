#include "base/encoding.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace capi {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr auto kSextets = [] {
  std::array<int, 256> table{};
  table.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i) table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int>(i);
  return table;
}();

std::string Hex(const unsigned char* bytes, unsigned size) {
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

// Without it nothing that comes can be trusted.
void Must(bool done, const char* what) {
  if (done) return;
  fmt::print(stderr, "no {}\n", what);
  std::abort();
}

Error NotGzip(std::string_view why) { return {Code::kInvalidArgument, fmt::format("not valid gzip: {}", why), {}}; }

}  // namespace

std::string Base64Encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    unsigned value = 0;
    size_t n = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) value = (value << 8) | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= n ? kAlphabet[(value >> (18 - 6 * k)) & 63] : '=';
  }
  return out;
}

Result<std::string> Base64Decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  unsigned value = 0;
  int bits = 0;
  size_t symbols = 0, padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    ++symbols;
    if (c == '=') {
      ++padding;
      continue;
    }
    int sextet = kSextets[static_cast<unsigned char>(c)];
    if (sextet < 0 || padding > 0) return Error{Code::kInvalidArgument, "not base64: unexpected character", {}};
    value = ((value << 6) | static_cast<unsigned>(sextet)) & 0xFFFFFF;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>((value >> bits) & 0xFF);
    }
  }
  if (symbols % 4 != 0 || padding > 2) return Error{Code::kInvalidArgument, "not base64: cut off", {}};
  return out;
}

std::string PercentEscape(std::string_view text, std::string_view plain) {
  constexpr std::string_view kHex = "0123456789ABCDEF", kUnreserved = "-._~";
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || kUnreserved.find(c) != kUnreserved.npos || plain.find(c) != plain.npos) {
      out += c;
    } else {
      out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return out;
}

std::string PercentUnescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char *first = text.data() + i + 1, *last = first + 2;
    bool escape = text[i] == '%' && i + 2 < text.size() && std::from_chars(first, last, value, 16).ptr == last;
    out += escape ? static_cast<char>(value) : text[i];
    if (escape) i += 2;
  }
  return out;
}

std::string Gzip(std::string_view bytes) {
  z_stream z{};
  std::string out;
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return out;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  char piece[64 * 1024];
  int state = Z_OK;
  while (state == Z_OK) {
    z.next_out = reinterpret_cast<Bytef*>(piece);
    z.avail_out = sizeof piece;
    state = deflate(&z, Z_FINISH);
    out.append(piece, sizeof piece - z.avail_out);
  }
  deflateEnd(&z);
  out.shrink_to_fit();  // what is packed is mostly kept
  return out;
}

Result<std::string> Gunzip(std::string_view bytes, size_t max_bytes) {
  z_stream z{};
  if (inflateInit2(&z, 15 + 16) != Z_OK) return Error{Code::kInternal, "zlib: no memory", {}};
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  char piece[64 * 1024];
  int state = Z_OK;
  while (state == Z_OK && out.size() <= max_bytes) {
    z.next_out = reinterpret_cast<Bytef*>(piece);
    z.avail_out = sizeof piece;
    state = inflate(&z, Z_NO_FLUSH);
    out.append(piece, sizeof piece - z.avail_out);
    if (state == Z_BUF_ERROR) break;
    // A gzip file may have several members, one behind the other.
    if (state == Z_STREAM_END && z.avail_in > 0) state = inflateReset(&z);
  }
  std::string why = z.msg != nullptr ? z.msg : "cut off";
  inflateEnd(&z);
  if (out.size() > max_bytes) return NotGzip(fmt::format("unpacks to more than {} bytes", max_bytes));
  if (state != Z_STREAM_END) return NotGzip(why);
  return out;
}

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  Must(EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr) == 1, "SHA-256");
  return Hex(digest, length);
}

struct RunningSha256::State {
  State() = default;
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
};

RunningSha256::RunningSha256() : state_(std::make_unique<State>()) {
  const bool begun = state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1;
  Must(begun, "SHA-256");
}
RunningSha256::~RunningSha256() = default;

void RunningSha256::Add(std::string_view piece) {
  Must(EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1, "SHA-256");
}

std::string RunningSha256::Hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  Must(EVP_DigestFinal_ex(state_->context, digest, &length) == 1, "SHA-256");
  return capi::Hex(digest, length);
}

std::string HmacSha256Hex(std::string_view key, std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  const auto* text = reinterpret_cast<const unsigned char*>(bytes.data());
  const unsigned char* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text, bytes.size(), digest, &length);
  Must(made != nullptr, "SHA-256");
  return Hex(digest, length);
}

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  const int made = RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(size));
  Must(made == 1, "random numbers");
  return bytes;
}

}  // namespace capi
