#include "local/node/command/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace capi::local {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kHelp = R"(Usage of manager:
      --diagnostics-address string     The address the diagnostics endpoint binds to. (default ":8443")
      --health-addr string             The address the health endpoint binds to. (default ":9440")
  -h, --help                           help
      --kube-api-qps float32           Maximum queries per second (default 20)
      --leader-elect                   Enable leader election
      --profiler-address string        Bind address to expose the pprof profiler (e.g. localhost:6060)
      --webhook-cert-dir string        Webhook cert dir. (default "/tmp/k8s-webhook-server/serving-certs/")
      --webhook-port int               Webhook Server port (default 9443)
)";

// G5: which flags there are is read from the program's own help, of both of Go's libraries.
TEST(Flags, OfAHelp) {
  EXPECT_THAT(FlagsOfHelp(kHelp),
              UnorderedElementsAre(Pair("diagnostics-address", ":8443"), Pair("health-addr", ":9440"), Pair("help", ""),
                                   Pair("kube-api-qps", "20"), Pair("leader-elect", ""), Pair("profiler-address", ""),
                                   Pair("webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/"),
                                   Pair("webhook-port", "9443")));
  EXPECT_THAT(FlagsOfHelp("Usage of x:\n  -metrics-addr string\n    \tThe address (default \":8080\")\n  -v\tlog\n"),
              UnorderedElementsAre(Pair("metrics-addr", ":8080"), Pair("v", "")));
  EXPECT_THAT(FlagsOfHelp("sh: 0: Illegal option --help\n"), testing::IsEmpty());
}

TEST(Address, OfAValue) {
  struct Case {
    const char *text, *host;
    int port;
  };
  for (const Case& c : {Case{"9443", "", 9443},
                        {":9440", "", 9440},
                        {"localhost:80", "localhost", 80},
                        {"[::]:8443", "[::]", 8443},
                        {"0.0.0.0:1", "0.0.0.0", 1}}) {
    auto address = AddressOf(c.text);
    ASSERT_TRUE(address) << c.text;
    EXPECT_EQ(address->host, c.host) << c.text;
    EXPECT_EQ(address->port, c.port) << c.text;
  }
  for (const char* text : {"", ":", "x", "a:b", "http://a:80", "65536", "-1", "::1:80", "1s"}) {
    EXPECT_FALSE(AddressOf(text)) << text;
  }
}

Arguments On(std::vector<std::string> values, ArgumentOptions options = {}) {
  options.port_of = [](int port) { return port + 20000; };
  options.ns = "a-system";
  return ArgumentsOnLoopback(std::move(values), options);
}

// G5: each port that a program listens on is led to a free one of loopback; others, and zero, stay.
TEST(Arguments, LeadPortsToLoopback) {
  struct Case {
    const char *values, *expected;
  };
  for (const Case& c : {Case{"--webhook-port=9443", "--webhook-port=29443"},
                        {"--webhook-port 9443", "--webhook-port 29443"},
                        {"--health-addr=:9440", "--health-addr=127.0.0.1:29440"},
                        {"-health-probe-bind-address=[::]:8081", "-health-probe-bind-address=127.0.0.1:28081"},
                        {"--metrics-bind-addr=localhost:8080", "--metrics-bind-addr=localhost:28080"},
                        {"--metrics-bind-address=0", "--metrics-bind-address=0"},
                        {"--metrics-bind-address=:0", "--metrics-bind-address=:0"},
                        {"--vsphere-address=10.0.0.1:443", "--vsphere-address=10.0.0.1:443"},
                        {"--metrics-push-address=10.0.0.5:9091", "--metrics-push-address=10.0.0.5:9091"},
                        {"--webhook-service-address=a.b.svc:443", "--webhook-service-address=a.b.svc:443"},
                        {"--delivery-addr=localhost:8080", "--delivery-addr=localhost:8080"},  // not "live"
                        {"--insecure-registry-port=5000", "--insecure-registry-port=5000"},
                        {"--healthz-addr=127.0.0.2:8080", "--healthz-addr=127.0.0.1:28080"},
                        {"--probe-addr=*:8080", "--probe-addr=127.0.0.1:28080"},
                        {"--=:8080", "--=:8080"},
                        {"--my-port=7777", "--my-port=27777"},  // the container declares it
                        {"--other-port=7778", "--other-port=7778"},
                        {"--concurrency=10 --v=2", "--concurrency=10 --v=2"},
                        {"-v 5 serve", "-v 5 serve"}}) {
    EXPECT_EQ(Join(On(Split(c.values, ' '), {.ports = {7777}}).values, " "), c.expected);
  }
  EXPECT_THAT(On({"--webhook-port=9443", "--health-addr=:9440"}).ports,
              UnorderedElementsAre(Pair(9443, 29443), Pair(9440, 29440)));
}

