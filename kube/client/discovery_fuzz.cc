// Discovery: whatever a server lists, each resource that comes out can be asked for.
#include "base/fuzz.h"
#include "base/strings.h"
#include "kube/client/discovery.h"

// The answers to one request after the other, the bytes between them 0xff; the last one for good.
CAPI_FUZZ(
    discovery, "kube/client",
    {"{\"kind\":\"APIGroupDiscoveryList\",\"items\":[{\"metadata\":{\"name\":\"x.io\"},\"versions\":[{\"version\":"
     "\"v1\","
     "\"freshness\":\"Stale\",\"resources\":[{\"resource\":\"foxes\",\"responseKind\":{\"kind\":\"Fox\"},"
     "\"scope\":\"Namespaced\",\"verbs\":[\"get\"],\"subresources\":[{\"subresource\":\"status\"}]}]}]}]}",
     "{\"versions\":[\"v1\"]}\xff{\"resources\":[{\"name\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true},{\"name\":"
     "\"pods/status\"}]}\xff{\"groups\":[{\"name\":\"x.io\",\"versions\":[{\"version\":\"v1\"},{\"version\":\"v2\"}],"
     "\"preferredVersion\":{\"version\":\"v2\"}}]}\xff{\"resources\":[]}",
     "{\"items\":{},\"kind\":\"APIGroupDiscoveryList\"}\xff[]"}) {
  using namespace capi;
  std::vector<std::string> answers = Split(input, '\xff');
  size_t next = 0, requests = 0;
  auto get = [&](const Context&, std::string_view path, std::string_view) -> Result<std::string> {
    FUZZ_REQUIRE(path.starts_with("/api"));
    // A few thousand versions of one group are no news.
    if (++requests > 1000 || answers.empty()) return Error{Code::kNotFound, "no such path", {}};
    const std::string& answer = answers[next];
    if (next + 1 < answers.size()) ++next;
    return answer;
  };
  auto discovery = kube::Discover(Context(), get);
  if (!discovery.ok()) return;
  for (const kube::Resource& r : discovery->resources) {
    FUZZ_REQUIRE(!r.plural.empty() && !r.kind.empty() && !r.version.empty());
    FUZZ_REQUIRE(r.plural.find('/') == std::string::npos && r.version.find('/') == std::string::npos);
    FUZZ_REQUIRE(r.Path("n", "a").starts_with(r.group.empty() ? "/api/" : "/apis/"));
  }
}
