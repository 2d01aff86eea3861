#include "local/node/objects/node_object.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "base/testing/await.h"
#include "local/node/api_testing.h"

namespace capi::local {
namespace {

// G4: somebody who deletes the Node doesn't take it away for the plane's life.
TEST(NodeObject, IsMadeAgain_G4) {
  ApiStandIn api;
  FakeClock clock;
  std::stop_source stop;
  Context ctx;
  ctx.clock = &clock;
  ctx.stop = stop.get_token();
  std::thread keeps([&] { KeepNode(ctx, api.client()); });
  auto writes = [&](const std::string& prefix) {
    const auto all = api.writes();
    return std::count_if(all.begin(), all.end(), [&](const std::string& one) { return one.starts_with(prefix); });
  };
  for (int beats = 1; beats <= 12; ++beats) {
    ASSERT_TRUE(Await([&] { return writes("PATCH /apis/coordination.k8s.io/") == beats; })) << beats;
    clock.AwaitWaiters(1);
    clock.Advance(Seconds(10));
  }
  stop.request_stop();
  keeps.join();
  EXPECT_EQ(writes("POST /api/v1/nodes"), 2);
}

}  // namespace
}  // namespace capi::local
