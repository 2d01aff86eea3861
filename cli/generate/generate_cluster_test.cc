#include "cli/generate/generate_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "cli/frame/table.h"
#include "cli/testing.h"
#include "fetch/github_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kTemplate = R"(apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}"}
spec: {topology: {classRef: {name: "${CLASS:=quick}"}, version: "${KUBERNETES_VERSION}"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: elsewhere}
data: {one: "${ONE}", machines: "${CONTROL_PLANE_MACHINE_COUNT}+${WORKER_MACHINE_COUNT}"}
)";
constexpr std::string_view kClass =
    "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: quick}\nspec: {size: "
    "\"${SIZE:=big}\"}\n";

class LocalTemplates : public testing::Test {
 protected:
  LocalTemplates() {
    Put("cluster-template.yaml", kTemplate);
    Put("cluster-template-small.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: small}\n");
    Put("clusterclass-quick.yaml", kClass);
    config_ = folder_.Put("c.yaml", "providers:\n- name: p\n  type: InfrastructureProvider\n  url: " + folder_.path() +
                                        "/r/infrastructure-p/latest/infrastructure-components.yaml\n");
  }
  void Put(const std::string& file, std::string_view text) { folder_.Put("r/infrastructure-p/v1.0.0/" + file, text); }

  Outcome Generate(std::vector<std::string> arguments, Variables environment = {{"ONE", "1"}}, std::string input = "") {
    environment.emplace("HOME", folder_ / "home");
    std::vector<std::string> all = {"generate", "cluster", "--config", config_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return Clusterctl(all, environment, std::move(input));
  }
  // From the release, with what it needs.
  Outcome FromRelease(std::vector<std::string> more = {}, Variables environment = {{"ONE", "1"}}) {
    std::vector<std::string> all = {"c1", "-n", "ns", "-i", "p:v1.0.0", "--kubernetes-version", "v1.34.0"};
    all.insert(all.end(), more.begin(), more.end());
    return Generate(all, std::move(environment));
  }

  TestFolder folder_;
  std::string config_;
};

// L5.
TEST_F(LocalTemplates, TheClassComesBeforeTheClusterAndAllIsInOneNamespace) {
  Outcome outcome = FromRelease({"--worker-machine-count=3"});
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, R"(apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: quick
  namespace: ns
spec:
  size: big
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata:
  name: c1
  namespace: ns
spec:
  topology:
    classRef:
      name: quick
    version: v1.34.0
---
apiVersion: v1
data:
  machines: 1+3
  one: "1"
kind: ConfigMap
metadata:
  name: a
  namespace: ns
)");
}

// Clusters of v1beta1 name their class in another field; two of one class bring it once.
TEST_F(LocalTemplates, ClassesAreFoundAtBothVersionsAndOnce) {
  Put("cluster-template-two.yaml",
      "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: a}\nspec: {topology: {class: "
      "quick}}\n---\n"
      "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: b}\nspec: {topology: {class: "
      "quick}}\n---\n"
      "apiVersion: example.com/v1\nkind: Cluster\nmetadata: {name: c}\nspec: {topology: {class: other}}\n");
  Outcome outcome = FromRelease({"--flavor", "two"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("kind: ClusterClass"), outcome.out.rfind("kind: ClusterClass"));
  EXPECT_THAT(outcome.out, HasSubstr("kind: ClusterClass"));
  Put("cluster-template-two.yaml",
      "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: a}\nspec: {topology: {class: quick, "
      "classNamespace: elsewhere}}\n");
  EXPECT_THAT(FromRelease({"--flavor", "two"}).err,
              StartsWith("Error: ClusterClass elsewhere/quick isn't in the cluster, and "));
}

TEST_F(LocalTemplates, AFileOrInputBringsNoClass) {
  std::string path = folder_.Put("t.yaml", kTemplate);
  for (const std::string& from : {path, "file://" + path, std::string("-")}) {
    Outcome outcome = Generate({"c1", "-n", "ns", "--from", from, "--kubernetes-version", "v1.34.0"}, {{"ONE", "1"}},
                               std::string(kTemplate));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("name: c1"), Not(HasSubstr("kind: ClusterClass"))));
  }
}

