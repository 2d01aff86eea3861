#include "base/http/url.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/strings.h"

namespace capi::http {
namespace {

Error Bad(std::string_view problem) { return Error{Code::kInvalidArgument, fmt::format("bad URL: {}", problem), {}}; }

int DefaultPort(std::string_view scheme) { return scheme == "https" ? 443 : 80; }

Result<int> ParsePort(std::string_view text) {
  int port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
    return Bad("port");  // not the text: it may be part of a password
  return port;
}

// Of a name that can be looked up; one of other letters stands in a URL in its ASCII form. ':' is of addresses alone.
bool IsHostCharacter(char c) {
  bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  return alphanumeric || std::string_view("-._~!$&'()*+,;=:").find(c) != std::string_view::npos;
}

bool IsControl(unsigned char c) { return c < ' ' || c == 0x7f; }

bool IsSchemeCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '+' || c == '-' || c == '.';
}

// "user@host:port", "[::1]:port"
Status ParseAuthority(std::string_view text, Url& url) {
  if (size_t at = text.rfind('@'); at != text.npos) {
    url.user_info = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (!text.empty() && text[0] == '[') {
    size_t close = text.find(']');
    if (close == text.npos) return Bad("missing ']'");
    url.host = ToLower(text.substr(1, close - 1));
    port = text.substr(close + 1);
    if (!IsIpAddress(url.host)) return Bad("no address in brackets");
    if (!port.empty() && port[0] != ':') return Bad("text after ']'");
  } else {
    size_t colon = text.find(':');
    url.host = ToLower(text.substr(0, colon));
    if (colon != text.npos) port = text.substr(colon);
  }
  if (url.host.empty()) return Bad("no host");
  if (!std::all_of(url.host.begin(), url.host.end(), IsHostCharacter)) return Bad("a character that no host has");
  url.port = DefaultPort(url.scheme);
  if (port.size() > 1) url.port = TRY(ParsePort(port.substr(1)));
  return Ok();
}

// Takes "." and ".." out of a path. RFC 3986, 5.2.4.
std::string RemoveDots(std::string_view path) {
  std::vector<std::string> out;
  std::vector<std::string> parts = Split(path, '/');
  for (size_t i = 1; i < parts.size(); ++i) {
    bool last = i + 1 == parts.size();
    if (parts[i] == "..") {
      if (!out.empty()) out.pop_back();
      if (last) out.emplace_back();
    } else if (parts[i] == ".") {
      if (last) out.emplace_back();
    } else {
      out.push_back(parts[i]);
    }
  }
  return "/" + Join(out, "/");
}

}  // namespace

bool IsIpAddress(std::string_view host) {
  in6_addr address;
  std::string text(host);
  return inet_pton(AF_INET, text.c_str(), &address) == 1 || inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

Result<Url> Url::Parse(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; }))
    return Bad("a space or control character in it");
  Url url;
  size_t colon = text.find("://");
  if (colon == text.npos) return Bad("no scheme");
  url.scheme = ToLower(text.substr(0, colon));
  // In "user:password://" it is no scheme, and isn't shown.
  if (!std::all_of(url.scheme.begin(), url.scheme.end(), IsSchemeCharacter)) return Bad("no scheme");
  if (url.scheme != "http" && url.scheme != "https") return Bad(fmt::format("scheme \"{}\"", url.scheme));
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  size_t end = std::min(rest.find_first_of("/?"), rest.size());
  TRY(ParseAuthority(rest.substr(0, end), url));
  url.path = rest.substr(end);
  if (!url.path.empty() && url.path[0] == '?') url.path.insert(0, "/");
  return url;
}

std::string Url::HostPort() const {
  return host.find(':') == host.npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

std::string Url::HostHeader() const {
  if (port != DefaultPort(scheme)) return HostPort();
  return host.find(':') == host.npos ? host : fmt::format("[{}]", host);
}

std::string Url::Origin() const { return scheme + "://" + HostHeader(); }

std::string BasicAuthorization(const Url& url) {
  if (url.user_info.empty()) return "";
  size_t colon = std::min(url.user_info.find(':'), url.user_info.size());
  std::string password = colon < url.user_info.size() ? url.user_info.substr(colon + 1) : "";
  return "Basic " + Base64Encode(PercentUnescape(url.user_info.substr(0, colon)) + ":" + PercentUnescape(password));
}

std::string PrintableUrl(std::string_view text) {
  auto url = Url::Parse(text);
  if (url.ok()) return url->Origin() + url->path.substr(0, url->path.find('?'));
  bool shown = text.find('@') == text.npos && std::none_of(text.begin(), text.end(), IsControl);
  return shown ? std::string(text.substr(0, text.find('?'))) : "a URL that can't be read";
}

Result<Url> ResolveReference(const Url& from, std::string_view location) {
  location = Trim(location.substr(0, location.find('#')));
  // Servers put bare spaces and UTF-8 there; on the wire they must be escaped.
  std::string escaped = PercentEscape(location, "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}");
  size_t scheme_end = escaped.find("://");
  if (scheme_end != escaped.npos && scheme_end < escaped.find_first_of("/?")) return Url::Parse(escaped);
  if (escaped.substr(0, 2) == "//") return Url::Parse(from.scheme + ":" + escaped);
  Url to = from;
  to.user_info.clear();
  if (escaped.empty()) return to;
  if (escaped[0] == '/') {
    to.path = escaped;
    return to;
  }
  std::string base = from.path.substr(0, from.path.find('?'));
  if (base.empty()) base = "/";
  if (escaped[0] == '?') {
    to.path = base + escaped;
    return to;
  }
  size_t query = std::min(escaped.find('?'), escaped.size());
  to.path = RemoveDots(base.substr(0, base.rfind('/') + 1) + escaped.substr(0, query)) + escaped.substr(query);
  return to;
}

}  // namespace capi::http
