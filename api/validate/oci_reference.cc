#include "api/validate/oci_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "api/text.h"
#include "base/strings.h"

namespace capi::api {
namespace {

constexpr std::string_view kForm = "write registry.example.com/org/provider, with :tag or @sha256:digest at its end";
constexpr size_t kLongestRepository = 255, kLongestTag = 128;

Error Invalid(std::string_view what) { return Error{Code::kInvalidArgument, fmt::format("{}: {}", what, kForm), {}}; }

bool IsLowerOrDigit(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A name, an IPv4 address, or an IPv6 one in brackets, and perhaps a port.
bool IsHost(std::string_view host) {
  std::string_view name = host, rest;
  if (host.starts_with('[')) {
    size_t end = std::min(host.find(']'), host.size());
    name = host.substr(1, end - 1);
    rest = host.substr(std::min(end + 1, host.size()));
    if (end == host.size() || name.find_first_not_of("0123456789abcdefABCDEF:.") != name.npos) return false;
  } else {
    size_t colon = std::min(host.find(':'), host.size());
    name = host.substr(0, colon);
    rest = host.substr(colon);
    auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.'; };
    if (!std::all_of(name.begin(), name.end(), is_plain)) return false;
  }
  return !name.empty() && (rest.empty() || (rest.front() == ':' && IsPort(rest.substr(1))));
}

// Names of lower case with single separators, by slashes: they go into request paths as they are.
bool IsRepository(std::string_view text) {
  if (text.size() > kLongestRepository) return false;
  for (const std::string& part : Split(text, '/')) {
    if (part.empty() || !IsLowerOrDigit(part.front()) || !IsLowerOrDigit(part.back())) return false;
    for (unsigned char c : part) {
      if (!IsLowerOrDigit(c) && c != '.' && c != '_' && c != '-') return false;
    }
    if (part.find("..") != part.npos) return false;
  }
  return !text.empty() && text.back() != '/';
}

bool IsTag(std::string_view text) {
  auto is_plain = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= kLongestTag && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), is_plain);
}

// What may be a password isn't shown: a message would have it as the host or the repository.
Status CheckHasNoSecret(std::string_view text) {
  if (text.find('?') != text.npos) return Invalid("a query doesn't belong into it");
  const size_t at = text.find('@'), last = text.rfind('/');
  if (at == text.npos || (last != text.npos && at > last)) return Ok();
  return Invalid("a user or a password doesn't belong into it, but into OCI_USERNAME and OCI_PASSWORD");
}

// Takes the digest off; "" for none. Before anything else of it may be shown: where it is none, what stands before the
// @ may be a user and a password.
Result<std::string> TakeDigest(std::string_view& text) {
  const size_t at = text.find('@');
  if (at == text.npos) return std::string();
  const std::string digest(text.substr(at + 1));
  if (!IsSha256Digest(digest)) {
    return Invalid(fmt::format("{} is no sha256 digest", GoQuote(text.substr(text.rfind('@') + 1))));
  }
  text = text.substr(0, at);
  return digest;
}

// Takes the scheme off.
bool TakeScheme(std::string_view& text) {
  for (std::string_view scheme : {"oci://", "https://", "http://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    return scheme == "http://";
  }
  return false;
}

}  // namespace

bool IsSha256Digest(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + 64) return false;
  text.remove_prefix(kPrefix.size());
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string OciReference::ToString() const {
  return fmt::format("{}{}/{}{}{}{}{}", plain_http ? "http://" : "oci://", host, repository, tag.empty() ? "" : ":",
                     tag, digest.empty() ? "" : "@", digest);
}

Result<OciReference> ParseOciReference(std::string_view text) {
  OciReference out;
  out.plain_http = TakeScheme(text);
  TRY(CheckHasNoSecret(text));
  out.digest = TRY(TakeDigest(text));
  size_t slash = std::min(text.find('/'), text.size());
  out.host = text.substr(0, slash);
  std::string_view rest = text.substr(std::min(slash + 1, text.size()));
  if (rest.empty()) return Invalid("it names no repository of a registry");
  if (!IsHost(out.host)) return Invalid(fmt::format("{} is no host of a registry", GoQuote(out.host)));
  if (size_t colon = rest.find(':'); colon != rest.npos) {
    out.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (!IsTag(out.tag)) return Invalid(fmt::format("{} is no tag", GoQuote(out.tag)));
  }
  out.repository = rest;
  if (!IsRepository(rest)) return Invalid(fmt::format("{} is no repository", GoQuote(rest)));
  return out;
}

}  // namespace capi::api
