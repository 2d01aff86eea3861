#include "operator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ParsedOptions Parse(std::vector<const char*> arguments, const BuildInfo& build = {}) {
  arguments.insert(arguments.begin(), "capi-operator");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data(), build);
}

TEST(ParseOptions, Defaults) {
  auto parsed = Parse({});
  ASSERT_TRUE(parsed.options) << parsed.exit.text;
  EXPECT_EQ(parsed.options->health_address, ":9440");
  EXPECT_EQ(parsed.options->diagnostics_address, ":8443");
  EXPECT_EQ(parsed.options->lease_duration, Seconds(15));
  EXPECT_FALSE(parsed.options->allow_cross_namespace_references) << "T1";
  EXPECT_TRUE(Parse({"--allow-cross-namespace-references"}).options->allow_cross_namespace_references);
  EXPECT_FALSE(parsed.options->require_service_account) << "T8";
  EXPECT_TRUE(Parse({"--require-service-account"}).options->require_service_account);
  EXPECT_FALSE(parsed.options->require_verified) << "T14";
  EXPECT_TRUE(Parse({"--require-verified"}).options->require_verified);
  EXPECT_THAT(parsed.options->environment_variables, ElementsAre("EXP_*", "CLUSTER_TOPOLOGY"));
}

TEST(ParseOptions, AllowedSources_T2) {
  EXPECT_TRUE(Parse({}).options->allowed_sources.empty());
  auto parsed = Parse({"--allowed-sources=Registry.Example.com:5000,*.example.org", "--allowed-sources=[::1]:5000"});
  ASSERT_TRUE(parsed.options) << parsed.exit.text;
  EXPECT_THAT(parsed.options->allowed_sources, ElementsAre("registry.example.com:5000", "*.example.org", "[::1]:5000"));
  parsed = Parse({"--allowed-sources=[::1]", "--allowed-sources=[fd00::1],[fd00::2]", "--allowed-sources", "a,[::2]"});
  ASSERT_TRUE(parsed.options) << parsed.exit.text;
  EXPECT_THAT(parsed.options->allowed_sources, ElementsAre("[::1]", "[fd00::1]", "[fd00::2]", "a", "[::2]"));
  EXPECT_FALSE(Parse({"--allowed-sources", "a", "b"}).options) << "a list has commas";
  for (const char* wrong : {"https://a", "a/b", "a@b", "*", "a.*", "*.*.a", "a:b", "a b", "*.127.0.0.1", "a:99999"}) {
    auto refused = Parse({"--allowed-sources", wrong});
    EXPECT_FALSE(refused.options) << wrong;
    EXPECT_THAT(refused.exit.text, HasSubstr("--allowed-sources: ")) << wrong;
  }
}

// What the peer's own Deployment asks for, and its chart but for the profiler, is so here.
TEST(ParseOptions, TakesThePeersArguments) {
  auto parsed = Parse({"--leader-elect", "--leader-elect=true", "--leader-elect-lease-duration=1m30s", "--v=2",
                       "--leader-elect-renew-deadline=20s", "--leader-elect-retry-period=4s", "--health-addr=:9441",
                       "--diagnostics-address=127.0.0.1:0", "--insecure-diagnostics=true", "--watch-configsecret",
                       "--watch-configmap", "--profiler-address=", "--contention-profiling=false", "--concurrency=2",
                       "--sync-period=10m", "--namespace=capi", "--tls-min-version=VersionTLS12", "--watch-filter="});
  ASSERT_TRUE(parsed.options) << parsed.exit.text;
  EXPECT_EQ(parsed.options->lease_duration, Seconds(90));
  EXPECT_EQ(parsed.options->renew_deadline, Seconds(20));
  EXPECT_EQ(parsed.options->retry_period, Seconds(4));
  EXPECT_EQ(parsed.options->concurrency, 2);
  EXPECT_EQ(parsed.options->sync_period, Seconds(600));
  EXPECT_EQ(parsed.options->ns, "capi");
  EXPECT_TRUE(parsed.options->insecure_diagnostics);
}

TEST(ParseOptions, RefusesWhatItCannotUse) {
  struct Case {
    std::vector<const char*> arguments;
    std::string message;
  };
  const Case cases[] = {
      {{"--nonsense"}, "--nonsense"},
      {{"--concurrency=0"}, "--concurrency"},
      {{"--concurrency=many"}, "--concurrency"},
      {{"--leader-elect-lease-duration=soon"}, "\"soon\" is no duration"},
      {{"--leader-elect-lease-duration=1ms"}, "\"1ms\" is no duration"},
      {{"--leader-elect-lease-duration=90"}, "\"90\" is no duration"},
      {{"--leader-elect-lease-duration=90x"}, "\"90x\" is no duration"},
      {{"--leader-elect-lease-duration=5s"}, "must be shorter"},
      {{"--log-format=xml"}, "xml"},
      {{"--sync-period=5s"}, "--sync-period must be at least 10s"},
      {{"--webhook-port=70000"}, "--webhook-port"},
      {{"--webhook-port=https"}, "--webhook-port"},
      {{"--webhook-cert-dir=/certs"}, "--webhook-cert-dir needs --webhook-port"},
      {{"--webhook-hosts=a"}, "--webhook-hosts needs --webhook-port"},
      {{"--webhook-port=9443", "--webhook-cert-dir=/certs", "--webhook-hosts=a"}, "it makes none"},
      {{"--webhook-port=9443", "--webhook-hosts=https://a"}, "--webhook-hosts: \"https://a\" is no host name"},
  };
  for (const auto& c : cases) {
    auto parsed = Parse(c.arguments);
    EXPECT_FALSE(parsed.options);
    EXPECT_EQ(parsed.exit.code, 2);
    EXPECT_THAT(parsed.exit.text, HasSubstr(c.message));
  }
}

