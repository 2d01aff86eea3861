// Watch streams: however the stream is cut into pieces, the same events come out; errors are errors of the stream.
#include "base/fuzz.h"
#include "kube/client/watch_decoder.h"

namespace capi::kube {
namespace {

struct Seen {
  std::vector<std::string> events;
  Status ended;
};

Seen Watch(std::string_view stream, size_t piece) {
  Seen seen;
  WatchDecoder decoder(&Builtin("Secret"), [&](WatchEvent event) {
    FUZZ_REQUIRE(event.object.kind() == "Secret" && event.object.api_version() == "v1");
    FUZZ_REQUIRE(!event.initial_events_end || event.type == WatchEvent::Type::kBookmark);
    seen.events.push_back(event.object.json().dump(-1, ' ', false, Json::error_handler_t::replace));
    return Ok();
  });
  for (size_t at = 0; at < stream.size() && seen.ended.ok(); at += piece) {
    seen.ended = decoder.Feed(stream.substr(at, piece));
  }
  if (seen.ended.ok()) seen.ended = decoder.End();
  return seen;
}

}  // namespace
}  // namespace capi::kube

CAPI_FUZZ(
    watch, "kube/client",
    {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n\n{\"type\":\"DELETED\",\"object\":{}}\n",
     "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
     "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"details\":"
     "{\"retryAfterSeconds\":1,\"causes\":[{\"message\":\"x\"}]}}}\n",
     "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":[]}}\n{\"type\":"}) {
  using namespace capi;
  auto whole = kube::Watch(input, input.size() + 1);
  for (size_t piece : {1u, 7u}) {
    auto cut = kube::Watch(input, piece);
    FUZZ_REQUIRE(cut.events == whole.events);
    FUZZ_REQUIRE(cut.ended.ok() == whole.ended.ok());
    if (!cut.ended.ok()) FUZZ_REQUIRE(cut.ended.error().message == whole.ended.error().message);
  }
  FUZZ_REQUIRE(whole.events.size() <= input.size() / 2);
}
