#include "operator/webhooks/webhook_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/http/client.h"
#include "base/testing/await.h"
#include "base/testing/value_or_abort.h"

namespace capi::ops {
namespace {

using ::testing::HasSubstr;

Reviews Echo() {
  return {{"/echo", [](const Context&, Json review) -> Result<Json> { return review; }},
          {"/bad",
           [](const Context&, const Json&) -> Result<Json> {
             return Error{Code::kInvalidArgument, "spec.x: no review", {}};
           }},
          {"/away", [](const Context&, const Json&) -> Result<Json> {
             return Error{Code::kUnavailable, "nobody there", {}};
           }}};
}

http::ServerRequest Post(const std::string& path, const std::string& body,
                         const std::string& type = "application/json") {
  http::ServerRequest request{.method = "POST", .path = path, .query = "", .body = body, .headers = {}};
  if (!type.empty()) request.headers.Set("Content-Type", type);
  return request;
}

TEST(AnswerReview, SaysWhatIsWrongWithARequest) {
  http::ServerRequest get = Post("/echo", "");
  get.method = "GET";
  struct Case {
    std::string_view name;
    http::ServerRequest request;
    int status;
    std::string body;
  };
  const Case cases[] = {
      {"a review", Post("/echo", R"({"a": 1})"), 200, R"({"a":1})"},
      {"with a character set", Post("/echo", "[]", "Application/JSON; charset=utf-8"), 200, "[]"},
      {"another path", Post("/echo/", "{}"), 404, "there are /away, /bad, /echo"},
      {"a GET", get, 405, "POST"},
      {"YAML", Post("/echo", "a: 1", "application/yaml"), 415, "application/json"},
      {"no type", Post("/echo", "{}", ""), 415, "application/json"},
      {"no JSON", Post("/echo", "{"), 400, "the body is no JSON: "},
      {"no body", Post("/echo", ""), 400, "the body is no JSON: "},
      {"no such review", Post("/bad", "{}"), 400, "spec.x: no review"},
      {"nobody can answer", Post("/away", "{}"), 500, "nobody there"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    auto response = AnswerReview(Echo(), c.request);
    EXPECT_EQ(response.status, c.status);
    EXPECT_THAT(response.body, HasSubstr(c.body));
    EXPECT_EQ(response.headers.Get("Content-Type"), c.status == 200 ? "application/json" : "text/plain; charset=utf-8");
    EXPECT_EQ(response.headers.Get("Allow"), c.status == 405 ? "POST" : "");
  }
}

struct Ca {
  http::Certificate authority, serving;
};

Ca MakeCa() {
  WallTime now = SystemClock().Now();
  http::Validity day{now - std::chrono::hours(1), now + std::chrono::hours(23)};
  http::Certificate authority = ValueOrAbort(http::MakeAuthority("CA", day), "CA");
  return {authority, ValueOrAbort(http::IssueServing(authority, {"127.0.0.1"}, day), "serving")};
}

Result<http::Response> Ask(const std::string& url, const std::string& ca_pem) {
  http::Options options;
  options.tls.ca_pem = ca_pem;
  auto client = TRY(http::Client::Create(url, options));
  http::Request request{.method = "POST", .target = "/echo"};
  request.body = "{}";
  request.content_type = "application/json";
  return client->Do(Context().WithTimeout(Seconds(20)), std::move(request));
}

std::string ListenedAt(const std::string& log) {
  constexpr std::string_view kWords = "serving webhooks address=";
  size_t at = log.find(kWords);
  return at == log.npos
             ? ""
             : log.substr(at + kWords.size(), log.find_first_of(" \n", at + kWords.size()) - at - kWords.size());
}

struct Lines {
  Mutex mu;
  std::string text CAPI_GUARDED_BY(mu);
  static void Add(void* self, std::string_view line) {
    auto* lines = static_cast<Lines*>(self);
    MutexLock lock(lines->mu);
    lines->text += std::string(line) + "\n";
  }
  std::string Text() {
    MutexLock lock(mu);
    return text;
  }
};

// A server that runs, on a clock of its own.
class Running {
 public:
  explicit Running(WebhookServer& server) {
    Context ctx;
    ctx.clock = &clock;
    ctx.log = Logger::ToSink(LogLevel::kInfo, LogFormat::kText, Lines::Add, &lines);
    thread_ = std::thread([this, &server, ctx] {
      ended_ = server.Run(ctx.WithStop(stop_.get_token()));
      done_ = true;
    });
  }
  ~Running() {
    if (thread_.joinable()) (void)End();
  }
  void Stop() { stop_.request_stop(); }
  // What Run returned, with all the time that it waits for.
  Status End() {
    Stop();
    EXPECT_TRUE(Await([this] {
      clock.Advance(kServesOn);
      return done_.load();
    }));
    thread_.join();
    return ended_;
  }

  FakeClock clock;
  Lines lines;

 private:
  std::stop_source stop_;
  Status ended_ = Error{};
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

constexpr const char* kExpiry = "capi_operator_webhook_certificate_expiry_timestamp_seconds";

// RSA with 1,024 bits: OpenSSL reads it, and presents it to nobody. Of no use elsewhere.
constexpr const char* kWeakCertificate = R"(-----BEGIN CERTIFICATE-----
MIIB+jCCAWOgAwIBAgIUFK/Ru1Iy+w0KeLwuwRTRt59CdTMwDQYJKoZIhvcNAQEL
BQAwDzENMAsGA1UEAwwEd2VhazAeFw0yNjExMjIyMzE3NDJaFw0zNjExMTkyMzE3
NDJaMA8xDTALBgNVBAMMBHdlYWswgZ8wDQYJKoZIhvcNAQEBBQADgY0AMIGJAoGB
AJ5pBPIdsxWDrZ/2gV1EYmGYcYsKgwpSw2J7meDVPSgb2YWOVsEKw6RGaoQYwftT
aYFFSG8/JQXxA7/Xzba03IuflDsOIwsbZdsnUwZJHyekgXFe9vbzNhP72P0cvuHw
9RaRHo/cDgkMUmXQ3gXNEkOjk2PCIIS5WFmPovu8nb19AgMBAAGjUzBRMB0GA1Ud
DgQWBBQ5cESCY3mN4tp7T9EEucGad+Xz6zAfBgNVHSMEGDAWgBQ5cESCY3mN4tp7
T9EEucGad+Xz6zAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4GBABpz
kmtM1WgYlU76B2rR4lC/2vA673UYIil1GF9imZGdiqYaJAmKb5iMANThcb5vnJGt
IWVTqtrHbjZhDi3OEx4Wp5aO0YIjiF+uSOYRBqEBOHk8q9Z29xu2UXpRYpQjcnBr
GPwmtWusAhZJzftcY3zCDFE1B1ik9gykiWywUHZJ
-----END CERTIFICATE-----
)";
constexpr const char* kWeakKey = R"(-----BEGIN PRIVATE KEY-----
MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAJ5pBPIdsxWDrZ/2
gV1EYmGYcYsKgwpSw2J7meDVPSgb2YWOVsEKw6RGaoQYwftTaYFFSG8/JQXxA7/X
zba03IuflDsOIwsbZdsnUwZJHyekgXFe9vbzNhP72P0cvuHw9RaRHo/cDgkMUmXQ
3gXNEkOjk2PCIIS5WFmPovu8nb19AgMBAAECgYEAm/J7YfeHA9kcJmxAspbN25J9
xQnWM2WC4AMaW9LRYBj6rZaRJX35WFHSLrVI0qktJowUYSBizFSXAlfrNsEak/T1
rNDXU3Tr0nEGla1ERG8/VkN4WJwZ+fprliGfxgGj0tbZoAoKlayHFL3g1ywOXVc8
4uQpVYHyTeBQUiwi0OkCQQDRpTrgABpE/G6eEKgl9JSsgLkCEoG74C9f6T7DrJpv
ojSLcsUxQrS5SbjHbMg2yVOjXnRud7vUCyxKKBEs4spfAkEAwW+sEyuQ1mooFjff
tIzBsk3JT3qB0P5WW99s6ADAK76+dZRWgztiMxjsYFtHM58PEigWGtCDNOXitFeR
gyn9owJAfrU4wk4Nkohnaw1yM46BlUkviHsbAixbNcLJdoaJyNLmoym42S8R/7L5
BT9QOxyvelwKTwH6+gvOtvtEdjaUTQJAeJa9l1XZfVHAm9lJRK1bM2T60ul0dG2a
OLwYkKmnI55N7c8D/9vNZD1tXsSIps3J/2+uGBlVMmz935+Xv0U2MQJAUOQZkjvA
+BnFDCnsn6eKuw+Yz4vidafAtvFZ66UESnDogCzGsfitudPiTOT5F1MdYIrdyAx1
SGMg0TwpMFLSdg==
-----END PRIVATE KEY-----
)";

// T7: wherever the certificate comes from.
TEST(WebhookServer, TellsWhenItsCertificateEnds) {
  kube::Metrics metrics;
  WebhookServer server("127.0.0.1:0", Echo(), metrics);
  const std::string name = kExpiry;
  EXPECT_THAT(metrics.Text(), HasSubstr("\n" + name + " 0\n")) << "there is none";
  const http::Certificate serving = MakeCa().serving;
  ASSERT_TRUE(server.SetCertificate(serving).ok());
  const std::string text = metrics.Text();
  const size_t at = text.find("\n" + name + " ");
  ASSERT_NE(at, text.npos) << text;
  const WallTime until = ValueOrAbort(http::ReadCertificate(serving.cert_pem), "facts").validity.not_after;
  const auto seconds = std::chrono::duration_cast<Seconds>(until.time_since_epoch());
  EXPECT_EQ(std::stod(text.substr(at + name.size() + 2)), static_cast<double>(seconds.count()));
}

TEST(WebhookServer, ListensOnceItHasACertificateAndChangesIt) {  // T7
  kube::Metrics metrics;
  WebhookServer server("127.0.0.1:0", Echo(), metrics);
  Running running(server);
  Ca first = MakeCa(), second = MakeCa();
  EXPECT_EQ(server.SetCertificate({first.serving.cert_pem, second.serving.key_pem}).code(), Code::kInvalidArgument);
  EXPECT_FALSE(server.Ready());
  // What OpenSSL reads but serves to nobody counted as served before the server listened.
  EXPECT_EQ(server.SetCertificate({kWeakCertificate, kWeakKey}).code(), Code::kInvalidArgument);
  EXPECT_THAT(metrics.Text(), HasSubstr("\n" + std::string(kExpiry) + " 0\n"));
  EXPECT_FALSE(server.Ready());
  ASSERT_TRUE(server.SetCertificate(first.serving).ok());
  ASSERT_TRUE(Await([&] { return server.Ready(); }));
  const std::string address = ListenedAt(running.lines.Text());
  auto answer = Ask("https://" + address, first.authority.cert_pem);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "{}");
  auto plain = Ask("http://" + address, "");
  EXPECT_FALSE(plain.ok() && plain->status == 200) << "never without TLS";
  EXPECT_EQ(server.SetCertificate({"nonsense", "nonsense"}).code(), Code::kInvalidArgument);
  EXPECT_TRUE(Ask("https://" + address, first.authority.cert_pem).ok()) << "the former one stays";
  ASSERT_TRUE(server.SetCertificate(second.serving).ok());
  EXPECT_TRUE(Ask("https://" + address, second.authority.cert_pem).ok());
  EXPECT_FALSE(Ask("https://" + address, first.authority.cert_pem).ok());
  running.Stop();
  EXPECT_TRUE(running.End().ok());
  EXPECT_FALSE(server.Ready());
  EXPECT_FALSE(Ask("https://" + address, second.authority.cert_pem).ok());
  EXPECT_THAT(metrics.Text(),
              HasSubstr("controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/echo\"} 3\n"));
}

// T7: a pod is told to stop while its Service still sends it what is asked. With failurePolicy Fail each rollout failed
// writes of Providers.
TEST(WebhookServer, ServesOnForAWhileAfterTheStop) {
  kube::Metrics metrics;
  WebhookServer server("127.0.0.1:0", Echo(), metrics);
  Running running(server);
  const Ca ca = MakeCa();
  ASSERT_TRUE(server.SetCertificate(ca.serving).ok());
  ASSERT_TRUE(Await([&] { return server.Ready(); }));
  const std::string address = ListenedAt(running.lines.Text());
  running.Stop();
  ASSERT_TRUE(Await([&] { return running.lines.Text().find("for a while longer") != std::string::npos; }));
  running.clock.AwaitWaiters(1);
  running.clock.Advance(kServesOn - Millis(1));
  auto answer = Ask("https://" + address, ca.authority.cert_pem);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_TRUE(running.End().ok());
  EXPECT_FALSE(Ask("https://" + address, ca.authority.cert_pem).ok());
}

// And at once: no time passes on this clock.
TEST(WebhookServer, EndsWithoutACertificateWhenItIsToldTo) {
  kube::Metrics metrics;
  WebhookServer server("127.0.0.1:0", Echo(), metrics);
  std::stop_source stop;
  stop.request_stop();
  FakeClock clock;
  Context ctx;
  ctx.clock = &clock;
  EXPECT_TRUE(server.Run(ctx.WithStop(stop.get_token())).ok());
}

TEST(WebhookServer, SaysThatItsAddressIsTaken) {
  kube::Metrics metrics;
  auto other = *http::Server::Start({}, [](const http::ServerRequest&) { return http::Response{}; });
  WebhookServer server(other->address(), Echo(), metrics);
  ASSERT_TRUE(server.SetCertificate(MakeCa().serving).ok());
  auto ended = server.Run(Context());
  ASSERT_FALSE(ended.ok());
  EXPECT_THAT(ended.error().message, HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace capi::ops
