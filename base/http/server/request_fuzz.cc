// What a client sends: reading it never depends on how it is cut into pieces, and keeps no more than the limits.
#include "base/fuzz.h"
#include "base/http/server/request_reader.h"

namespace capi::http {
namespace {

constexpr ServerLimits kLimits = {.head = 512, .header_lines = 8, .body = 64};

// How much of `bytes` it took.
size_t Feed(RequestReader& reader, std::string_view bytes, size_t piece) {
  size_t taken = 0;
  while (taken < bytes.size()) {
    size_t took = reader.Take(bytes.substr(taken, piece));
    taken += took;
    FUZZ_REQUIRE(reader.held() <= 4096);
    FUZZ_REQUIRE(reader.request().body.size() <= kLimits.body);
    FUZZ_REQUIRE(took == piece || taken == bytes.size() || reader.whole() || reader.refusal() != 0);
    if (reader.whole() || reader.refusal() != 0) break;
  }
  return taken;
}

void Compare(RequestReader& a, RequestReader& b) {
  FUZZ_REQUIRE(a.whole() == b.whole());
  FUZZ_REQUIRE(a.refusal() == b.refusal());
  FUZZ_REQUIRE(a.why() == b.why());
  if (!a.whole()) return;
  FUZZ_REQUIRE(a.request().method == b.request().method);
  FUZZ_REQUIRE(a.request().path == b.request().path);
  FUZZ_REQUIRE(a.request().query == b.request().query);
  FUZZ_REQUIRE(a.request().body == b.request().body);
  FUZZ_REQUIRE(a.request().headers.all() == b.request().headers.all());
  FUZZ_REQUIRE(a.keep_alive() == b.keep_alive());
}

void Check(std::string_view input) {
  RequestReader whole(kLimits), cut(kLimits);
  size_t taken = Feed(whole, input, input.size() + 1);
  size_t again = Feed(cut, input, 1);
  Compare(whole, cut);
  // What is refused is refused at the end of its piece.
  if (whole.whole()) FUZZ_REQUIRE(taken == again);
  if (!whole.whole()) return;
  RequestReader same(kLimits);
  FUZZ_REQUIRE(Feed(same, input.substr(0, taken), input.size() + 1) == taken);
  FUZZ_REQUIRE(same.whole());
  FUZZ_REQUIRE(same.Take(input.substr(taken)) == 0);
}

}  // namespace

CAPI_FUZZ(request, "base/http/server",
          {"GET /a%20b?c=d HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabc",
           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n",
           "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
           "GET / HTTP/1.1\nHost: x\n\n"}) {
  Check(input);
}

}  // namespace capi::http
