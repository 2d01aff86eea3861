// URLs: what is read is written and read again as the same; a redirect leads to what is a URL; no error shows a
// password.
#include "base/fuzz.h"
#include "base/http/proxy.h"
#include "base/http/url.h"

namespace capi::http {
namespace {

void CheckOne(const Url& url) {
  FUZZ_REQUIRE(url.scheme == "http" || url.scheme == "https");
  FUZZ_REQUIRE(!url.host.empty() && url.port >= 1 && url.port <= 65535);
  FUZZ_REQUIRE(url.path.empty() || url.path[0] == '/');
  for (unsigned char c : url.host + url.path) FUZZ_REQUIRE(c > ' ' && c != 0x7f);
  auto again = Url::Parse(url.Origin() + url.path);
  FUZZ_REQUIRE(again.ok() && again->host == url.host && again->port == url.port && again->path == url.path);
  FUZZ_REQUIRE(again->user_info.empty() && again->Origin() == url.Origin() && again->HostPort() == url.HostPort());
}

}  // namespace
}  // namespace capi::http

// A URL and what a Location header says, one a line.
CAPI_FUZZ(url, "base/http",
          {"https://user:pw@Example.com:8443/a/b?c#d\n../x?y", "http://[::1]:80\n//h/x", "https://h/a\nhttp://h:0/",
           "http://h?x\n?y=/../z", "socks5://u:p@h\n/a b\xc3\xa9", "://p:1080", "https://h/a/b/\n./.././c"}) {
  using namespace capi::http;
  size_t newline = input.find('\n');
  std::string_view first = input.substr(0, newline);
  auto url = Url::Parse(first);
  (void)ProxyFor(*Url::Parse("https://10.0.0.1:6443"), {"http://p", std::string(first)});
  (void)ParseProxyUrl(first);
  auto hidden = Url::Parse("https://user:hunter2@" + std::string(first));
  FUZZ_REQUIRE(hidden.ok() || hidden.error().message.find("hunter2") == std::string::npos);
  auto proxy = ParseProxyUrl("user:hunter2" + std::string(first));
  FUZZ_REQUIRE(proxy.ok() || proxy.error().message.find("hunter2") == std::string::npos);
  if (!url.ok()) return;
  CheckOne(*url);
  if (newline == input.npos) return;
  auto next = ResolveReference(*url, input.substr(newline + 1));
  if (!next.ok()) return;
  CheckOne(*next);
  auto again = ResolveReference(*url, next->Origin() + next->path);
  FUZZ_REQUIRE(again.ok() && again->host == next->host);
}
