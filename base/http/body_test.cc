#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/encoding.h"
#include "base/http/client.h"
#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::Peer;
using http_testing::RawServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

std::string Sized(std::string_view headers, std::string_view body) {
  return "HTTP/1.1 200 OK\r\n" + std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

Result<Response> Answered(const std::string& answer, Request request = {}) {
  RawServer server([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write(answer);
    peer.WaitForEnd();
  });
  request.target = "/";
  auto client = Client::Create(server.url(), {});
  return (*client)->Do(Ctx(), std::move(request));
}

TEST(Body, IsUnpacked) {
  const std::string text = std::string(200'000, 'a') + "end";
  auto response = Answered(Sized("Content-Encoding: gzip\r\n", Gzip(text)));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, text);
  EXPECT_FALSE(response->headers.Has("Content-Encoding"));
  auto members = Answered(Sized("Content-Encoding: GZIP\r\n", Gzip("one") + Gzip("two")));
  ASSERT_TRUE(members.ok()) << members.error().message;
  EXPECT_EQ(members->body, "onetwo");
  auto empty = Answered(Sized("Content-Encoding: gzip\r\n", ""));
  ASSERT_TRUE(empty.ok()) << empty.error().message;
}

TEST(Body, IsLeftPackedForACallerWhoAsksForAnEncodingItself) {
  Request request;
  request.headers.Set("accept-encoding", "gzip");
  auto response = Answered(Sized("Content-Encoding: gzip\r\n", Gzip("text")), request);
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->body, Gzip("text"));
}

TEST(Body, ThatIsNoWholeGzipFails) {
  const std::string packed = Gzip(std::string(1000, 'a') + "b");
  for (const std::string& body : {std::string("plain text"), packed.substr(0, packed.size() - 9)}) {
    auto response = Answered(Sized("Content-Encoding: gzip\r\n", body));
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.code(), Code::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr("gzip"));
  }
}

// F8: what nobody asked for nobody can read.
TEST(Body, InAnotherEncodingIsRefused) {
  for (std::string_view encoding : {"br", "deflate", "gzip, br"}) {
    auto response = Answered(Sized("Content-Encoding: " + std::string(encoding) + "\r\n", "text"));
    ASSERT_FALSE(response.ok()) << encoding;
    EXPECT_EQ(response.code(), Code::kUnavailable);
    EXPECT_THAT(response.error().message, HasSubstr("content encoding that nobody asked for"));
  }
  EXPECT_EQ(Answered(Sized("Content-Encoding: identity\r\n", "text"))->body, "text");
  Request any;
  any.headers.Set("Accept-Encoding", "br");
  EXPECT_EQ(Answered(Sized("Content-Encoding: br\r\n", "text"), any)->body, "text");
}

TEST(Body, LargerThanAllowedIsRefused) {
  Request request;
  request.max_body = 10;
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n";
  for (const std::string& answer :
       {Sized("", std::string(11, 'x')), chunked, Sized("Content-Encoding: gzip\r\n", Gzip(std::string(11, 'x')))}) {
    auto response = Answered(answer, request);
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.code(), Code::kInvalidArgument);
    EXPECT_THAT(response.error().message, HasSubstr("larger than 10 bytes"));
  }
  EXPECT_TRUE(Answered(Sized("", std::string(10, 'x')), request).ok());
}

TEST(Body, StreamsPieceByPiece) {
  std::promise<void> seen_first;
  RawServer server([&](Peer& peer, int) {
    peer.ReadRequest();
    peer.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
    seen_first.get_future().wait();  // a client that waited for more would hang here
    peer.Write("4\r\ntwo\n\r\n0\r\n\r\n");
    peer.WaitForEnd();
  });
  std::vector<std::string> pieces;
  Request request;
  request.target = "/watch";
  request.on_data = [&](std::string_view piece) {
    pieces.emplace_back(piece);
    if (pieces.size() == 1) seen_first.set_value();
    return Ok();
  };
  auto response = (*Client::Create(server.url(), {}))->Do(Ctx(), request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "");
  EXPECT_THAT(pieces, ElementsAre("one\n", "two\n"));
}

TEST(Body, OfAnErrorIsKeptAlsoWhereItWouldStream) {
  Request request;
  request.on_data = [](std::string_view) -> Status { return Error{Code::kInternal, "not for errors", {}}; };
  auto response = Answered("HTTP/1.1 410 Gone\r\nContent-Length: 7\r\n\r\ntoo old", request);
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body, "too old");
}

TEST(Body, EndsWithTheCallersError) {
  Request request;
  request.on_data = [](std::string_view) -> Status { return Error{Code::kConflict, "enough", {}}; };
  auto response = Answered(Sized("", "abc"), request);
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.code(), Code::kConflict);
  EXPECT_EQ(response.error().message, "enough");
}

}  // namespace
}  // namespace capi::http
