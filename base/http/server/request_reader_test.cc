// T5a: what is read of a request, and what is refused.
#include "base/http/server/request_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::http {
namespace {

using ::testing::HasSubstr;

constexpr ServerLimits kSmall = {.head = 200, .header_lines = 5, .body = 10};

// Takes `text` in pieces of that size, as far as it goes.
size_t Feed(RequestReader& reader, std::string_view text, size_t piece) {
  size_t taken = 0;
  while (taken < text.size() && !reader.whole() && reader.refusal() == 0)
    taken += reader.Take(text.substr(taken, piece));
  return taken;
}

std::string Post(const std::string& headers, const std::string& body) {
  return "POST /x HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

TEST(RequestReader, ReadsARequestHoweverItComes) {
  const std::string text =
      "PUT /a%2Fb?x=1&y=? HTTP/1.1\r\nHost: a:1\r\nX-Empty:\r\nx-test: \t a, b\t\r\nContent-Length: 4\r\n\r\nbody";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    SCOPED_TRACE(piece);
    RequestReader reader(kSmall);
    EXPECT_EQ(Feed(reader, text + "GET", piece), text.size()) << "what follows is the next request's";
    ASSERT_TRUE(reader.whole()) << reader.why();
    ServerRequest request = std::move(reader.request());
    EXPECT_EQ(request.method, "PUT");
    EXPECT_EQ(request.path, "/a%2Fb");
    EXPECT_EQ(request.query, "x=1&y=?");
    EXPECT_EQ(request.headers.Get("host"), "a:1");
    EXPECT_TRUE(request.headers.Has("X-Empty"));
    EXPECT_EQ(request.headers.Get("X-Test"), "a, b");
    EXPECT_EQ(request.body, "body");
    EXPECT_TRUE(reader.keep_alive());
    reader.Restart();
    EXPECT_EQ(reader.Take("GET / HTTP/1.1\r\nHost: b\r\n\r\n"), 27u);
    EXPECT_TRUE(reader.whole());
    EXPECT_EQ(reader.request().headers.Get("Host"), "b");
    EXPECT_EQ(reader.request().body, "");
  }
}

TEST(RequestReader, ReadsBodies) {
  struct Case {
    std::string headers, body, expected;
  };
  const Case cases[] = {
      {"", "", ""},
      {"Content-Length: 0\r\n", "", ""},
      {"Content-Length: 10\r\n", "0123456789", "0123456789"},
      {"Transfer-Encoding: Chunked\r\n", "0\r\n\r\n", ""},
      {"Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n00007 ;a=b;c=\"d\"\r\ndefghij\r\n0\r\nX-Sum: 1\r\n\r\n",
       "abcdefghij"},
      {"Transfer-Encoding: chunked\r\n", "A\r\n0123456789\r\n0;end\r\n\r\n", "0123456789"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.headers + c.body);
    for (size_t piece : {1, 2, 3, 1000}) {
      RequestReader reader(kSmall);
      Feed(reader, Post(c.headers, c.body), piece);
      EXPECT_TRUE(reader.whole()) << reader.why();
      EXPECT_EQ(reader.request().body, c.expected);
    }
  }
}

struct Refused {
  std::string text;
  int status;
  std::string why;
};

void ExpectRefused(const std::vector<Refused>& cases) {
  for (const Refused& c : cases) {
    SCOPED_TRACE(c.text);
    for (size_t piece : {1, 7, 1000}) {
      RequestReader reader(kSmall);
      Feed(reader, c.text, piece);
      EXPECT_FALSE(reader.whole());
      EXPECT_EQ(reader.refusal(), c.status);
      EXPECT_THAT(reader.why(), HasSubstr(c.why));
      EXPECT_EQ(reader.Take("GET / HTTP/1.1\r\n"), 0u);
    }
  }
}

TEST(RequestReader, RefusesHeadsThatCouldBeReadInTwoWays) {
  ExpectRefused({
      {"nonsense\r\n", 400, "first line"},
      {"GET /\r\n", 400, "first line"},
      {"GET / HTTP/0.9\r\n", 505, "HTTP/1.1"},
      {"PRI * HTTP/2.0\r\n", 505, "HTTP/1.1"},
      {"GET / http/1.1\r\n", 400, "HTTP/1.1"},
      {"\x16\x03\x01\x02\n", 400, "CR LF"},
      {"GET / HTTP/1.1\n", 400, "CR LF"},
      {"GET  / HTTP/1.1\r\n", 400, "target"},
      {"G(T / HTTP/1.1\r\n", 400, "method"},
      {"GET a HTTP/1.1\r\n", 400, "target"},
      {"GET /\xc3\xa4 HTTP/1.1\r\n", 400, "target"},
      {"GET /a b HTTP/1.1\r\n", 400, "target"},
      {"GET / HTTP/1.1\r\n\r\n", 400, "Host"},
      {Post("Host: b\r\n", ""), 400, "Host"},
      {Post("no colon\r\n", ""), 400, "bad header"},
      {Post(" folded: line\r\n", ""), 400, "bad header"},
      {Post("Name : value\r\n", ""), 400, "bad header"},
      {Post(": value\r\n", ""), 400, "bad header"},
      {Post("A: b\rc\r\n", ""), 400, "bad header"},
      {Post(std::string("A: b\0c\r\n", 8), ""), 400, "bad header"},
      {Post("A: b\n", ""), 400, "CR LF"},
      {Post("Expect: magic\r\n", ""), 417, "expectation"},
      {"GET /" + std::string(300, 'a'), 431, "more than 200 bytes"},
      {Post("A: " + std::string(300, 'a'), ""), 431, "more than 200 bytes"},
      {Post("A: " + std::string(90, 'a') + "\r\nB: " + std::string(90, 'b') + "\r\n", ""), 431, "more than 200 bytes"},
      {Post("A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n", ""), 431, "more than 5 headers"},
  });
}

TEST(RequestReader, RefusesBodiesThatCouldBeReadInTwoWays) {
  ExpectRefused({
      {Post("Content-Length: 3\r\nContent-Length: 4\r\n", "abc"), 400, "more than one length"},
      {Post("Content-Length: 3\r\ncontent-length: 3\r\n", "abc"), 400, "more than one length"},
      {Post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "abc"), 400, "more than one length"},
      {Post("Content-Length: 3, 3\r\n", "abc"), 400, "Content-Length"},
      {Post("Content-Length: +3\r\n", "abc"), 400, "Content-Length"},
      {Post("Content-Length: -1\r\n", "abc"), 400, "Content-Length"},
      {Post("Content-Length: 0x3\r\n", "abc"), 400, "Content-Length"},
      {Post("Content-Length:\r\n", "abc"), 400, "Content-Length"},
      {Post("Content-Length: 99999999999999999999\r\n", "abc"), 400, "Content-Length"},
      {Post("Content-Length: 11\r\n", ""), 413, "more than 10 bytes"},
      {Post("Transfer-Encoding: gzip\r\n", ""), 501, "chunked"},
      {Post("Transfer-Encoding: gzip, chunked\r\n", ""), 501, "chunked"},
      {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"},
      {Post("Transfer-Encoding: chunked\r\n", "x\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "-1\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "0x1\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "1\r\nab\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "1\r\nabc\r\n"), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "1\n"), 400, "CR LF"},
      {Post("Transfer-Encoding: chunked\r\n", "8\r\n01234567\r\n3\r\n"), 413, "more than 10 bytes"},
      {Post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"), 413, "more than 10 bytes"},
      {Post("Transfer-Encoding: chunked\r\n", "1;" + std::string(300, 'e')), 400, "bad chunk"},
      {Post("Transfer-Encoding: chunked\r\n", "0\r\nX: " + std::string(300, 'x')), 431, "more than 200 bytes"},
  });
}

TEST(RequestReader, ExtensionsOfManyChunksEndSomewhere) {
  RequestReader reader({.head = 1000});
  std::string chunk = "1;" + std::string(200, 'e') + "\r\na\r\n";
  reader.Take(Post("Transfer-Encoding: chunked\r\n", ""));
  int chunks = 0;
  while (reader.refusal() == 0 && chunks < 1000) {
    reader.Take(chunk);
    ++chunks;
  }
  EXPECT_EQ(reader.refusal(), 400);
  EXPECT_LT(chunks, 10);

  RequestReader honest({.head = 200});
  honest.Take(Post("Transfer-Encoding: chunked\r\n", ""));
  for (int i = 0; i < 10'000; ++i) honest.Take("1\r\na\r\n");
  honest.Take("0\r\n\r\n");
  EXPECT_TRUE(honest.whole()) << "chunks of a byte are allowed: " << honest.why();
}

TEST(RequestReader, TellsHowTheConnectionGoesOn) {
  struct Case {
    std::string text;
    bool keep_alive;
  };
  const Case cases[] = {
      {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", true},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, Close\r\n\r\n", false},
      {"GET / HTTP/1.1\r\nHost: a\r\nConnection: a\r\nconnection: close\r\n\r\n", false},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    RequestReader reader(kSmall);
    reader.Take(c.text);
    ASSERT_TRUE(reader.whole()) << reader.why();
    EXPECT_EQ(reader.keep_alive(), c.keep_alive);
  }
}

TEST(RequestReader, SaysOnceThatTheClientWaits) {
  RequestReader reader(kSmall);
  reader.Take(Post("Expect: 100-Continue\r\nContent-Length: 3\r\n", ""));
  EXPECT_TRUE(reader.in_body());
  EXPECT_TRUE(reader.TakeContinue());
  EXPECT_FALSE(reader.TakeContinue());
  reader.Take("abc");
  EXPECT_TRUE(reader.whole());

  RequestReader old(kSmall);
  old.Take("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_TRUE(old.in_body());
  EXPECT_FALSE(old.TakeContinue()) << "HTTP/1.0 has no interim answers";

  RequestReader bodiless(kSmall);
  bodiless.Take(Post("Expect: 100-continue\r\n", ""));
  EXPECT_TRUE(bodiless.whole());
  EXPECT_FALSE(bodiless.TakeContinue());
}

TEST(RequestReader, ClaimsOfALargeBodyCostNothing) {
  RequestReader reader{ServerLimits()};
  reader.Take(Post("Content-Length: 3000000\r\n", "a"));
  EXPECT_TRUE(reader.in_body());
  EXPECT_LT(reader.held(), 1000u);
}

}  // namespace
}  // namespace capi::http
