#include "base/http/url.h"

#include <gtest/gtest.h>

namespace capi::http {
namespace {

TEST(Url, Parses) {
  struct Case {
    std::string_view text, host_port, host_header, origin, path;
  };
  const Case cases[] = {
      {"https://Example.com", "example.com:443", "example.com", "https://example.com", ""},
      {"HTTP://example.com:80/a?b#c", "example.com:80", "example.com", "http://example.com", "/a?b"},
      {"https://user:p@w@h:8443?x", "h:8443", "h:8443", "https://h:8443", "/?x"},
      {"https://[::1]:6443/api", "[::1]:6443", "[::1]:6443", "https://[::1]:6443", "/api"},
      {"https://[fe80::1]", "[fe80::1]:443", "[fe80::1]", "https://[fe80::1]", ""},
      {"http://h:/", "h:80", "h", "http://h", "/"},
  };
  for (const Case& c : cases) {
    auto url = Url::Parse(c.text);
    ASSERT_TRUE(url.ok()) << c.text << ": " << url.error().message;
    EXPECT_EQ(url->HostPort(), c.host_port) << c.text;
    EXPECT_EQ(url->HostHeader(), c.host_header) << c.text;
    EXPECT_EQ(url->Origin(), c.origin) << c.text;
    EXPECT_EQ(url->path, c.path) << c.text;
  }
}

TEST(Url, RefusesWhatIsNone) {
  for (std::string_view text : {"", "example.com", "ftp://h", "http://", "http://:80", "http://h:0", "http://h:65536",
                                "http://h:8x", "http://[::1", "http://[h]", "http://[::1]x", "http://a b",
                                "http://h/\r\n", "http://h\xc3\xb6st/", "http://a%41/", "http://a\\b/", "http://<h>/"})
    EXPECT_EQ(Url::Parse(text).code(), Code::kInvalidArgument) << text;
}

TEST(Url, ErrorsDoNotShowPasswords) {
  auto url = Url::Parse("http://user:sec/ret@h");
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().message.find("sec"), std::string::npos);
}

TEST(Url, IsPrintedWithoutSecrets) {
  struct Case {
    std::string_view text, printed;
  };
  const Case cases[] = {
      {"https://user:secret@h:8443/a/b?token=c#d", "https://h:8443/a/b"},
      {"http://h", "http://h"},
      {"http://user:sec/ret@h", "a URL that can't be read"},
      {"http://\x1b[2J", "a URL that can't be read"},
      {"10.0.0.1:6443?token=c", "10.0.0.1:6443"},
  };
  for (const Case& c : cases) EXPECT_EQ(PrintableUrl(c.text), c.printed) << c.text;
}

// RFC 3986, 5.4.
TEST(Url, ResolvesReferences) {
  const Url from = *Url::Parse("http://u:p@a:81/b/c/d?q");
  struct Case {
    std::string_view location, want;
  };
  const Case cases[] = {
      {"https://x/y#z", "https://x/y"},
      {"//g/x", "http://g/x"},
      {"/g?y", "http://a:81/g?y"},
      {"g", "http://a:81/b/c/g"},
      {"./g", "http://a:81/b/c/g"},
      {"../g", "http://a:81/b/g"},
      {"../../../g/", "http://a:81/g/"},
      {"..", "http://a:81/b/"},
      {"?y", "http://a:81/b/c/d?y"},
      {"g?x=http://y/..", "http://a:81/b/c/g?x=http://y/.."},
      {"/sign%2Fed?s=a%2Bb%3D", "http://a:81/sign%2Fed?s=a%2Bb%3D"},
      {"/a b\xc3\xa9", "http://a:81/a%20b%C3%A9"},
  };
  for (const Case& c : cases) {
    auto url = ResolveReference(from, c.location);
    ASSERT_TRUE(url.ok()) << c.location << ": " << url.error().message;
    EXPECT_EQ(url->Origin() + url->path, c.want);
    EXPECT_EQ(url->user_info, "");
  }
  EXPECT_FALSE(ResolveReference(from, "ftp://x/y").ok());
}

}  // namespace
}  // namespace capi::http