// The class's own default isn't the template's: of a variable that both have, the template's counts.
TEST_F(LocalTemplates, VariablesAreListedWithTheirDefaults) {
  Put("clusterclass-quick.yaml", std::string(kClass) + "# ${CLASS:=another} ${EMPTY:-}\n");
  Outcome outcome = Generate({"c1", "-n", "ns", "-i", "p:v1.0.0", "--list-variables"}, {});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out,
            "Required Variables:\n  - EMPTY\n  - KUBERNETES_VERSION\n  - ONE\n\n"
            "Optional Variables:\n"
            "  - CLASS                        (defaults to \"quick\")\n"
            "  - CLUSTER_NAME                 (defaults to c1)\n"
            "  - CONTROL_PLANE_MACHINE_COUNT  (defaults to 1)\n"
            "  - SIZE                         (defaults to \"big\")\n"
            "  - WORKER_MACHINE_COUNT         (defaults to 0)\n\n");
}

// The class that a variable names which is yet to be set isn't known.
TEST_F(LocalTemplates, VariablesAreListedWhereTheClassIsNotKnown) {
  Put("cluster-template-any.yaml",
      "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a}\nspec: {topology: {classRef: {name: "
      "\"${CLASS}\"}}}\n");
  std::vector<std::string> list = {"c1", "-n", "ns", "-i", "p:v1.0.0", "-f", "any", "--list-variables"};
  EXPECT_EQ(Generate(list, {}).out, "Required Variables:\n  - CLASS\n\n");
  EXPECT_THAT(Generate(list, {{"CLASS", "quick"}}).out, HasSubstr("  - SIZE  (defaults to \"big\")\n"));
}

TEST_F(LocalTemplates, AFileIsWrittenWholeAndForItsOwnerAlone) {
  std::string path = folder_ / "out.yaml";
  Outcome outcome = FromRelease({"--flavor", "small", "--write-to", path});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(ReadFile(path).value(), "apiVersion: v1\nkind: Secret\nmetadata:\n  name: small\n  namespace: ns\n");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  EXPECT_THAT(FromRelease({"--flavor", "small", "--write-to", "-"}).out, HasSubstr("kind: Secret"));
  Outcome full = FromRelease({"--flavor", "small", "--write-to", "/dev/full"});
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("failed to write to destination file: /dev/full: No space left on device"));
}

TEST_F(LocalTemplates, WhatIsRefused) {
  std::string text = folder_.Put("broken.yaml", "a: ${A\n"), none = folder_.Put("none.yaml", "# nothing\n");
  std::vector<std::string> base = {"c1", "-n", "ns"};
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "Error: please specify a cluster name\n"},
      {{"a", "b"}, "Error: please specify a cluster name\n"},
      {{"c1", "--from", text}, "Error: management cluster not available. Cannot auto-discover target namespace. "},
      {{"c1", "-n", "ns"},
       "Error: management cluster not available. Cannot auto-discover default infrastructure provider. "},
      {{"c1", "-n", "ns", "-i", "p"},
       "Error: management cluster not available. Cannot auto-discover version for the provider \"p\" automatically. "},
      {{"c1", "-n", "ns", "-i", "p:x"}, "Error: invalid version \"x\""},
      {{"c1", "-n", "ns", "-i", "p:v1.0.0", "-f", "none"},
       "Error: failed to read \"cluster-template-none.yaml\" from provider's repository \"infrastructure-p\": "},
      {{"c1", "-n", "ns", "-i", "p:v9.0.0"}, "Error: failed to read \"cluster-template.yaml\""},
      {{"c1", "-n", "ns", "-i", "q:v1.0.0"},
       "Error: failed to get configuration for the InfrastructureProvider with name q. "},
      {{"c1", "-n", "ns", "--from", text}, "Error: " + text},
      {{"c1", "-n", "ns", "--from", none}, "Error: " + none},
      {{"c1", "-n", "ns", "--from", "ftp://x/y"}, "Error: invalid GetFromURL operation: unable to read content from "},
      {{"c1", "-n", "ns", "--from", folder_.path()}, "Error: invalid GetFromURL operation: failed to read file "},
      {{"c1", "-n", "ns", "-f", "x", "--from", text},
       "Error: invalid cluster template source: only one template can be used at time\n"},
      {{"c1", "-n", "ns", "--from-config-map", "x", "-i", "p"},
       "Error: invalid cluster template source: only one template can be used at time\n"},
      {{"c1", "-n", "ns", "-i", "p:v1.0.0"}, "Error: value for variables [KUBERNETES_VERSION, ONE] is not set. "},
      {{"c1", "--control-plane-machine-count", "x"},
       "Error: invalid argument \"x\" for flag --control-plane-machine-count"},
  };
  for (const auto& [arguments, want] : cases) {
    Outcome outcome = Generate(arguments, {});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, StartsWith(want)) << testing::PrintToString(arguments);
  }
  EXPECT_EQ(Generate({"c1", "-n", "ns", "--from", text}, {{"WORKER_MACHINE_COUNT", "x"}}).err,
            "Error: invalid value for WORKER_MACHINE_COUNT set\n");
}

