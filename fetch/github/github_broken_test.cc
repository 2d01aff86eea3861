// GitHub behind a network that breaks: bodies cut, lengths that lie, hosts that don't answer.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http/testing.h"
#include "fetch/github_testing.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

// Takes connections on a free port of loopback into its queue and never says a word. Thread-compatible.
class SilentServer {
 public:
  explicit SilentServer(int backlog) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address_), size) != 0 || listen(listener_, backlog) != 0)
      std::abort();
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size);
  }
  ~SilentServer() {
    for (int filler : fillers_) close(filler);
    close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)); }

  // From now on a connect gets no answer, as behind a firewall that drops.
  void FillQueue() {
    for (int i = 0; i < 4; ++i) {
      fillers_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)connect(fillers_.back(), reinterpret_cast<const sockaddr*>(&address_), sizeof(address_));
    }
  }

 private:
  int listener_;
  sockaddr_in address_{};
  std::vector<int> fillers_;
};

// Answers every request with the same bytes, then closes.
http_testing::RawServer::Serve Says(std::string answer) {
  return [answer = std::move(answer)](http_testing::Peer& peer, int) {
    peer.ReadRequest();
    peer.Write(answer);
  };
}

GitHubOptions At(const std::string& url) {
  GitHubOptions options;
  options.api_url = options.download_url = url;
  return options;
}

Result<std::string> Download(const GitHubOptions& options) {
  auto repository = OpenGitHub(kReleases, options);
  return (*repository)->File({}, V("v1.11.0"), "core-components.yaml");
}

TEST(GitHubOverABadNetwork, NeverTakesHalfAFile_F3) {
  struct Case {
    std::string_view name, answer;
  };
  const Case cases[] = {
      {"a body that is cut", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nkind: Namespace\n"},
      {"a chunk that is cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nkind: Namespace\n"},
      {"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nkind: Namespace\n\r\n"},
      {"headers that are cut", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"nothing", ""},
      {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    http_testing::RawServer server(Says(std::string(c.answer)));
    auto file = Download(At(server.url()));
    ASSERT_FALSE(file.ok()) << *file;
    EXPECT_EQ(file.code(), Code::kUnavailable) << file.error().message;
    EXPECT_THAT(file.error().message, HasSubstr("failed to get core-components.yaml of"));
  }
}

// As of GitLab. What a repository that was renamed leads to is GitHub's own word. Of a signature, of which others may
// be there (T14), it is no outage that ends by itself.
TEST(GitHubOverABadNetwork, AStoreThatFailsIsNotGitHub_T10_T14) {
  const std::pair<int, Code> cases[] = {{401, Code::kFailedPrecondition},
                                        {403, Code::kFailedPrecondition},
                                        {404, Code::kNotFound},
                                        {429, Code::kUnavailable},
                                        {500, Code::kUnavailable}};
  for (const auto& [status_of_store, of_signature] : cases) {
    const int status = status_of_store;
    SCOPED_TRACE(status);
    auto store = http::Server::Start({}, [&](const http::ServerRequest&) { return TextResponse(status, "{}"); });
    ASSERT_TRUE(store.ok());
    std::string to;
    auto github = http::Server::Start({}, [&](const http::ServerRequest& request) {
      http::Response response = TextResponse(request.path == "/moved" ? 404 : 302, "");
      response.headers.Set("Location", to);
      return response;
    });
    ASSERT_TRUE(github.ok());
    GitHubOptions options;
    options.api_url = options.download_url = "http://" + (*github)->address();
    options.signatures = true;
    auto repository = Open(options);
    to = "http://" + (*store)->address() + "/x";
    EXPECT_EQ(repository->File({}, V("v1.11.0"), "core-components.yaml.sig").code(), of_signature);
    auto file = repository->File({}, V("v1.11.0"), "core-components.yaml");
    EXPECT_EQ(file.code(), Code::kUnavailable);
    EXPECT_THAT(file.error().message, HasSubstr("sends to answered HTTP " + std::to_string(status)));
    EXPECT_EQ(repository->Versions({}).code(), Code::kUnavailable);
    to = "/moved";
    EXPECT_EQ(repository->File({}, V("v1.11.0"), "core-components.yaml").code(), Code::kNotFound);
  }
}

TEST(GitHubOverABadNetwork, NeverReadsMoreThanAFileMayHave_F2) {
  http_testing::RawServer server(Says("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nkind: Namespace\n"));
  auto file = Download(At(server.url()));
  ASSERT_FALSE(file.ok());
}

TEST(GitHubOverABadNetwork, FindsOutQuicklyThatNobodyListens) {
  std::string url;
  {
    http_testing::RawServer server(Says(""));
    url = server.url();
  }
  MonoTime start = SystemClock().Monotonic();
  auto file = Download(At(url));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kUnavailable);
  EXPECT_LT(SystemClock().Monotonic() - start, Seconds(2));
}

TEST(GitHubOverABadNetwork, GivesUpConnectingInItsTime) {
  SilentServer server(0);
  server.FillQueue();
  GitHubOptions options = At(server.url());
  options.connect_timeout = Millis(100);
  options.request_timeout = Seconds(30);
  auto file = Download(options);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kUnavailable) << file.error().message;
}

TEST(GitHubOverABadNetwork, ASilentServerCountsAsUnavailable) {
  SilentServer server(8);
  GitHubOptions options = At(server.url());
  options.request_timeout = Millis(100);
  auto file = Download(options);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kUnavailable) << "our own limit of time is no deadline of the caller's";
}

TEST(GitHubOverABadNetwork, AStopEndsIt) {
  http_testing::RawServer server(Says(""));
  std::stop_source stop;
  stop.request_stop();
  auto repository = OpenGitHub(kReleases, At(server.url()));
  auto versions = (*repository)->Versions(Context{}.WithStop(stop.get_token()));
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kCancelled);
}

}  // namespace
}  // namespace capi::fetch