// G5: a default port of the program's is one, too; a second process would meet it.
TEST(Arguments, AddFlagsWhoseDefaultIsAPort) {
  Arguments arguments = On({"--webhook-port=9444"}, {.flags = FlagsOfHelp(kHelp)});
  EXPECT_THAT(arguments.values, ElementsAre("--webhook-port=29444", "--diagnostics-address=127.0.0.1:28443",
                                            "--health-addr=127.0.0.1:29440"));
  // As if it were written out: of two whose flags say nothing of listening, that which the container declares.
  const Flags flags = {{"server-port", "8082"}, {"other-port", "8083"}};
  EXPECT_THAT(On({}, {.flags = flags, .ports = {8082}}).values, ElementsAre("--server-port=28082"));
}

// G5: an image whose entrypoint is tini.
TEST(Arguments, BehindTheDashesOfAWrapperAreItsProgramsFlags_G5) {
  EXPECT_THAT(On({"--", "/manager", "--health-addr=:9440"}).values,
              ElementsAre("--", "/manager", "--health-addr=127.0.0.1:29440"));
  EXPECT_THAT(On({"--v=1", "--", "/data/file"}).values, testing::Contains("/data/file"));
}

// G5: behind "--" are no flags, and what is added stands before it.
TEST(Arguments, BehindTheEndOfFlagsAreNone_G5) {
  Arguments arguments = On({"--v=1", "--", "--webhook-port=9443", "/etc/a"},
                           {.flags = FlagsOfHelp(kHelp), .mounts = {{"/etc/a", "/v/a"}}});
  EXPECT_THAT(arguments.values,
              ElementsAre("--v=1", "--diagnostics-address=127.0.0.1:28443", "--health-addr=127.0.0.1:29440",
                          "--webhook-port=29443", "--", "--webhook-port=9443", "/v/a"));
}

// G5: a program that looks for a volume by itself is told where it is.
TEST(Arguments, AddFlagsWhoseDefaultIsAPathOfAVolume_G5) {
  const Flags flags = {{"credentials-file", "/etc/capv/credentials.yaml"}, {"other-file", "/etc/b"}, {"at", "/host/x"}};
  const std::map<std::string, std::string> mounts = {{"/etc/capv", "/v/c"}, {"/host", "/host"}};
  Arguments arguments = On({}, {.flags = flags, .mounts = mounts});
  EXPECT_THAT(arguments.values, ElementsAre("--credentials-file=/v/c/credentials.yaml"));
  EXPECT_THAT(arguments.named, testing::Contains("/etc/capv"));
  EXPECT_THAT(On({"--credentials-file=/mine"}, {.flags = flags, .mounts = mounts}).values,
              ElementsAre("--credentials-file=/mine"));
}

// G5: kube-rbac-proxy reads no KUBECONFIG.
TEST(Arguments, NameTheKubeconfigWhereThereIsAFlagForIt_G5) {
  const Flags flags = {{"kubeconfig", ""}};
  EXPECT_THAT(On({}, {.flags = flags, .kubeconfig = "/k"}).values, ElementsAre("--kubeconfig=/k"));
  EXPECT_THAT(On({"--kubeconfig=/own"}, {.flags = flags, .kubeconfig = "/k"}).values, ElementsAre("--kubeconfig=/own"));
  EXPECT_TRUE(On({}, {.flags = flags}).values.empty()) << "the Pod has none";
  EXPECT_TRUE(On({}, {.kubeconfig = "/k"}).values.empty()) << "no such flag";
}

