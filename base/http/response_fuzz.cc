// Answers: however the stream is cut into pieces, the same comes out; nothing breaks out of its line; bodies are
// bounded.
#include "base/fuzz.h"
#include "base/http/grammar.h"
#include "base/http/response_reader.h"
#include "base/http/response_testing.h"

namespace capi::http {
namespace {

constexpr size_t kMaxBody = 64u << 10;

Result<Response> ReadAll(std::string_view text, size_t piece, std::string_view method) {
  http_testing::Pieces source(text, piece);
  ResponseReader reader(source);
  Head head = TRY(reader.ReadHead());
  Framing framing = TRY(Framing::Of(head, method));
  BodySink sink(head.headers.Get("Content-Encoding") == "gzip", nullptr, kMaxBody);
  TRY(reader.ReadBody(framing, sink));
  TRY(sink.Finish());
  FUZZ_REQUIRE(framing.kind != Framing::Kind::kToEnd || !KeepsConnection(head, framing));
  FUZZ_REQUIRE(sink.collected().size() <= kMaxBody);
  return Response{head.status, std::move(head.headers), std::move(sink.collected())};
}

void CheckHeaders(const Headers& headers) {
  for (const auto& [name, value] : headers.all()) {
    FUZZ_REQUIRE(IsToken(name));
    FUZZ_REQUIRE(value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos);
  }
}

}  // namespace
}  // namespace capi::http

CAPI_FUZZ(
    response, "base/http",
    {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
     "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n"
     "X: y\r\n\r\n",
     "HTTP/1.0 200 OK\nContent-Encoding: gzip\n\n\x1f\x8b",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
  using namespace capi;
  for (std::string_view method : {"GET", "HEAD"}) {
    auto whole = http::ReadAll(input, input.size() + 1, method);
    for (size_t piece : {1u, 5u}) {
      auto cut = http::ReadAll(input, piece, method);
      FUZZ_REQUIRE(cut.ok() == whole.ok());
      if (!cut.ok()) continue;
      FUZZ_REQUIRE(cut->status == whole->status && cut->body == whole->body);
      FUZZ_REQUIRE(cut->headers.all() == whole->headers.all());
    }
    if (!whole.ok()) {
      FUZZ_REQUIRE(whole.code() == Code::kUnavailable || whole.code() == Code::kInvalidArgument);
      continue;
    }
    FUZZ_REQUIRE(whole->status >= 200 && whole->status <= 999);
    http::CheckHeaders(whole->headers);
  }
}
