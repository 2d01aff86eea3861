#include "base/http/server/server_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"

namespace capi::http {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

Response Answer(int status, const std::string& body, const std::string& name = "", const std::string& value = "") {
  Response response{.status = status, .headers = {}, .body = body};
  if (!name.empty()) response.headers.Add(name, value);
  return response;
}

TEST(FormatAnswer, WritesWhatTheHandlerSays) {
  struct Case {
    std::string name, method;
    Response response;
    bool keep_alive;
    std::string expected;
  };
  const Case cases[] = {
      {"body", "GET", Answer(201, "made", "X-A", "b"), true,
       "HTTP/1.1 201 \r\nX-A: b\r\nContent-Length: 4\r\n\r\nmade"},
      {"no status", "GET", Answer(0, ""), true, "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"},
      {"the last one", "GET", Answer(200, ""), false,
       "HTTP/1.1 200 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
      {"head", "HEAD", Answer(200, "body"), true, "HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\n"},
      {"no content", "GET", Answer(204, "body"), true, "HTTP/1.1 204 \r\n\r\n"},
      {"not modified", "GET", Answer(304, "body"), true, "HTTP/1.1 304 \r\n\r\n"},
      {"a length that isn't so", "GET", Answer(200, "body", "content-length", "9"), true,
       "HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nbody"},
      {"a coding that isn't done", "GET", Answer(200, "body", "Transfer-Encoding", "chunked"), true,
       "HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nbody"},
      {"a value with a line of its own", "GET", Answer(200, "body", "X-A", "b\r\nX-B: c"), true,
       "HTTP/1.1 500 \r\nContent-Length: 11\r\n\r\nbad answer\n"},
      {"a name that is none", "GET", Answer(200, "body", "X A", "b"), true,
       "HTTP/1.1 500 \r\nContent-Length: 11\r\n\r\nbad answer\n"},
  };
  for (const Case& c : cases) {
    ServerRequest request;
    request.method = c.method;
    EXPECT_EQ(FormatAnswer(request, c.response, c.keep_alive), c.expected) << c.name;
  }
}

TEST(FormatAnswer, PacksTextForThoseWhoUnpack) {
  struct Case {
    std::string accepts, type;
    size_t size;
    bool packed;
  };
  const Case cases[] = {
      {"gzip", "text/plain; version=0.0.4", 10'000, true},
      {"deflate, GZIP;q=0.5", "application/json", 10'000, true},
      {"", "text/plain", 10'000, false},
      {"br", "text/plain", 10'000, false},
      {"gzip;q=0", "text/plain", 10'000, false},
      {"gzip", "application/octet-stream", 10'000, false},
      {"gzip", "text/plain", 100, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.accepts + " " + c.type);
    ServerRequest request;
    if (!c.accepts.empty()) request.headers.Set("Accept-Encoding", c.accepts);
    std::string body(c.size, 'x');
    std::string answer = FormatAnswer(request, Answer(200, body, "Content-Type", c.type), true);
    if (!c.packed) {
      EXPECT_THAT(answer, Not(HasSubstr("Content-Encoding")));
      EXPECT_THAT(answer, EndsWith("\r\n\r\n" + body));
      continue;
    }
    EXPECT_THAT(answer, HasSubstr("Content-Encoding: gzip\r\n"));
    auto unpacked = Gunzip(answer.substr(answer.find("\r\n\r\n") + 4), c.size);
    ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
    EXPECT_EQ(*unpacked, body);
  }
}

}  // namespace
}  // namespace capi::http
