#include "base/http/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/http/server/server.h"
#include "base/http/testing.h"

namespace capi::http {
namespace {

using http_testing::Peer;
using http_testing::Pem;
using http_testing::RawServer;
using http_testing::TestCa;
using http_testing::TlsPeer;
using ::testing::HasSubstr;

Context Ctx() { return Context().WithTimeout(Seconds(20)); }

std::unique_ptr<Server> Serve(const Pem& pem) {
  ServerOptions options;
  options.cert_pem = pem.cert;
  options.key_pem = pem.key;
  auto server = Server::Start(options, [](const ServerRequest& request) {
    Response response;
    response.body = request.path;
    return response;
  });
  if (!server.ok()) ADD_FAILURE() << server.error().message;
  return *std::move(server);
}

std::string Port(const Server& server) { return server.address().substr(server.address().rfind(':')); }

Result<Response> Get(Client& client) {
  Request request;
  request.target = "/x";
  return client.Do(Ctx(), request);
}

// "" for success, else the error's message.
std::string Try(const std::string& url, const TlsOptions& tls) {
  Options options;
  options.tls = tls;
  auto client = Client::Create(url, options);
  if (!client.ok()) return client.error().message;
  auto response = Get(**client);
  if (response.ok()) return response->body == "/x" ? "" : "wrong body";
  EXPECT_EQ(response.code(), Code::kUnavailable);
  return response.error().message;
}

TEST(Tls, VerifiesTheServer) {
  TestCa ca, other("another CA");
  TlsOptions trusted, wrong_ca, insecure, as_example;
  trusted.ca_pem = ca.pem();
  wrong_ca.ca_pem = other.pem();
  insecure.insecure_skip_verify = true;
  as_example = trusted;
  as_example.server_name = "kubernetes.default.svc";
  struct Case {
    std::string_view name, alt_names, host;
    TlsOptions tls;
    std::string_view message;
    std::string common_name = "x";
    int days = 1;
  };
  const Case cases[] = {
      {"IP address", "IP:127.0.0.1", "127.0.0.1", trusted, ""},
      {"one of many", "DNS:a,IP:10.0.0.1,IP:127.0.0.1", "127.0.0.1", trusted, ""},
      {"host name", "DNS:localhost", "localhost", trusted, ""},
      {"server name", "DNS:kubernetes.default.svc", "127.0.0.1", as_example, ""},
      {"wildcard", "DNS:*.default.svc", "127.0.0.1", as_example, ""},
      {"two CAs in the bundle", "IP:127.0.0.1", "127.0.0.1", {.ca_pem = other.pem() + ca.pem()}, ""},
      {"not verified", "DNS:other", "127.0.0.1", insecure, ""},
      {"other IP address", "IP:127.0.0.2", "127.0.0.1", trusted, "IP address mismatch"},
      {"IP address as name", "DNS:127.0.0.1", "127.0.0.1", trusted, "IP address mismatch"},
      {"other host name", "DNS:other", "localhost", trusted, "hostname mismatch"},
      {"the common name doesn't count", "", "localhost", trusted, "hostname mismatch", "localhost"},
      {"other server name", "IP:127.0.0.1", "127.0.0.1", as_example, "hostname mismatch"},
      {"other CA", "IP:127.0.0.1", "127.0.0.1", wrong_ca, "unable to get local issuer certificate"},
      {"system's CAs", "IP:127.0.0.1", "127.0.0.1", {}, "unable to get local issuer certificate"},
      {"expired", "IP:127.0.0.1", "127.0.0.1", trusted, "certificate has expired", "x", -1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto server =
        Serve(ca.Issue({.common_name = c.common_name, .alt_names = std::string(c.alt_names), .days = c.days}));
    std::string message = Try("https://" + std::string(c.host) + Port(*server), c.tls);
    if (c.message.empty()) {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_THAT(message, HasSubstr(std::string(c.message)));
      EXPECT_THAT(message, HasSubstr("certificate verify failed"));
    }
  }
}

// F8: a file with an intermediate alone, or with the server's own certificate, says whom to trust, as for Go and curl.
TEST(Tls, TrustsWhateverTheFileHolds) {
  TestCa root("root"), other("another root");
  TestCa intermediate("intermediate", root), unrelated("unrelated", other);
  Pem leaf = intermediate.Issue({.alt_names = "IP:127.0.0.1"});
  Pem whole{leaf.cert + intermediate.pem(), leaf.key};
  struct Case {
    std::string_view name;
    Pem served;
    std::string trusted;
    bool ok;
  };
  const Case cases[] = {
      {"the intermediate alone", leaf, intermediate.pem(), true},
      {"the intermediate alone, of a server that sends it too", whole, intermediate.pem(), true},
      {"the root, of a server that sends the intermediate", whole, root.pem(), true},
      {"the root, of a server that sends the leaf alone", leaf, root.pem(), false},
      {"the server's own certificate", leaf, leaf.cert, true},
      {"another intermediate", whole, unrelated.pem(), false},
      {"another root", whole, other.pem(), false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto server = Serve(c.served);
    std::string message = Try("https://127.0.0.1" + Port(*server), {.ca_pem = c.trusted});
    EXPECT_EQ(message.empty(), c.ok) << message;
    EXPECT_THAT(message, HasSubstr(c.ok ? "" : "certificate verify failed"));
  }
}

TEST(Tls, SaysThatTheServerSpeaksPlainHttp) {
  RawServer server([](Peer& peer, int) {
    peer.Write("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.WaitForEnd();
  });
  TlsOptions tls;
  tls.insecure_skip_verify = true;
  EXPECT_THAT(Try("https://127.0.0.1:" + std::to_string(server.port()), tls), HasSubstr("TLS handshake: "));
}

TEST(Tls, PresentsTheClientCertificate) {
  TestCa ca;
  Pem served = ca.Issue({.alt_names = "DNS:api.example"});
  Pem mine = ca.Issue({.common_name = "system:admin"});
  std::string name, sni;
  RawServer server([&](Peer& peer, int) {
    TlsPeer tls(peer, served.cert, served.key, ca.pem());
    if (!tls.ok()) return peer.WaitForEnd();  // closing at once might overtake the alert
    name = tls.ClientCommonName();
    sni = tls.ServerNameIndication();
    tls.ReadRequest();
    tls.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/x");
  });
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  TlsOptions tls;
  tls.ca_pem = ca.pem();
  tls.server_name = "api.example";
  EXPECT_THAT(Try(url, tls), HasSubstr("certificate required"));
  tls.cert_pem = mine.cert;
  tls.key_pem = mine.key;
  EXPECT_EQ(Try(url, tls), "");
  EXPECT_EQ(name, "system:admin");
  EXPECT_EQ(sni, "api.example");
}

TEST(Tls, RefusesWhatIsNoPem) {
  TestCa ca;
  Pem mine = ca.Issue({}), other = ca.Issue({});
  const std::string half = mine.cert.substr(0, mine.cert.size() / 2) + "\n-----END CERTIFICATE-----\n";
  struct Case {
    TlsOptions tls;
    Code code;
    std::string_view message;
  };
  const Case cases[] = {
      {{.ca_pem = "nonsense"}, Code::kInvalidArgument, "CA certificate: no PEM certificate"},
      {{.ca_file = "/no/such/file"}, Code::kNotFound, "CA certificate"},
      {{.cert_pem = mine.cert}, Code::kInvalidArgument, "one is missing"},
      {{.cert_pem = "nonsense", .key_pem = mine.key}, Code::kInvalidArgument, "client: certificate"},
      {{.cert_pem = mine.cert, .key_pem = "nonsense"}, Code::kInvalidArgument, "client: private key"},
      {{.cert_pem = mine.cert, .key_pem = other.key}, Code::kInvalidArgument, "doesn't fit"},
      {{.ca_pem = ca.pem() + half + other.cert}, Code::kInvalidArgument, "CA certificate 2: "},
      {{.ca_pem = ca.pem() + other.cert.substr(0, 90)}, Code::kInvalidArgument, "CA certificate 2: "},
      {{.cert_pem = mine.cert + half + ca.pem(), .key_pem = mine.key},
       Code::kInvalidArgument,
       "client: certificate 2: "},
      {{.cert_pem = half, .key_pem = mine.key}, Code::kInvalidArgument, "client: certificate 1: "},
  };
  for (const Case& c : cases) {
    Options options;
    options.tls = c.tls;
    auto client = Client::Create("https://example.com", options);
    ASSERT_FALSE(client.ok());
    EXPECT_EQ(client.code(), c.code);
    EXPECT_THAT(client.error().message, HasSubstr(std::string(c.message)));
  }
}

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tls_test.XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

TEST(Tls, ReadsFilesAgainWhenTheyChange) {
  TempFolder folder;
  TestCa first("first"), second("second");
  auto old_server = Serve(first.Issue({.alt_names = "IP:127.0.0.1"}));
  ASSERT_TRUE(WriteFile(folder / "ca", first.pem()).ok());
  Options options;
  options.tls.ca_file = folder / "ca";
  auto client = *Client::Create("https://" + old_server->address(), options);
  EXPECT_TRUE(Get(*client).ok());
  // An unusable file changes nothing.
  ASSERT_TRUE(WriteFile(folder / "ca", "half written").ok());
  EXPECT_TRUE(Get(*client).ok());
  // Idle connections of the old certificates aren't used any more: the server isn't trusted now.
  ASSERT_TRUE(WriteFile(folder / "ca", second.pem()).ok());
  EXPECT_FALSE(Get(*client).ok());
  ASSERT_TRUE(WriteFile(folder / "ca", first.pem() + second.pem()).ok());
  EXPECT_TRUE(Get(*client).ok());
}

// What was changed while it was read is read again: here the name was given to another file meanwhile.
TEST(Tls, MissesNoChangeWhileItReads) {
  TempFolder folder;
  TestCa first("first"), second("second");
  auto server = Serve(second.Issue({.alt_names = "IP:127.0.0.1"}));
  ASSERT_EQ(mkfifo((folder / "ca").c_str(), 0600), 0);
  std::jthread writer([&] {
    std::ofstream pipe(folder / "ca");  // until somebody reads
    EXPECT_TRUE(WriteFile(folder / "ca", second.pem()).ok());
    pipe << first.pem();
  });
  Options options;
  options.tls.ca_file = folder / "ca";
  auto client = *Client::Create("https://" + server->address(), options);
  auto response = Get(*client);
  EXPECT_TRUE(response.ok()) << response.error().message;
}

TEST(Tls, SaysOnceThatAFileCannotBeUsed) {
  TempFolder folder;
  TestCa ca;
  auto server = Serve(ca.Issue({.alt_names = "IP:127.0.0.1"}));
  ASSERT_TRUE(WriteFile(folder / "ca", ca.pem()).ok());
  Options options;
  options.tls.ca_file = folder / "ca";
  auto client = *Client::Create("https://" + server->address(), options);
  int lines = 0;
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  ctx.log = Logger::ToSink(
      LogLevel::kDebug, LogFormat::kText, [](void* count, std::string_view) { ++*static_cast<int*>(count); }, &lines);
  auto get = [&] { return client->Do(ctx, {.target = "/x"}).ok(); };
  for (int change = 1; change <= 2; ++change) {
    ASSERT_TRUE(WriteFile(folder / "ca", "unusable " + std::to_string(change)).ok());
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(get());
      EXPECT_EQ(lines, change);
      clock.Advance(Seconds(4));
    }
  }
}

// Tried once more a while later, as a file may be changed without being seen to be.
TEST(Tls, TriesUnusableFilesAgain) {
  TempFolder folder;
  ASSERT_TRUE(WriteFile(folder / "ca", "x").ok());
  TlsFiles files({.ca_file = folder / "ca"});
  MonoTime now = MonoTime() + Seconds(1);
  EXPECT_FALSE(files.Changed(now));
  ASSERT_TRUE(WriteFile(folder / "ca", "y").ok());
  EXPECT_TRUE(files.Changed(now));
  EXPECT_TRUE(files.Unusable(now));
  EXPECT_FALSE(files.Changed(now + Seconds(9)));
  EXPECT_TRUE(files.Changed(now + Seconds(10)));
  EXPECT_FALSE(files.Unusable(now + Seconds(10))) << "it was told";
  EXPECT_FALSE(files.Changed(now + Seconds(19)));
  EXPECT_TRUE(files.Changed(now + Seconds(20)));
  EXPECT_FALSE(files.Changed(now + Seconds(99))) << "they could be used";
}

TEST(Tls, TakesNewOptions) {
  TestCa ca, other;
  auto server = Serve(ca.Issue({.alt_names = "IP:127.0.0.1"}));
  Options options;
  options.tls.ca_pem = other.pem();
  auto client = *Client::Create("https://" + server->address(), options);
  EXPECT_FALSE(Get(*client).ok());
  options.tls.ca_pem = ca.pem();
  ASSERT_TRUE(client->SetTls(options.tls).ok());
  EXPECT_TRUE(Get(*client).ok());
  options.tls.ca_pem = "nonsense";
  EXPECT_EQ(client->SetTls(options.tls).code(), Code::kInvalidArgument);
  EXPECT_TRUE(Get(*client).ok());
}

// A stream that ends without TLS's own goodbye may have been cut by someone between.
TEST(Tls, NoticesACutStream) {
  TestCa ca;
  Pem served = ca.Issue({.alt_names = "IP:127.0.0.1"});
  RawServer server([&](Peer& peer, int) {
    TlsPeer tls(peer, served.cert, served.key);
    tls.ReadRequest();
    tls.Write("HTTP/1.1 200 OK\r\n\r\nhalf of it");
    tls.Abandon();
  });
  TlsOptions tls;
  tls.ca_pem = ca.pem();
  EXPECT_THAT(Try("https://127.0.0.1:" + std::to_string(server.port()), tls), HasSubstr("unexpected eof"));
}

}  // namespace
}  // namespace capi::http
