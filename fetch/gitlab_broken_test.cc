#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "base/files.h"
#include "base/http/testing.h"
#include "base/http/url.h"
#include "base/testing/temp_folder.h"
#include "fetch/folders/http_folder.h"
#include "fetch/gitlab_testing.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

// The components file from a server that says `answer` to every request and then closes; "" with `stalls`: that does
// not close.
Result<std::string> DownloadFrom(const std::string& answer, bool stalls = false, bool trusted = true) {
  LoopbackCertificate certificate;
  http_testing::RawServer server([&](http_testing::Peer& peer, int) {
    http_testing::TlsPeer tls(peer, certificate.cert_pem, certificate.key_pem);
    if (!tls.ok()) return;
    tls.ReadRequest();
    tls.Write(answer);
    if (stalls) tls.WaitForEnd();
  });
  GitLabOptions options;
  if (trusted) options.ca_file = certificate.ca_file();
  options.request_timeout = stalls ? Millis(300) : Seconds(30);
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) +
                          "/api/v4/projects/1/packages/generic/p/v1.11.0/core-components.yaml";
  return (*OpenGitLab(url, options))->File({}, V("v1.11.0"), "core-components.yaml");
}

TEST(GitLabOverABadNetwork, NeverTakesHalfAFile_F3) {
  struct Case {
    std::string_view name, answer;
    bool stalls = false;
  };
  const Case cases[] = {
      {"a body that is cut", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nkind: Namespace\n"},
      {"a body that stalls", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nkind: Namespace\n", true},
      {"a chunk that is cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nkind: Namespace\n"},
      {"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nkind: Namespace\n\r\n"},
      {"headers that are cut", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"headers that stall", "HTTP/1.1 200 OK\r\nContent-Le", true},
      {"nothing", ""},
      {"silence", "", true},
      {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto file = DownloadFrom(std::string(c.answer), c.stalls);
    ASSERT_FALSE(file.ok()) << *file;
    EXPECT_EQ(file.code(), Code::kUnavailable) << file.error().message;
    EXPECT_THAT(file.error().message, HasSubstr("failed to get core-components.yaml of"));
  }
}

TEST(GitLabOverABadNetwork, NeverReadsMoreThanAFileMayHave_F2) {
  EXPECT_FALSE(DownloadFrom("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nkind: Namespace\n").ok());
}

// GitLab has the file, and the store that it redirects to doesn't give it: no token is wrong, and no version is
// missing. What GitLab itself answers behind a redirect, as of a project that was renamed, is its own word.
TEST(GitLabOverABadNetwork, AStoreThatFailsIsNotGitLab_T10_T14) {
  LoopbackCertificate certificate;
  const http::ServerOptions tls{.cert_pem = certificate.cert_pem, .key_pem = certificate.key_pem};
  for (int status : {401, 403, 404, 410, 429, 500}) {
    SCOPED_TRACE(status);
    auto store = http::Server::Start(tls, [&](const http::ServerRequest&) { return TextResponse(status, "{}"); });
    ASSERT_TRUE(store.ok());
    std::string to;
    auto gitlab = http::Server::Start(tls, [&](const http::ServerRequest& request) {
      http::Response response = TextResponse(request.path == "/moved" ? 404 : 302, "");
      response.headers.Set("Location", to);
      return response;
    });
    ASSERT_TRUE(gitlab.ok());
    GitLabOptions options;
    options.ca_file = certificate.ca_file();
    const std::string host = (*gitlab)->address();
    auto repository =
        OpenGitLab("https://" + host + "/api/v4/projects/1/packages/generic/p/v1.11.0/core-components.yaml", options);
    ASSERT_TRUE(repository.ok());
    to = "https://" + (*store)->address() + "/x";
    auto file = (*repository)->File({}, V("v1.11.0"), "core-components.yaml");
    EXPECT_EQ(file.code(), Code::kUnavailable);
    EXPECT_THAT(file.error().message, HasSubstr("where " + host + " sends to answered HTTP " + std::to_string(status)));
    // One signature of several may be missing (T14).
    const bool none = status == 404 || status == 410, refused = status == 401 || status == 403;
    EXPECT_EQ((*repository)->File({}, V("v1.11.0"), "core-components.yaml.sig").code(), none ? Code::kNotFound
                                                                                        : refused
                                                                                            ? Code::kFailedPrecondition
                                                                                            : Code::kUnavailable);
    to = "/moved";
    EXPECT_EQ((*repository)->File({}, V("v1.11.0"), "core-components.yaml").code(), Code::kNotFound);
  }
}

struct ElsewhereCase {
  std::string url;
  std::function<Result<std::unique_ptr<Repository>>(const std::string& url, const GitLabOptions& options)> open;
};

// A GitLab, or a folder (I18), elsewhere, as a proxy answers for it, that leads to this machine.
class Elsewhere : public testing::TestWithParam<ElsewhereCase> {};
INSTANTIATE_TEST_SUITE_P(
    All, Elsewhere,
    testing::Values(
        ElsewhereCase{"https://gitlab.example/api/v4/projects/1/packages/generic/p/v1.11.0/core-components.yaml",
                      [](const std::string& url, const GitLabOptions& options) { return OpenGitLab(url, options); }},
        ElsewhereCase{
            "https://files.example/v1.11.0/core-components.yaml",
            [](const std::string& url, const GitLabOptions& options) { return OpenHttpFolder(url, options); }}));

TEST_P(Elsewhere, AServerDoesNotLeadInward_T11_I18) {
  http_testing::TestCa ca;
  const http_testing::Pem outside = ca.Issue({.alt_names = "DNS:gitlab.example,DNS:files.example"}),
                          own = ca.Issue({.alt_names = "IP:127.0.0.1"});
  const TempFolder folder;
  const std::string ca_file = folder / "ca.pem";
  ASSERT_TRUE(WriteFile(ca_file, ca.pem()).ok());
  for (bool allowed : {true, false}) {
    SCOPED_TRACE(allowed);
    std::atomic<int> came = 0;
    auto inside = http::Server::Start({.cert_pem = own.cert, .key_pem = own.key}, [&](const http::ServerRequest&) {
      ++came;
      return TextResponse(200, "kind: Namespace\n");
    });
    ASSERT_TRUE(inside.ok());
    http_testing::RawServer proxy([&](http_testing::Peer& peer, int) {
      peer.ReadRequest();
      peer.Write("HTTP/1.1 200 OK\r\n\r\n");
      http_testing::TlsPeer tls(peer, outside.cert, outside.key);
      if (!tls.ok()) return;
      tls.ReadRequest();
      tls.Write("HTTP/1.1 302 There\r\nConnection: close\r\nContent-Length: 0\r\nLocation: https://" +
                (*inside)->address() + "/x\r\n\r\n");
    });
    GitLabOptions options;
    options.ca_file = ca_file;
    options.proxy.url = proxy.url();
    options.inward_hosts = [&](const http::Url& url) { return allowed && url.host == "127.0.0.1"; };
    auto repository = GetParam().open(GetParam().url, options);
    ASSERT_TRUE(repository.ok());
    auto file = (*repository)->File({}, V("v1.11.0"), "core-components.yaml");
    EXPECT_EQ(file.ok(), allowed);
    EXPECT_EQ(came > 0, allowed);
    if (!file.ok()) {
      EXPECT_EQ(file.code(), Code::kInvalidArgument);
      EXPECT_THAT(file.error().message, HasSubstr("127.0.0.1 is an address of this machine or of a private network"));
    }
  }
}

// T10: whom nobody vouches for gets nothing, and no token.
TEST(GitLabOverABadNetwork, TheCertificateIsChecked) {
  auto file = DownloadFrom("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na\n", false, false);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kUnavailable);
  EXPECT_THAT(file.error().message, HasSubstr("certificate"));
}

}  // namespace
}  // namespace capi::fetch
