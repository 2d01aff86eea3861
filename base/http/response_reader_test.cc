#include "base/http/response_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/response_testing.h"

namespace capi::http {
namespace {

using ::testing::HasSubstr;

struct Read {
  std::string error, body;
  bool keeps = false;  // the connection can be used again
};

Read ReadAll(std::string_view text, size_t piece = 1000, std::string_view method = "GET") {
  http_testing::Pieces source(text, piece);
  ResponseReader reader(source);
  auto head = reader.ReadHead();
  if (!head.ok()) return {head.error().message, ""};
  auto framing = Framing::Of(*head, method);
  if (!framing.ok()) return {framing.error().message, ""};
  BodySink sink(false, nullptr, 1 << 20);
  Status read = reader.ReadBody(*framing, sink);
  if (!read.ok()) return {read.error().message, ""};
  return {"", sink.collected(), KeepsConnection(*head, *framing) && reader.empty()};
}

std::string Answer(std::string_view headers, std::string_view body) {
  return "HTTP/1.1 200 OK\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

// F8: two readers may not disagree about where an answer ends.
TEST(ResponseReader, RefusesWhatCouldBeReadInTwoWays) {
  constexpr std::string_view kChunk = "1\r\na\r\n0\r\n\r\n";
  struct Case {
    std::string_view name, headers, body, error;
  };
  const Case cases[] = {
      {"one length", "Content-Length: 1\r\n", "a", ""},
      {"the same length twice", "Content-Length: 1\r\ncontent-length: 1\r\n", "a", ""},
      {"two lengths", "Content-Length: 1\r\nContent-Length: 2\r\n", "ab", "two lengths"},
      {"a list of lengths", "Content-Length: 1, 1\r\n", "a", "bad Content-Length"},
      {"no number", "Content-Length: \r\n", "a", "bad Content-Length"},
      {"a sign", "Content-Length: +1\r\n", "a", "bad Content-Length"},
      {"too large a number", "Content-Length: 99999999999999999999\r\n", "a", "bad Content-Length"},
      {"chunks", "Transfer-Encoding: Chunked\r\n", kChunk, ""},
      {"a length and chunks", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", kChunk, "both a length"},
      {"packed chunks", "Transfer-Encoding: gzip, chunked\r\n", kChunk, "transfer encoding"},
      {"twice chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", kChunk, "transfer encoding"},
      {"no chunks", "Transfer-Encoding: identity\r\n", "a", "transfer encoding"},
      {"a folded line", "X: a\r\n b\r\nContent-Length: 1\r\n", "a", "bad header line"},
      {"a folded line with a colon", "X: a\r\n\tContent-Length: 1\r\n", "a", "bad header line"},
      {"a space before the colon", "Content-Length : 1\r\n", "a", "bad header line"},
      {"a name that is none", "Content(Length): 1\r\n", "a", "bad header line"},
      {"a stray carriage return", "X: a\rContent-Length: 1\r\n", "a", "control character"},
      {"a chunk's size with a sign", "Transfer-Encoding: chunked\r\n", "-1\r\na\r\n0\r\n\r\n", "bad chunk"},
      {"a chunk without a size", "Transfer-Encoding: chunked\r\n", ";x\r\na\r\n0\r\n\r\n", "bad chunk"},
      {"a chunk's size with more behind it", "Transfer-Encoding: chunked\r\n", "1 1\r\na\r\n0\r\n\r\n", "bad chunk"},
      {"a chunk that is longer than it says", "Transfer-Encoding: chunked\r\n", "1\r\nab\r\n0\r\n\r\n", "bad chunk"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    for (size_t piece : {1u, 7u, 1000u}) {
      Read read = ReadAll(Answer(c.headers, c.body), piece);
      EXPECT_THAT(read.error, HasSubstr(std::string(c.error)));
      EXPECT_EQ(read.error.empty(), c.error.empty()) << read.error;
      EXPECT_EQ(read.body, c.error.empty() ? "a" : "");
    }
  }
  EXPECT_THAT(ReadAll("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").error,
              HasSubstr("transfer encoding"));
  for (std::string_view line :
       {"HTTP/1.1 2000 OK", "HTTP/1.1 20 OK", "HTTP/1.1 -20 OK", "HTTP/1.7 200 OK", "HTTP/2 200"})
    EXPECT_THAT(ReadAll(std::string(line) + "\r\n\r\n").error, HasSubstr("not HTTP/1.x")) << line;
}

// F8: each part of an answer has a bound.
TEST(ResponseReader, EndsWhatHasNoEnd) {
  std::string interim, headers, trailers = Answer("Transfer-Encoding: chunked\r\n", "0\r\n");
  for (int i = 0; i < 1000; ++i) interim += "HTTP/1.1 103 Early\r\n\r\n";
  for (int i = 0; i < 100'000; ++i) headers += "X: y\r\n";
  trailers += headers;
  EXPECT_THAT(ReadAll(interim).error, HasSubstr("too many interim answers"));
  EXPECT_THAT(ReadAll("HTTP/1.1 200 OK\r\n" + headers).error, HasSubstr("line too long"));
  EXPECT_THAT(ReadAll(trailers).error, HasSubstr("line too long"));
}

TEST(ResponseReader, TellsWhetherAConnectionServesOn) {
  struct Case {
    std::string_view text, method;
    bool keeps;
  };
  const Case cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", "GET", true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "GET", false},  // nobody asked for more
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "GET", false},
      {"HTTP/1.1 200 OK\r\nConnection: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "GET", false},
      {"HTTP/1.1 200 OK\r\n\r\na", "GET", false},
      {"HTTP/1.1 200 OK\r\n\r\n", "HEAD", true},
      {"HTTP/1.1 204 No Content\r\n\r\n", "DELETE", true},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "GET", false},
      {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", "GET", true},
  };
  for (const Case& c : cases) {
    Read read = ReadAll(c.text, 1000, c.method);
    EXPECT_EQ(read.error, "") << c.text;
    EXPECT_EQ(read.keeps, c.keeps) << c.text;
  }
}

}  // namespace
}  // namespace capi::http
