#include "local/node/pod_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

// G5: what an argument leads and another container names in a URL on loopback; anything else is nobody's.
TEST(PodPorts, AreThoseThatAnotherContainerNames_G5) {
  struct Case {
    const char *manager, *proxy;
    bool shared;
  };
  for (const Case& c : {Case{"--metrics-addr=127.0.0.1:8080", "--upstream=http://127.0.0.1:8080/", true},
                        {"--metrics-addr=127.0.0.1:8080", "--upstream=http://localhost:8080", true},
                        {"--metrics-addr=127.0.0.1:8080", "--upstream=http://example.com:8080/", false},
                        {"--metrics-addr=127.0.0.1:8080", "--upstream=http://127.0.0.1:80801/", false},
                        {"--metrics-addr=127.0.0.1:8080", "--v=8080", false},
                        {"--v=4", "--upstream=http://127.0.0.1:8080/", false},
                        {"--remote-address=10.0.0.1:8080", "--upstream=http://127.0.0.1:8080/", false}}) {
    Json spec = {
        {"containers", Json::array({{{"name", "m"}, {"args", {c.manager}}}, {{"name", "p"}, {"args", {c.proxy}}}})}};
    const PodPorts ports(kube::Object(Json{{"spec", std::move(spec)}}));
    const auto port = ports.Of("m", 8080);
    EXPECT_EQ(port.has_value(), c.shared) << c.manager << " " << c.proxy;
    EXPECT_FALSE(ports.Of("p", 8080) || ports.Of("m", 8443));
    EXPECT_TRUE(ports.OfOthers("m").empty());
    if (port) EXPECT_THAT(ports.OfOthers("p"), testing::ElementsAre(testing::Pair(8080, *port)));
  }
}

}  // namespace
}  // namespace capi::local
