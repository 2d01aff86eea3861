#include "fetch/git/private_key.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/encoding.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
constexpr std::string_view kOpenSsh = "OPENSSH PRIVATE KEY-----", kMagic{"openssh-key-v1\0", 15};
constexpr std::uint32_t kMostRounds = 256;
constexpr size_t kLongest = 16 << 10;  // one of RSA with 16,384 bits has less

Error NoKey() { return Error{Code::kInvalidArgument, "is no private key that can be read", {}}; }

Error Costly(std::string_view how) {
  return Error{Code::kInvalidArgument,
               fmt::format("is a private key {}: write it anew with `ssh-keygen -p -a 16 -f identity`", how),
               {}};
}

std::optional<std::uint32_t> TakeNumber(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  std::uint32_t out = 0;
  for (size_t i = 0; i < 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  bytes.remove_prefix(4);
  return out;
}

std::optional<std::string_view> TakeText(std::string_view& bytes) {
  const auto size = TakeNumber(bytes);
  if (!size || bytes.size() < *size) return std::nullopt;
  const std::string_view out = bytes.substr(0, *size);
  bytes.remove_prefix(*size);
  return out;
}

// How it is locked, and by how many rounds of what it is unlocked.
Status CheckOpenSsh(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return NoKey();
  bytes.remove_prefix(kMagic.size());
  const auto cipher = TakeText(bytes), function = TakeText(bytes), options = TakeText(bytes);
  if (!cipher || !function || !options) return NoKey();
  if (*cipher == "none") return Ok();
  std::string_view rest = *options;
  const auto salt = TakeText(rest);
  const auto rounds = TakeNumber(rest);
  if (*function != "bcrypt" || !salt || !rounds) return NoKey();
  if (*rounds > kMostRounds)
    return Costly(fmt::format("that is locked by {} rounds, and {} at most are worked out", *rounds, kMostRounds));
  return Ok();
}

// One that isn't locked begins with a number, its version. A locked one has none, or lines before it.
bool IsOpenDer(std::string_view bytes) {
  if (bytes.size() < 2 || bytes[0] != 0x30) return false;
  const auto size = static_cast<unsigned char>(bytes[1]);
  const size_t inner = 2 + (size >= 0x80 ? size & 0x7fu : 0u);
  return inner < bytes.size() && bytes[inner] == 0x02;
}

}  // namespace

Status CheckPrivateKey(std::string_view key) {
  if (key.size() > kLongest) return Costly(fmt::format("of more than {} bytes", kLongest));
  // Nothing else may stand in it: it would be open to whoever reads it which of two counts.
  if (!key.starts_with(kBegin) || key.find(kBegin, 1) != key.npos) return NoKey();
  const size_t line = key.find('\n'), end = key.find(kEnd);
  if (line == key.npos || end == key.npos || end < line) return NoKey();
  const std::string_view label = Trim(key.substr(kBegin.size(), line - kBegin.size()));
  const auto bytes = Base64Decode(key.substr(line, end - line));
  if (label == kOpenSsh) return bytes.ok() ? CheckOpenSsh(*bytes) : NoKey();
  if (!label.ends_with("PRIVATE KEY-----")) return NoKey();
  if (!bytes.ok() || !IsOpenDer(*bytes))
    return Costly("that is locked, or of no kind that is known, in another format than OpenSSH's own");
  return Ok();
}

}  // namespace capi::fetch