TEST_F(LocalTemplates, BehindTwoDashesAllAreArguments) {
  Outcome outcome =
      Generate({"-n", "ns", "--from", "-", "--", "c1"}, {}, "{apiVersion: v1, kind: Secret, metadata: {name: a}}");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(Generate({"-n", "ns", "--", "c1", "--from"}, {}).err, StartsWith("Error: please specify a cluster name"));
}

TEST_F(LocalTemplates, InputThatIsTooLargeIsRefused) {
  Outcome outcome = Generate({"c1", "-n", "ns", "--from", "-"}, {}, std::string(8u << 20, ' '));
  EXPECT_THAT(outcome.err, AllOf(StartsWith("Error: invalid GetFromURL operation: standard input has more than "),
                                 HasSubstr(" bytes\n")));
}

// An own template beside the release's takes precedence, as all its files do.
TEST_F(LocalTemplates, OverridesTakePrecedence) {
  folder_.Put("home/.config/cluster-api/overrides/infrastructure-p/v1.0.0/cluster-template-small.yaml",
              "apiVersion: v1\nkind: Secret\nmetadata: {name: mine}\n");
  EXPECT_THAT(FromRelease({"--flavor", "small"}).out, HasSubstr("name: mine"));
}

// A template is an asset of the release as the components are, and its digest is checked (T6).
TEST(GitHubTemplates, AreReadWithTheirDigest) {
  std::map<std::string, std::string> assets = {
      {"metadata.yaml", "x"},
      {"c.yaml", "x"},
      {"cluster-template.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: t}\n"}};
  for (bool right : {true, false}) {
    fetch::GitHubRelease release = {"v1.0.0", assets};
    if (!right) {
      release.digest = "sha256:" + std::string(64, '0');
      release.digest_of = "cluster-template.yaml";
    }
    fetch::GitHubStandIn github({release});
    TestFolder folder;
    std::string config = folder.Put("c.yaml",
                                    "providers:\n- name: p\n  type: InfrastructureProvider\n  url: "
                                    "https://github.com/o/r/releases/latest/c.yaml\n");
    Outcome outcome = Clusterctl({"generate", "cluster", "c1", "-n", "ns", "-i", "p:v1.0.0", "--config", config},
                                 {{"HOME", folder.path()},
                                  {"SSL_CERT_FILE", github.options().ca_file},
                                  {"CLUSTERCTL_GITHUB_URL", github.options().download_url},
                                  {"CLUSTERCTL_GITHUB_API_URL", github.options().api_url}});
    if (right) {
      EXPECT_EQ(outcome.out, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: t\n  namespace: ns\n") << outcome.err;
    } else {
      EXPECT_THAT(outcome.err, HasSubstr("what came does not have the digest that GitHub names"));
    }
  }
}

TEST(Table, ColumnsAreAsWideAsTheirLongestCell) {
  EXPECT_EQ(FormatTable({{"A", "B"}, {"long", "x"}}, 2), "A     B\nlong  x\n");
  EXPECT_EQ(FormatTable({{"A", "B"}}, 3, 10), "A         B\n");
  EXPECT_EQ(FormatTable({{"é", "B"}, {"ab"}}, 1), "é  B\nab\n");
  EXPECT_EQ(FormatTable({}, 1), "");
}

}  // namespace
}  // namespace capi::cli
