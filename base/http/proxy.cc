#include "base/http/proxy.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>

#include "base/strings.h"

namespace capi::http {
namespace {

// 16 bytes; IPv4 as ::ffff:a.b.c.d.
using Address = std::array<unsigned char, 16>;

std::optional<Address> ParseAddress(std::string_view text) {
  std::string host(text);
  Address out = {};
  if (inet_pton(AF_INET6, host.c_str(), out.data()) == 1) return out;
  if (inet_pton(AF_INET, host.c_str(), out.data() + 12) != 1) return std::nullopt;
  out[10] = out[11] = 0xff;
  return out;
}

// Also what resolvers take for an IPv4 address: 127.1, 0x7f.1, 2130706433.
std::optional<Address> ParseAnyAddress(const std::string& host) {
  in_addr ipv4 = {};
  auto address = ParseAddress(host);
  if (address || inet_aton(host.c_str(), &ipv4) == 0) return address;
  Address out = *ParseAddress("0.0.0.0");
  std::memcpy(out.data() + 12, &ipv4, sizeof(ipv4));
  return out;
}

bool SamePrefix(const Address& a, const Address& b, int bits) {
  for (int i = 0; i < bits; ++i) {
    auto byte = static_cast<size_t>(i / 8);
    int mask = 0x80 >> (i % 8);
    if ((a[byte] & mask) != (b[byte] & mask)) return false;
  }
  return true;
}

bool IsLoopback(const Address& address) {
  return SamePrefix(address, *ParseAddress("127.0.0.0"), 96 + 8) || address == *ParseAddress("::1");
}

bool InNetwork(const Address& address, std::string_view network) {
  size_t slash = network.find('/');
  auto base = ParseAddress(network.substr(0, slash));
  int bits = -1;
  std::string_view length = network.substr(slash + 1);
  std::from_chars(length.data(), length.data() + length.size(), bits);
  if (!base || bits < 0 || bits > 128) return false;
  if (network.find(':') == network.npos) bits += 96;
  return bits <= 128 && SamePrefix(address, *base, bits);
}

// "host:port", "[::1]:port"; the port is "" without one.
std::pair<std::string_view, std::string_view> SplitPort(std::string_view text) {
  if (!text.empty() && text[0] == '[') {
    size_t close = text.find(']');
    if (close == text.npos) return {text, ""};
    std::string_view rest = text.substr(close + 1);
    return {text.substr(1, close - 1), rest.empty() ? rest : rest.substr(1)};
  }
  size_t colon = text.find(':');
  if (colon == text.npos || text.find(':', colon + 1) != text.npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// One entry of NO_PROXY.
bool Matches(std::string_view entry, const Url& url, const std::optional<Address>& address) {
  if (entry == "*") return true;
  if (entry.find('/') != entry.npos) return address && InNetwork(*address, entry);
  auto [host, port] = SplitPort(entry);
  if (!port.empty() && port != std::to_string(url.port)) return false;
  if (auto listed = ParseAddress(host)) return address && *listed == *address;
  if (host.substr(0, 2) == "*.") host.remove_prefix(1);
  if (host.empty() || address) return false;
  if (host[0] == '.') return url.host.size() > host.size() && url.host.ends_with(host);
  return url.host == host || url.host.ends_with(fmt::format(".{}", host));
}

bool Excluded(const Url& url, std::string_view no_proxy) {
  if (IsLoopbackHost(url.host)) return true;
  auto address = ParseAddress(url.host);
  for (const std::string& entry : Split(ToLower(no_proxy), ','))
    if (Matches(Trim(entry), url, address)) return true;
  return false;
}

}  // namespace

bool IsLoopbackHost(std::string_view host) {
  auto address = ParseAddress(host);
  return host == "localhost" || (address && IsLoopback(*address));
}

bool IsInwardAddress(std::string_view text) {
  // 168.63.129.16 is Azure's own host of every machine there.
  constexpr std::string_view kNetworks[] = {"0.0.0.0/8",        "10.0.0.0/8",     "100.64.0.0/10", "127.0.0.0/8",
                                            "168.63.129.16/32", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
                                            "192.168.0.0/16",   "::/128",         "::1/128",       "fc00::/7",
                                            "fe80::/10"};
  std::string host(text.substr(0, text.find('%')));  // without the link that it is of
  if (host.ends_with('.')) host.pop_back();
  // Resolvers take a name below localhost for this machine, too (RFC 6761).
  if (IsLoopbackHost(host) || host.ends_with(".localhost")) return true;
  auto address = ParseAnyAddress(host);
  // Behind a NAT64 that is how any IPv4 address is reached: the one in it counts.
  if (address && InNetwork(*address, "64:ff9b::/96")) {
    const Address ipv4 = *ParseAddress("0.0.0.0");
    std::copy_n(ipv4.begin(), 12, address->begin());
  }
  return address && std::any_of(std::begin(kNetworks), std::end(kNetworks),
                                [&](std::string_view network) { return InNetwork(*address, network); });
}

Proxy ProxyFromEnvironment(const std::function<const char*(const char*)>& getenv) {
  auto any_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names)
      if (const char* value = getenv(name); value != nullptr && *value != '\0') return value;
    return "";
  };
  Proxy proxy;
  proxy.url = any_of({"HTTPS_PROXY", "https_proxy"});
  // In a CGI program HTTP_PROXY is the request's header "Proxy".
  proxy.http_url = getenv("REQUEST_METHOD") != nullptr ? "" : any_of({"HTTP_PROXY", "http_proxy"});
  proxy.no_proxy = any_of({"NO_PROXY", "no_proxy"});
  return proxy;
}

Result<Url> ParseProxyUrl(std::string_view text) {
  size_t end = text.find("://");
  if (end == text.npos) return Url::Parse(fmt::format("http://{}", text));
  std::string scheme = ToLower(text.substr(0, end));
  constexpr std::string_view kOthers[] = {"https", "socks5", "socks5h", "socks4", "socks4a", "socks"};
  if (std::find(std::begin(kOthers), std::end(kOthers), scheme) == std::end(kOthers)) return Url::Parse(text);
  return Error{Code::kUnsupported,
               fmt::format("a proxy that speaks {} is not supported: name one that speaks plain HTTP, as "
                           "\"http://host:port\"",
                           scheme),
               {}};
}

Result<std::optional<Url>> ProxyFor(const Url& url, const Proxy& proxy) {
  bool excluded = !proxy.always && Excluded(url, proxy.no_proxy);
  const std::string& text = proxy.http_url && !url.tls() ? *proxy.http_url : proxy.url;
  if (text.empty() || excluded) return std::optional<Url>();
  return std::optional<Url>(TRY_WITH(ParseProxyUrl(text), "proxy"));
}

}  // namespace capi::http
