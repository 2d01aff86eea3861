#include "cli/frame/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "base/http/testing.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;

Result<ConfigText> Read(const Variables& environment, const std::string& flag = "") {
  return ReadConfigText({}, From(environment), flag);
}

TEST(ConfigFile, IsLookedForInTwoFolders) {
  TestFolder folder;
  Variables environment = {{"HOME", folder / "home"}, {"XDG_CONFIG_HOME", folder / "xdg"}};
  EXPECT_EQ(Read(environment).value().source, "");  // none is fine
  EXPECT_EQ(Read({}).value().source, "");
  std::string old = folder.Put("home/.cluster-api/clusterctl.yaml", "old");
  EXPECT_EQ(Read(environment).value().source, old);
  std::string yml = folder.Put("xdg/cluster-api/clusterctl.yml", "yml");
  EXPECT_EQ(Read(environment).value().source, yml);
  std::string yaml = folder.Put("xdg/cluster-api/clusterctl.yaml", "yaml");
  EXPECT_EQ(Read(environment).value().text, "yaml");
  std::string home_config = folder.Put("home/.config/cluster-api/clusterctl.yaml", "home");
  EXPECT_EQ(Read({{"HOME", folder / "home"}}).value().source, home_config);
  EXPECT_EQ(Read({{"HOME", folder / "home"}, {"XDG_CONFIG_HOME", "relative"}}).value().source, home_config);
}

TEST(ConfigFile, ThatIsAskedForHasToBeThere) {
  TestFolder folder;
  EXPECT_EQ(Read({}, folder.Put("a.conf", "text")).value().text, "text");
  EXPECT_THAT(Read({}, folder / "missing.yaml").error().message,
              HasSubstr("failed to initialize the configuration reader: " + folder.path() + "/missing.yaml: No such"));
  EXPECT_THAT(Read({}, folder.path()).error().message, HasSubstr("is a folder"));
  EXPECT_THAT(Read({}, folder.Put("c.toml", "a = 1")).error().message,
              HasSubstr("c.toml: .toml is no format of configuration files here; write it as YAML or JSON"));
}

TEST(ConfigFile, ComesFromAServerToo) {
  auto server = http::Server::Start({}, [](const http::ServerRequest& request) {
    http::Response response;
    response.status = request.path == "/c.yaml" ? 200 : 404;
    response.body = "a: b\n";
    return response;
  });
  ASSERT_TRUE(server.ok());
  std::string url = "http://" + (*server)->address();
  auto text = Read({}, url + "/c.yaml");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->text, "a: b\n");
  EXPECT_THAT(Read({}, url + "/other.yaml").error().message,
              HasSubstr("failed to download the clusterctl config file from " + url + "/other.yaml got 404"));
  std::string secret = "http://user:hunter2@" + (*server)->address();
  EXPECT_EQ(Read({}, secret + "/c.yaml?token=hunter2").value().source, url + "/c.yaml");
  EXPECT_THAT(Read({}, secret + "/other.yaml").error().message, ::testing::Not(HasSubstr("hunter2")));
  (*server).reset();
  EXPECT_THAT(Read({}, url + "/c.yaml").error().message, HasSubstr("failed to download the clusterctl config file"));
}

// F8: a redirect from http to https goes through the proxy of https, which is the only one here.
TEST(ConfigFile, ComesThroughTheProxyOfEachRedirectsScheme) {
  std::string tunnel;
  http_testing::RawServer server([&](http_testing::Peer& peer, int index) {
    std::string request = peer.ReadRequest();
    if (index > 0) tunnel = request.substr(0, request.find("\r\n"));
    peer.Write(index == 0 ? "HTTP/1.1 302 Found\r\nLocation: https://safe.invalid/c.yaml\r\nContent-Length: 0\r\n\r\n"
                          : "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
  });
  auto text = Read({{"HTTPS_PROXY", server.url()}}, server.url() + "/c.yaml");
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("the proxy answers 407"));
  EXPECT_EQ(tunnel, "CONNECT safe.invalid:443 HTTP/1.1");
}

}  // namespace
}  // namespace capi::cli