// G5: URLs of another container of the Pod.
TEST(Arguments, LeadUrlsToAnotherContainer_G5) {
  struct Case {
    const char *word, *expected;
  };
  for (const Case& c : {Case{"--upstream=http://127.0.0.1:8080/", "--upstream=http://127.0.0.1:41000/"},
                        {"--upstream=http://localhost:8080", "--upstream=http://localhost:41000"},
                        {"http://a:8080,http://127.0.0.1:8080,http://[::]:8080/",
                         "http://a:8080,http://127.0.0.1:41000,http://127.0.0.1:41000/"},
                        {"https://[::1]:8080/m?x=:8080", "https://127.0.0.1:41000/m?x=:8080"},
                        {"--upstream=http://127.0.0.1:80800/", "--upstream=http://127.0.0.1:80800/"},
                        {"--upstream=http://127.0.0.1:9090/", "--upstream=http://127.0.0.1:9090/"},
                        {"--upstream=http://example.com:8080/", "--upstream=http://example.com:8080/"}}) {
    EXPECT_THAT(On({c.word}, {.others = {{8080, 41000}}}).values, ElementsAre(c.expected));
  }
}

// G5: who is asked by IPv4, by probes, Services and other containers, listens there.
TEST(Arguments, ListenOnLoopbackByIpv4_G5) {
  for (const char* value : {"[::1]:8080", "[::]:8080", ":8080", "0.0.0.0:8080"}) {
    EXPECT_THAT(On({std::string("--metrics-addr=") + value}, {}).values,
                ElementsAre(testing::StartsWith("--metrics-addr=127.0.0.1:")))
        << value;
  }
}

// G5: paths of volumes.
TEST(Arguments, LeadPathsToVolumes) {
  std::map<std::string, std::string> mounts = {{"/etc/a", "/v/a"}, {"/etc/a/deep", "/v/deep"}, {"/unused", "/v/u"}};
  Arguments arguments =
      On({"--config=/etc/a/x.yaml", "/etc/a", "--file", "/etc/a/deep/f", "--no=/etc/ab"}, {.mounts = mounts});
  EXPECT_THAT(arguments.values, ElementsAre("--config=/v/a/x.yaml", "/v/a", "--file", "/v/deep/f", "--no=/etc/ab"));
  EXPECT_THAT(arguments.named, UnorderedElementsAre("/etc/a", "/etc/a/deep"));
}

TEST(Arguments, NameTheFolderOfCertificates) {
  std::map<std::string, std::string> mounts = {{"/tmp/k8s-webhook-server/serving-certs", "/v/cert"}};
  Arguments added =
      On({}, {.flags = {{"webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs"}}, .mounts = mounts});
  EXPECT_THAT(added.values, ElementsAre("--webhook-cert-dir=/v/cert"));
  EXPECT_EQ(added.named.size(), 1u);
  Arguments unknown = On({}, {.mounts = mounts});
  EXPECT_TRUE(unknown.values.empty());
  EXPECT_TRUE(unknown.named.empty()) << "nobody reads it there";
}

// G5: outside of a cluster a manager finds no namespace for its election.
TEST(Arguments, HoldAnElectionOnlyWhereItHasANamespace) {
  Arguments has = On({"--leader-elect"}, {.flags = {{"leader-elect-namespace", ""}}});
  EXPECT_THAT(has.values, ElementsAre("--leader-elect", "--leader-elect-namespace=a-system"));
  EXPECT_FALSE(has.alone);
  Arguments says = On({"--leader-elect", "--leader-election-namespace=b"});
  EXPECT_THAT(says.values, ElementsAre("--leader-elect", "--leader-election-namespace=b"));
  for (const char* value : {"--leader-elect", "--leader-elect=true"}) {
    Arguments none = On({value, "--v=1"});
    EXPECT_THAT(none.values, ElementsAre("--leader-elect=false", "--v=1"));
    EXPECT_TRUE(none.alone);
  }
  // One that is held without being asked for.
  const Flags on = {{"leader-elect", "true"}};
  Arguments unasked = On({"--v=1"}, {.flags = on});
  EXPECT_THAT(unasked.values, ElementsAre("--v=1", "--leader-elect=false"));
  EXPECT_TRUE(unasked.alone);
  EXPECT_THAT(On({"--", "x"}, {.flags = {{"leader-elect", "true"}, {"enable-leader-election", "true"}}}).values,
              ElementsAre("--leader-elect=false", "--enable-leader-election=false", "--", "x"));
  EXPECT_THAT(On({}, {.flags = {{"leader-elect", "true"}, {"leader-elect-namespace", ""}}}).values,
              ElementsAre("--leader-elect-namespace=a-system"));
  EXPECT_FALSE(On({"--leader-elect=false"}, {.flags = on}).alone);
  Arguments off = On({"--leader-elect=false"});
  EXPECT_THAT(off.values, ElementsAre("--leader-elect=false"));
  EXPECT_FALSE(off.alone);
}

}  // namespace
}  // namespace capi::local