// No flag is taken and ignored: two operators with a filter each would both write to one provider.
TEST(ParseOptions, RefusesThePeersFlagsThatItWouldIgnore) {
  for (const char* argument :
       {"--watch-filter=x", "--leader-elect=false", "--watch-configsecret=false", "--watch-configmap=false",
        "--manager-concurrency=10", "--profiler-address=localhost:6060", "--contention-profiling",
        "--tls-min-version=VersionTLS13", "--tls-cipher-suites=TLS_AES_128_GCM_SHA256", "--vmodule=a=1"}) {
    auto parsed = Parse({argument});
    EXPECT_FALSE(parsed.options) << argument;
    EXPECT_EQ(parsed.exit.code, 2);
    EXPECT_THAT(parsed.exit.text, HasSubstr("; remove the flag")) << argument;
    EXPECT_THAT(parsed.exit.text, HasSubstr(std::string(argument).substr(0, std::string(argument).find('='))));
  }
}

TEST(ParseOptions, Webhooks) {  // T7
  auto none = Parse({});
  EXPECT_EQ(none.options->webhook_port, 0);
  EXPECT_TRUE(Parse({"--webhook-port=0"}).options);
  auto made = Parse({"--webhook-port=9443", "--webhook-hosts=X.ns.svc,127.0.0.1", "--webhook-hosts=x.ns.svc"});
  ASSERT_TRUE(made.options) << made.exit.text;
  EXPECT_EQ(made.options->webhook_port, 9443);
  EXPECT_THAT(made.options->webhook_hosts, ElementsAre("127.0.0.1", "x.ns.svc"));
  auto files = Parse({"--webhook-port=9443", "--webhook-cert-dir=/certs"});
  ASSERT_TRUE(files.options) << files.exit.text;
  EXPECT_EQ(files.options->webhook_cert_dir, "/certs");
}

TEST(ParseOptions, Logs) {
  struct Case {
    std::vector<const char*> arguments;
    LogLevel level;
    LogFormat format;
  };
  const Case cases[] = {{{}, LogLevel::kInfo, LogFormat::kText},
                        {{"--v=3"}, LogLevel::kInfo, LogFormat::kText},
                        {{"-v", "4", "--log-format=json"}, LogLevel::kDebug, LogFormat::kJson},
                        {{"--log-format=text"}, LogLevel::kInfo, LogFormat::kText}};
  for (const Case& c : cases) {
    auto parsed = Parse(c.arguments);
    ASSERT_TRUE(parsed.options) << parsed.exit.text;
    EXPECT_EQ(parsed.options->log_level, c.level);
    EXPECT_EQ(parsed.options->log_format, c.format);
  }
}

TEST(ParseOptions, NewerVersionsAreLookedForNowAndThen_U12) {
  const struct {
    std::vector<const char*> arguments;
    std::optional<Seconds> every;  // nullopt: refused
  } cases[] = {{{}, std::chrono::hours(12)},
               {{"--check-updates=0"}, Seconds(0)},
               {{"--check-updates=0s"}, Seconds(0)},
               {{"--check-updates=1h"}, std::chrono::hours(1)},
               {{"--check-updates=9s"}, std::nullopt},
               {{"--check-updates=-1h"}, std::nullopt},
               {{"--check-updates=daily"}, std::nullopt}};
  for (const auto& c : cases) {
    auto parsed = Parse(c.arguments);
    ASSERT_EQ(parsed.options.has_value(), c.every.has_value()) << parsed.exit.text;
    if (c.every) {
      EXPECT_EQ(parsed.options->check_updates, *c.every);
    }
  }
}

TEST(ParseOptions, WhoMakesCertificates) {  // I19
  EXPECT_EQ(Parse({}).options->certificates, Certificates::kCertManager);
  EXPECT_EQ(Parse({"--certificates=auto"}).options->certificates, Certificates::kAuto);
  EXPECT_EQ(Parse({"--certificates", "cert-manager"}).options->certificates, Certificates::kCertManager);
  EXPECT_EQ(Parse({"--certificates=builtin"}).options->certificates, Certificates::kBuiltin);
  EXPECT_FALSE(Parse({"--certificates=none"}).options);
  EXPECT_FALSE(Parse({"--certificates="}).options);
}

TEST(ParseOptions, HelpAndVersionEndWell) {
  EXPECT_EQ(Parse({"--help"}).exit.code, 0);
  EXPECT_THAT(Parse({"--help"}).exit.text, HasSubstr("--environment-variables"));
}

// Nothing told which commit an operator was built of: an image was labelled with that of the checkout, whatever was in
// it.
TEST(ParseOptions, TheVersionTellsTheCommit) {
  const BuildInfo build = {"v1.2.3", "abc123", "dirty", "2026-01-02T03:04:05Z", "", ""};
  EXPECT_EQ(Parse({"--version"}, build).exit.text,
            "capi-operator v1.2.3\nGitCommit: abc123\nGitTreeState: dirty\nBuildDate: 2026-01-02T03:04:05Z\n");
  EXPECT_EQ(Parse({"--version"}, build).exit.code, 0);
  EXPECT_EQ(Parse({"--version"}, {.version = "v1.2.3"}).exit.text, "capi-operator v1.2.3\n") << "of no checkout";
}

}  // namespace
}  // namespace capi::ops
