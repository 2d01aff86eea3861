#include "base/http/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::Peer;
using http_testing::RawServer;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

TEST(Proxy, ComesFromTheEnvironmentAsInGo) {
  using Env = std::map<std::string, std::string>;
  struct Case {
    Env env;
    std::string_view https, http, no_proxy;
  };
  const Case cases[] = {
      {{}, "", "", ""},
      {{{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", "a"}}, "http://p:1", "", "a"},
      {{{"https_proxy", "p"}, {"no_proxy", "b"}}, "p", "", "b"},
      {{{"HTTPS_PROXY", "upper"}, {"https_proxy", "lower"}}, "upper", "", ""},
      {{{"HTTPS_PROXY", ""}, {"https_proxy", "lower"}}, "lower", "", ""},
      {{{"HTTP_PROXY", "p"}}, "", "p", ""},
      {{{"HTTP_PROXY", "p"}, {"https_proxy", "q"}}, "q", "p", ""},
      {{{"HTTP_PROXY", "p"}, {"REQUEST_METHOD", "GET"}}, "", "", ""},
  };
  for (const Case& c : cases) {
    Proxy proxy = ProxyFromEnvironment([&](const char* name) -> const char* {
      auto it = c.env.find(name);
      return it == c.env.end() ? nullptr : it->second.c_str();
    });
    EXPECT_EQ(proxy.url, c.https);
    EXPECT_EQ(proxy.http_url, c.http);
    EXPECT_EQ(proxy.no_proxy, c.no_proxy);
  }
}

TEST(Proxy, IsThatOfTheUrlsScheme) {
  const Proxy proxy = {.url = "http://safe", .no_proxy = "out", .http_url = "http://plain"};
  EXPECT_EQ((*ProxyFor(*Url::Parse("https://a"), proxy))->host, "safe");
  EXPECT_EQ((*ProxyFor(*Url::Parse("http://a"), proxy))->host, "plain");
  EXPECT_FALSE(ProxyFor(*Url::Parse("http://out"), proxy)->has_value());
  EXPECT_FALSE(ProxyFor(*Url::Parse("http://a"), {.url = "http://safe", .http_url = ""})->has_value());
  EXPECT_EQ((*ProxyFor(*Url::Parse("http://a"), {.url = "http://safe"}))->host, "safe");
}

TEST(Proxy, IsLeftOutForWhatNoProxyLists) {
  struct Case {
    std::string_view no_proxy, url;
    bool proxied;
  };
  const Case cases[] = {
      {"", "https://example.com", true},
      {"", "https://localhost:6443", false},
      {"", "https://127.0.0.1:6443", false},
      {"", "https://127.9.9.9", false},
      {"", "https://[::1]", false},
      {"*", "https://example.com", false},
      {"example.com", "https://example.com", false},
      {"EXAMPLE.com", "https://example.COM", false},
      {"example.com", "https://www.example.com", false},
      {"example.com", "https://notexample.com", true},
      {".example.com", "https://example.com", true},
      {".example.com", "https://www.example.com", false},
      {"*.example.com", "https://www.example.com", false},
      {"a, example.com:8443 ,b", "https://example.com:8443", false},
      {"example.com:8443", "https://example.com", true},
      {"10.0.0.1", "https://10.0.0.1", false},
      {"10.0.0.1", "https://10.0.0.11", true},
      {"10.0.0.1:443", "https://10.0.0.1", false},
      {"10.96.0.0/12", "https://10.111.0.1", false},
      {"10.96.0.0/12", "https://10.112.0.1", true},
      {"10.96.0.0/12", "https://example.com", true},
      {"0.0.0.0/0", "https://8.8.8.8", false},
      {"fd00::/8", "https://[fd12::1]", false},
      {"fd00::/8", "https://[fe12::1]", true},
      {"[fd12::1]:443", "https://[fd12::1]", false},
      {"10.0.0.0/99", "https://10.0.0.1", true},
      {"10.0.0.0/2147483647", "https://10.0.0.1", true},
  };
  for (const Case& c : cases) {
    auto proxy = ProxyFor(*Url::Parse(c.url), {"http://p:3128", std::string(c.no_proxy)});
    ASSERT_TRUE(proxy.ok());
    EXPECT_EQ(proxy->has_value(), c.proxied) << c.no_proxy << " and " << c.url;
  }
}

// F8: one that a kubeconfig names is meant for its server, wherever that is.
TEST(Proxy, NamedForAServerIsNeverLeftOut) {
  for (std::string_view url :
       {"https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]", "http://a.example"}) {
    for (std::string_view no_proxy : {"", "*"}) {
      auto proxy =
          ProxyFor(*Url::Parse(url), {.url = "http://p:3128", .no_proxy = std::string(no_proxy), .always = true});
      ASSERT_TRUE(proxy.ok());
      ASSERT_TRUE(proxy->has_value()) << url;
      EXPECT_EQ((*proxy)->HostPort(), "p:3128");
    }
  }
}

TEST(Proxy, UrlMayLackItsScheme) {
  const Url url = *Url::Parse("https://example.com");
  EXPECT_EQ((*ProxyFor(url, {"p:3128", ""}))->HostPort(), "p:3128");
  EXPECT_EQ(BasicAuthorization(**ProxyFor(url, {"http://us%40er:p%3Aw@p", ""})), "Basic dXNAZXI6cDp3");
}

// F8: what isn't spoken is refused with what to do instead.
TEST(Proxy, OfAnotherKindIsRefused) {
  const Url url = *Url::Parse("https://example.com");
  for (std::string_view scheme : {"https", "socks5", "SOCKS5H", "socks4"}) {
    auto refused = ProxyFor(url, {std::string(scheme) + "://user:secret@p:1080", ""});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), Code::kUnsupported);
    EXPECT_THAT(refused.error().message, HasSubstr("not supported: name one that speaks plain HTTP"));
    EXPECT_THAT(refused.error().message, Not(HasSubstr("secret")));
    EXPECT_TRUE(ProxyFor(url, {std::string(scheme) + "://p", "example.com"}).ok()) << "nobody asks for it";
  }
  EXPECT_EQ(ProxyFor(url, {"ftp://p", ""}).code(), Code::kInvalidArgument);
  auto password = ProxyFor(url, {"user:secret://p:1080", ""});
  ASSERT_FALSE(password.ok());
  EXPECT_THAT(password.error().message, Not(HasSubstr("secret")));
}

TEST(Proxy, GetsPlainRequestsWhole) {
  std::string seen;
  RawServer proxy([&](Peer& peer, int) {
    seen = peer.ReadRequest();
    peer.Write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  Options options;
  options.proxy.url = "http://u:p@127.0.0.1:" + std::to_string(proxy.port());
  Request request;
  request.target = "/x";
  auto response = (*Client::Create("http://example.invalid:8080", options))->Do(Ctx(), request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_THAT(seen, StartsWith("GET http://example.invalid:8080/x HTTP/1.1\r\nHost: example.invalid:8080\r\n"));
  EXPECT_THAT(seen, HasSubstr("\r\nProxy-Authorization: Basic dTpw\r\n"));
}

TEST(Proxy, TunnelsTls) {
  http_testing::TestCa ca;
  auto pem = ca.Issue({.common_name = "x", .alt_names = "DNS:example.invalid"});
  std::string connect, seen;
  RawServer proxy([&](Peer& peer, int) {
    connect = peer.ReadRequest();
    peer.Write("HTTP/1.1 200 Connection established\r\n\r\n");
    http_testing::TlsPeer inner(peer, pem.cert, pem.key);
    seen = inner.ReadRequest();
    inner.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  });
  Options options;
  options.tls.ca_pem = ca.pem();
  options.proxy.url = "http://u:p@127.0.0.1:" + std::to_string(proxy.port());
  Request request;
  request.target = "/x";
  auto response = (*Client::Create("https://example.invalid", options))->Do(Ctx(), request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "hi");
  EXPECT_EQ(
      connect,
      "CONNECT example.invalid:443 HTTP/1.1\r\nHost: example.invalid:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n");
  EXPECT_THAT(seen, StartsWith("GET /x HTTP/1.1\r\nHost: example.invalid\r\n"));
  EXPECT_THAT(seen, Not(HasSubstr("Proxy-Authorization")));
}

TEST(Proxy, ThatRefusesIsNamed) {
  RawServer proxy([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  });
  Options options;
  options.proxy.url = "http://u:secret@127.0.0.1:" + std::to_string(proxy.port());
  Request request;
  request.target = "/x";
  auto response = (*Client::Create("https://example.invalid", options))->Do(Ctx(), request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.code(), Code::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("the proxy answers 407"));
  EXPECT_THAT(response.error().message, Not(HasSubstr("secret")));
}

TEST(IsInwardAddress, IsOfThisMachineItsLinkOrAPrivateNetwork_T11) {
  for (const char* inward : {"127.0.0.1",
                             "127.9.9.9",
                             "0.0.0.0",
                             "10.1.2.3",
                             "100.64.0.1",
                             "169.254.169.254",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.168.1.1",
                             "::",
                             "::1",
                             "fe80::1",
                             "fe80::1%eth0",
                             "fd00::1",
                             "::ffff:10.0.0.1",
                             "::ffff:127.0.0.1",
                             "64:ff9b::10.0.0.1",
                             "64:ff9b::a9fe:a9fe",
                             "192.0.0.1",
                             "192.0.0.192",
                             "168.63.129.16",
                             "2130706433",
                             "127.1",
                             "0x7f.1",
                             "0x7f000001",
                             "0177.0.0.1",
                             "10.257",
                             "127.0.0.1.",
                             "127.1.",
                             "localhost",
                             "localhost.",
                             "a.localhost",
                             "a.b.localhost."})
    EXPECT_TRUE(IsInwardAddress(inward)) << inward;
  for (const char* outward : {"1.1.1.1",
                              "100.63.0.1",
                              "100.128.0.1",
                              "172.15.0.1",
                              "172.32.0.1",
                              "192.169.0.1",
                              "11.0.0.1",
                              "2606:4700::1111",
                              "::ffff:1.1.1.1",
                              "64:ff9b::1.1.1.1",
                              "64:ff9c::10.0.0.1",
                              "192.0.1.1",
                              "168.63.129.17",
                              "16843009",
                              "8.8",
                              "0x8.8",
                              "1.1.1.1.",
                              "localhost.example.com",
                              "notlocalhost",
                              "",
                              ".",
                              "example.com",
                              "127.1.example.com"})
    EXPECT_FALSE(IsInwardAddress(outward)) << outward;
}

}  // namespace
}  // namespace capi::http
