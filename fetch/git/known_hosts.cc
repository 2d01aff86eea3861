#include "fetch/git/known_hosts.h"

#include <fmt/format.h>

#include <optional>

#include "base/encoding.h"
#include "base/streams/sha1.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kHashed = "|1|";

// "*" is any text, "?" any character.
bool Fits(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = pattern.npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

// "|1|salt|hash"
bool IsHashOf(std::string_view hashed, std::string_view name) {
  const auto parts = Split(hashed.substr(kHashed.size()), '|');
  if (parts.size() != 2) return false;
  const auto salt = Base64Decode(parts[0]), hash = Base64Decode(parts[1]);
  if (!salt.ok() || !hash.ok()) return false;
  const Sha1Digest is = HmacSha1(*salt, name);
  return std::string_view(is.data(), is.size()) == *hash;
}

bool Names(std::string_view hosts, std::string_view name) {
  if (hosts.starts_with(kHashed)) return IsHashOf(hosts, name);
  bool found = false;
  for (const std::string& one : Split(ToLower(hosts), ',')) {
    const bool is_not = one.starts_with('!');
    if (!Fits(std::string_view(one).substr(is_not ? 1 : 0), name)) continue;
    if (is_not) return false;
    found = true;
  }
  return found;
}

std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  for (std::string& word : Split(ReplaceAll(std::string(line), "\t", " "), ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

Result<std::vector<KnownKey>> KeysOfHost(std::string_view known_hosts, std::string_view host, int port) {
  const std::string name = port == 22 ? ToLower(host) : fmt::format("[{}]:{}", ToLower(host), port);
  std::vector<KnownKey> keys;
  int number = 0;
  for (const std::string& line : Split(known_hosts, '\n')) {
    ++number;
    std::vector<std::string> words = WordsOf(Trim(line));
    if (words.empty() || words.front().starts_with('#')) continue;
    const bool revoked = words.front() == "@revoked", authority = words.front() == "@cert-authority";
    if (revoked || authority) words.erase(words.begin());
    if (words.size() < 3 || words.front().starts_with('@')) {
      return Error{
          Code::kInvalidArgument, fmt::format("line {} of known_hosts is none: host, kind and key", number), {}};
    }
    if (authority || !Names(words[0], name)) continue;
    keys.push_back({words[1], words[2], revoked, number});
  }
  return keys;
}

}  // namespace capi::fetch
