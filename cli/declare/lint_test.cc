#include "cli/declare/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "cli/declare/findings.h"
#include "cli/declare/manifest_files.h"
#include "cli/testing.h"
#include "fetch/git/git_testing.h"
#include "fetch/gitlab_testing.h"
#include "fetch/oci/oci_testing.h"

namespace capi::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 0, contract: v1beta1}\n- {major: 2, minor: 0, contract: v1beta2}\n";
constexpr std::string_view kComponents = R"(apiVersion: v1
kind: Namespace
metadata: {name: x-system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cax-controller-manager, namespace: x-system}
spec:
  template:
    spec:
      containers:
      - name: manager
        image: example.com/x:v1
        args: ["--level=${LEVEL:=1}"]
        env: [{name: KEY, value: "${KEY}"}]
)";

// Releases v1.0.0 and v2.0.0 of the core, without variables, and of the infrastructure provider x, which needs KEY.
class LintTest : public testing::Test {
 protected:
  LintTest() {
    std::string core(kComponents);
    core.resize(core.find("        env:"));
    for (std::string version : {"v1.0.0", "v2.0.0"}) {
      folder_.Put("releases/cluster-api/" + version + "/core-components.yaml", core);
      folder_.Put("releases/cluster-api/" + version + "/metadata.yaml", kMetadata);
      folder_.Put("releases/infrastructure-x/" + version + "/infrastructure-components.yaml", kComponents);
      folder_.Put("releases/infrastructure-x/" + version + "/metadata.yaml", kMetadata);
    }
    config_ = folder_.Put("clusterctl.yaml", "providers:\n- {name: cluster-api, type: CoreProvider, url: " +
                                                 folder_ / "releases/cluster-api/latest/core-components.yaml" +
                                                 "}\n- {name: x, type: InfrastructureProvider, url: " +
                                                 folder_ /
                                                     "releases/infrastructure-x/latest/"
                                                     "infrastructure-components.yaml" +
                                                 "}\n");
  }

  Outcome Run(std::vector<std::string> arguments, std::string input = "") {
    arguments.insert(arguments.begin(), {"lint", "--config", config_});
    return Clusterctl(std::move(arguments), {{"HOME", "/nowhere"}}, std::move(input));
  }
  // Of a server that isn't there.
  std::string Kubeconfig() {
    return folder_.Put("kubeconfig",
                       "apiVersion: v1\nkind: Config\ncurrent-context: a\n"
                       "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                       "contexts: [{name: a, context: {cluster: a, user: a, namespace: x}}]\n"
                       "users: [{name: a, user: {}}]\n");
  }
  // What is found in one text, without the name of the file.
  Outcome Text(std::string text, std::vector<std::string> flags = {}) {
    flags.push_back("-");
    return Run(std::move(flags), std::move(text));
  }

  TestFolder folder_;
  std::string config_;
};

std::string Core(std::string_view spec) {
  return "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\n"
         "metadata: {name: cluster-api, namespace: capi-system}\nspec: " +
         std::string(spec) + "\n";
}
std::string X(std::string_view spec) {
  return "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
         "metadata: {name: x, namespace: x-system}\nspec:\n" +
         std::string(spec);
}
// One that nobody else knows, with the rest of its fetchConfig.
std::string Own(const std::string& version, const std::string& source) {
  return "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\n"
         "metadata: {name: own, namespace: own-system}\nspec:\n  version: " +
         version + "\n  fetchConfig: {" + source + "}\n";
}
constexpr std::string_view kSecret =
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: x-system}\nstringData: {KEY: sesame}\n";

constexpr std::string_view kReleaseMap =
    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: v1.0.0, namespace: x-system, labels: {a: b}}\n"
    "data:\n  metadata: |\n    apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\n    kind: Metadata\n"
    "    releaseSeries: [{major: 1, minor: 0, contract: v1beta1}]\n  components: |\n"
    "    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a, namespace: x-system}\n"
    "    data: {a: \"${MISSING}\"}\n";

// L19.
TEST_F(LintTest, WhatIsRightHasNothingToSay) {
  Outcome outcome = Text(Core("{version: v2.0.0}") + "---\n" + X("  version: v1.0.0\n  configSecret: {name: s}\n") +
                         "---\n" + std::string(kSecret));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(LintTest, EachMistakeHasItsPlaceAndItsRule) {
  const std::pair<std::string, std::string> cases[] = {
      {X("  version: v1.0.0\n  configSecret: {name: s}\n  colour: red\n"),
       "-:7:3: error: InfrastructureProvider x-system/x: unknown field \"spec.colour\" [unknown-field]\n"},
      {X("  version: 1.0\n"),
       "-:5:3: error: InfrastructureProvider x-system/x: spec.version: Invalid value: \"integer\": spec.version in "
       "body "
       "must be of type string: \"integer\" [schema]\n"},
      {X("  version: one\n"),
       "-:5:3: error: InfrastructureProvider x-system/x: spec.version: Invalid value: \"one\": "},
      {X("  version: v3.0.0\n"), "(versions there: v2.0.0, v1.0.0) [version-not-found]\n"},
      {X("  version: v1.0.0\n"),
       "-:4:1: error: InfrastructureProvider x-system/x: x v1.0.0 needs [KEY]: put it into a Secret and name it in "
       "spec.configSecret [missing-variable]\n"},
      {X("  version: v1.0.0\n  configSecret: {name: s}\n") +
           "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: x-system}\ndata: {OTHER: eA==}\n",
       "-:6:3: error: InfrastructureProvider x-system/x: x v1.0.0 needs [KEY], which Secret x-system/s hasn't "
       "[missing-variable]\n"},
      {Core("{version: v1.0.0}") + "---\n" + X("  version: v2.0.0\n  configSecret: {name: s}\n") + "---\n" +
           std::string(kSecret),
       "-:10:3: error: InfrastructureProvider x-system/x: x v2.0.0 has contract v1beta2, and the core provider v1.0.0 "
       "of -:1 takes v1beta1 [contract]\n"},
      {Core("{version: v1.0.0}") + "---\n" + Core("{version: v1.0.0}"),
       "-:8:12: error: CoreProvider capi-system/cluster-api: CoreProvider/cluster-api is declared in -:1 already, and "
       "there can be one of them in a cluster [duplicate-provider]\n"},
      {Core("{version: v1.0.0, version: v1.0.0}"),
       "-:4:25: error: CoreProvider capi-system/cluster-api: key "
       "\"version\" is already on line 4 [yaml]\n"},
      {"apiVersion: operator.cluster.x-k8s.io/v1\nkind: CoreProvider\nmetadata: {name: cluster-api}\n",
       "-:1:1: error: CoreProvider cluster-api: there is no CoreProvider of operator.cluster.x-k8s.io/v1; write "
       "operator.cluster.x-k8s.io/v1alpha2 [api-version]\n"},
      {"apiVersion: operator.cluster.x-k8s.io/v1alpha1\nkind: IPAMProvider\nmetadata: {name: a}\n", "[api-version]\n"},
      {"a: [\n", "-:2:1: error: line 2, column 1: "},
      {Core("{version: v1.0.0, fetchConfig: {oci: example.com}}"),
       "-:4:39: error: CoreProvider capi-system/cluster-api: spec.fetchConfig.oci: Invalid value: \"example.com\": it "
       "names "
       "no repository"},
      {Core("{version: v1.0.0, fetchConfig: {git: {url: 'git://example.com/x'}}}"),
       "spec.fetchConfig.git.url: Invalid value"},
      {Core("{version: v1.0.0, fetchConfig: {url: '" + (folder_ / "releases/cluster-api/latest/core-components.yaml") +
            "'}}"),
       "only releases on GitHub and GitLab, and in folders on servers, are supported"},
      {Core("{version: v1.0.0, fetchConfig: {url: 'file:///r/cluster-api/latest/core-components.yaml'}}"),
       "only releases on GitHub and GitLab, and in folders on servers, are supported"},
      {X("  version: v1.0.0\n  fetchConfig: {digest: 'sha256:" + std::string(64, '0') +
         "', selector: {matchLabels: {a: b}}}\n") +
           std::string(kReleaseMap),
       "-:6:17: error: InfrastructureProvider x-system/x: spec.fetchConfig.digest: ConfigMap x-system/v1.0.0 has "
       "sha256:"},
      {"apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvidr\nmetadata: {name: cluster-api}\n",
       "-:2:1: error: CoreProvidr cluster-api: operator.cluster.x-k8s.io has no kind \"CoreProvidr\"; it has "
       "CoreProvider, "},
      {"apiVersion: operator.cluster.x-k8s.io/v1alpha2\nKind: CoreProvider\nmetadata: {name: cluster-api}\n",
       "error: cluster-api: operator.cluster.x-k8s.io has no kind \"\"; it has CoreProvider, "},
      {"apiVersion: operators.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata: {name: cluster-api}\n",
       "-:1:1: error: CoreProvider cluster-api: the apiVersion of a CoreProvider is "
       "operator.cluster.x-k8s.io/v1alpha2, and not "
       "\"operators.cluster.x-k8s.io/v1alpha2\" [unknown-kind]\n"},
  };
  for (const auto& [text, found] : cases) {
    SCOPED_TRACE(text);
    Outcome outcome = Text(text);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.out, HasSubstr(found));
    EXPECT_THAT(outcome.err, HasSubstr("Error: 1 error and "));
  }
}

TEST_F(LintTest, WhatIsOnlyUnwise) {
  const std::pair<std::string, std::string> cases[] = {
      {Core("{}"),
       "-:4:1: warning: CoreProvider capi-system/cluster-api: spec.version isn't set: the operator chooses "
       "one and writes it into the object [unpinned-version]\n"},
      {Core("{version: 1.0.0}"), "[unwise]\n"},
      {Core("{version: v1.0.0, deployment: {replicas: 0}}"), "[unwise]\n"},
      {Core("{version: v1.0.0, patches: [{patch: '{\"a\": 1}', target: {kind: Nothing}}]}"), "[no-effect]\n"},
      {Core("{version: v1.0.0, configSecret: {name: s, namespace: other}}"),
       "-:4:49: warning: CoreProvider capi-system/cluster-api: spec.configSecret.namespace: other: who applies it"},
  };
  for (const auto& [text, found] : cases) {
    SCOPED_TRACE(text);
    Outcome outcome = Text(text);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(found), HasSubstr("-:4:"), HasSubstr(": warning: ")));
    EXPECT_EQ(outcome.err, "");
    Outcome strict = Text(text, {"--strict"});
    EXPECT_EQ(strict.code, 1);
    EXPECT_THAT(strict.out, HasSubstr(": error: "));
  }
}

TEST_F(LintTest, ASecretElsewhereIsANoteEvenWithStrict) {
  Outcome outcome = Text(X("  version: v1.0.0\n  configSecret: {name: s}\n"), {"--strict"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out,
            "-:6:3: note: InfrastructureProvider x-system/x: x v1.0.0 needs [KEY] in Secret x-system/s, which isn't in "
            "these files [secret-elsewhere]\n");
}

TEST_F(LintTest, KeysOfSecretsThatOthersMake) {
  const std::string x = X("  version: v1.0.0\n  configSecret: {name: s}\n") + "---\n";
  const std::string secrets[] = {
      "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s, namespace: x-system}\nspec: "
      "{encryptedData: {KEY: A}}\n",
      "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e, namespace: x-system}\nspec: "
      "{target: {name: s}, data: [{secretKey: KEY}]}\n",
      "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: x-system\n"
      "secretGenerator: [{name: s, literals: [KEY=a]}]\n",
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n  data: {KEY: "
      "eA==}\n",
  };
  for (const std::string& secret : secrets) EXPECT_EQ(Text(x + secret).out, "") << secret;
}

TEST_F(LintTest, TheOldVersionHasPlacesOfItsOwn) {
  Outcome outcome = Text(
      "apiVersion: operator.cluster.x-k8s.io/v1alpha1\nkind: InfrastructureProvider\nmetadata: {name: x}\nspec:\n"
      "  version: v1.0.0\n  secretName: s\n  secretNamespace: S\n  manager: {syncPeriod: 660}\n");
  EXPECT_THAT(outcome.out, HasSubstr("-:7:3: error: InfrastructureProvider x: spec.configSecret.namespace: "));
  EXPECT_EQ(outcome.code, 1);
}

TEST_F(LintTest, AReleaseInConfigMapsOfTheFiles) {
  std::string x = X("  version: v1.0.0\n  fetchConfig: {selector: {matchLabels: {a: b}}}\n");
  EXPECT_THAT(Text(x + std::string(kReleaseMap)).out, HasSubstr("x v1.0.0 needs [MISSING]"));
  // Those of the cluster nobody can see from here.
  Outcome outcome = Text(x);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("note: "));
}

// L19, I3: as the operator chooses it for the core of the same files, wherever that stands in them.
TEST_F(LintTest, WithoutAVersionTheReleaseIsTheOneThatFitsTheCore) {
  const std::string series = "{major: 1, minor: 0, contract: v1beta1}", first(kReleaseMap);
  std::string maps = first + ReplaceAll(ReplaceAll(first, "v1.0.0", "v2.0.0"), series,
                                        series + ", {major: 2, minor: 0, contract: v1beta2}");
  maps += ReplaceAll(ReplaceAll(first, "v1.0.0", "v3.0.0"), "  metadata: |", "  other: |");
  const std::string selects = X("  fetchConfig: {selector: {matchLabels: {a: b}}}\n") + maps;
  for (const std::string version : {"v1.0.0", "v2.0.0"}) {
    const std::string core = "---\n" + Core("{version: " + version + "}");
    EXPECT_THAT(Text(selects + core).out, AllOf(HasSubstr("x " + version + " needs [MISSING]"),
                                                Not(HasSubstr("[contract]")), Not(HasSubstr("[release]"))));
    EXPECT_THAT(Text(X("  {}\n") + core).out,
                AllOf(HasSubstr("x " + version + " needs [KEY]"), Not(HasSubstr("[contract]"))));
  }
}

TEST_F(LintTest, OfflineLeavesOutWhatIsElsewhere) {
  std::string text =
      "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: InfrastructureProvider\nmetadata: {name: aws, namespace: "
      "a}\nspec: {version: v2.11.1}\n";
  Outcome outcome = Text(text, {"--offline", "--strict"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("note: "), HasSubstr("isn't on this machine (--offline) [not-checked]")));
}

// L19: of a provider that isn't built in, too.
TEST_F(LintTest, AReleaseInARegistryIsLookedAt) {
  fetch::OciStandIn registry(
      {{"v1.10.0",
        fetch::PlainArtifact("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: own-system}\n")}});
  const std::string oci = "oci: '" + registry.reference() + "'";
  const std::string digest = ", digest: 'sha256:" + std::string(64, '0') + "'";
  struct Case {
    std::string text;
    std::vector<std::string> flags;
    int code;
    std::string found;
  };
  const Case cases[] = {
      {Own("v1.10.0", oci), {}, 0, ""},
      {Own("v1.10.0", oci), {"--offline", "--strict"}, 0, "isn't on this machine (--offline) [not-checked]\n"},
      {Own("v9.9.9", oci), {}, 1, "(versions there: v1.10.0) [version-not-found]\n"},
      {Own("v1.10.0", oci + digest), {}, 1, "spec.fetchConfig.digest: "},
      {Own("v1.10.0", oci + digest), {}, 1, " [release]\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text + Join(c.flags, " "));
    Outcome outcome = Text(c.text, c.flags);
    EXPECT_EQ(outcome.code, c.code) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(c.found));
    if (c.found.empty()) EXPECT_EQ(outcome.out, "");
  }
}

// L19: of GitLab a project without a list may be a private one.
TEST_F(LintTest, APrivateProjectIsNoMissingVersion) {
  const std::string components = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: own-system}\n";
  fetch::GitLabStandIn gitlab(
      {{.version = "v1.0.0",
        .files = {{"metadata.yaml", std::string(kMetadata)}, {"core-components.yaml", components}}}});
  const fetch::TrustedCa trusted(gitlab.ca_file());
  const std::string url = "url: '" + gitlab.url() + "'";
  EXPECT_EQ(Text(Own("v1.0.0", url)).out, "");
  // Of what `gitlab` has seen, all that came more than once.
  auto twice = [&](size_t from) {
    std::map<std::string, int> times;
    const auto seen = gitlab.seen();
    for (size_t i = from; i < seen.size(); ++i) ++times[seen[i].target];
    std::erase_if(times, [](const auto& one) { return one.second == 1; });
    return times;
  };
  size_t before = gitlab.seen().size();
  Outcome absent = Text(Own("v9.9.9", url));
  EXPECT_THAT(twice(before), testing::IsEmpty());
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.out, HasSubstr("(versions there: v1.0.0) [version-not-found]\n"));
  gitlab.MakePrivate("glpat-secret");
  for (const char* version : {"v1.0.0", "v9.9.9", "''"}) {
    before = gitlab.seen().size();
    Outcome hidden = Text(Own(version, url));
    EXPECT_EQ(hidden.code, 0) << version;
    if (std::string(version) != "''") {
      EXPECT_THAT(twice(before), testing::IsEmpty()) << version;
    }
    EXPECT_THAT(hidden.out, AllOf(HasSubstr(": warning: "), HasSubstr("(a private project needs a token: "),
                                  HasSubstr(" [not-checked]\n"), Not(HasSubstr("version-not-found"))));
  }
}

// L19: nor is what a server hides from who has no credentials, or comes from elsewhere.
TEST_F(LintTest, AHiddenSourceIsNoMissingVersion) {
  const std::map<std::string, std::string> release = {
      {"metadata.yaml", std::string(kMetadata)},
      {"components.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: own-system}\n"}};
  fetch::GitStandIn server;
  server.Release("v1.0.0", release);
  const std::string git = "git: {url: '" + server.url() + "'}";
  Outcome absent = Text(Own("v9.9.9", git));
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.out, HasSubstr("(versions there: v1.0.0) [version-not-found]\n"));
  const std::string hidden = "git: {url: '" + server.url().substr(0, server.url().rfind('/')) + "/hidden.git'}";

  // Of one with a Secret it is nobody's mistake: over ssh nothing else will do, and elsewhere it may not.
  const std::string over_ssh = "git: {url: 'ssh://git@git.example.com/a/b.git', secretRef: {name: keys}}";
  const std::string with_secret = hidden.substr(0, hidden.size() - 1) + ", secretRef: {name: keys}}";
  for (const std::string& source : {over_ssh, with_secret}) {
    SCOPED_TRACE(source);
    Outcome outcome = Text(Own("v1.0.0", source), {"--strict"});
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(": note: "), HasSubstr("Secret own-system/keys isn't read here"),
                                   HasSubstr(" [not-checked]\n"), Not(HasSubstr("needs the key"))));
  }

  fetch::LoopbackCertificate certificate;
  http::ServerOptions options;
  options.cert_pem = certificate.cert_pem;
  options.key_pem = certificate.key_pem;
  auto forbids = http::Server::Start(std::move(options), [](const http::ServerRequest&) {
    return http::Response{.status = 403, .headers = {}, .body = ""};
  });
  ASSERT_TRUE(forbids.ok());
  const fetch::TrustedCa trusted(certificate.ca_file());
  const std::string folder = "url: 'https://" + (*forbids)->address() + "/own/latest/infrastructure-components.yaml'";
  for (const std::string& source : {hidden, folder}) {
    for (const char* version : {"v1.0.0", "''"}) {
      Outcome outcome = Text(Own(version, source));
      EXPECT_EQ(outcome.code, 0) << source << version << outcome.out;
      EXPECT_THAT(outcome.out, AllOf(HasSubstr(": warning: "), HasSubstr(" [not-checked]\n"))) << source;
    }
  }
}

TEST_F(LintTest, AFolderIsReadWithAllBelowIt) {
  folder_.Put("git/a/core.yaml", Core("{version: v1.0.0}"));
  folder_.Put("git/b/core.yml", Core("{version: v9.9.9}"));
  folder_.Put("git/b/chart.yaml", "a: {{ .Values.x }}\n");
  folder_.Put("git/.github/workflow.yaml", "a: [\n");
  folder_.Put("git/notes.txt", "a: [\n");
  folder_.Put("git/zz.json", std::string(17 << 20, ' '));
  Outcome outcome = Run({folder_ / "git"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("git/b/chart.yaml:1:"), HasSubstr(": warning: "),
                                 HasSubstr("git/b/core.yml:4:8: error: "), HasSubstr("[duplicate-provider]"),
                                 Not(HasSubstr("workflow")), Not(HasSubstr("notes"))));
  EXPECT_THAT(outcome.err, HasSubstr("Error: 2 errors and 2 warnings in 2 Provider objects"));
}

// L19: it could be one with a mistake.
TEST_F(LintTest, AFileOfAFolderThatCanNotBeReadIsAnError) {
  folder_.Put("git/core.yaml", Core("{version: v1.0.0}"));
  std::filesystem::create_symlink(folder_ / "nowhere.yaml", folder_ / "git/link.yaml");
  Outcome outcome = Run({folder_ / "git"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("git/link.yaml:1:1: error: "), HasSubstr("No such file")));
  outcome = Clusterctl({"diff", "--config", config_, "-f", folder_ / "git"},
                       {{"HOME", "/nowhere"}, {"KUBECONFIG", Kubeconfig()}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("git/link.yaml: "));
}

TEST_F(LintTest, NothingToCheckIsAnError) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{}, "name files or folders"},
      {{folder_ / "none.yaml"}, "none.yaml"},
      {{"-"}, "there is no Provider object of operator.cluster.x-k8s.io in -"},
      {{"-", "-o", "xml"}, "invalid output format \"xml\", valid values: [json name sarif table text wide yaml]"},
  };
  for (const auto& [arguments, error] : cases) {
    Outcome outcome = Run(arguments, "a: b\n");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(error));
  }
}

// L19, L1: an object has one name, whatever is wrong with it, and none steers a terminal.
TEST_F(LintTest, NamesOfObjectsAreOneLineEach) {
  const std::string text =
      "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvidr\n"
      "metadata: {name: \"a\\e[2J\\nb\", namespace: ns}\n";
  EXPECT_EQ(Text(text, {"-o", "name"}).out, "CoreProvidr ns/a?[2J b\n");
  EXPECT_THAT(Text(text).out, testing::StartsWith("-:2:1: error: CoreProvidr ns/a?[2J b: operator"));
  EXPECT_EQ(Text("a: [", {"-o", "name"}).out, "-\n");
}

// L18: what isn't compared isn't passed off as having no difference.
TEST_F(LintTest, DiffRefusesFilesThatItWouldOnlySkip) {
  const std::string text = "apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvidr\nmetadata: {name: a}\n";
  const std::pair<std::vector<std::string>, std::pair<std::string, std::string>> cases[] = {
      {{"-f", "-"}, {text, "has no kind \"CoreProvidr\""}},
      {{"-f", "-", "-n", "other"}, {Core("{}"), "cluster-api is in namespace capi-system, and not in other (-n)"}},
  };
  for (const auto& [arguments, given] : cases) {
    std::vector<std::string> all = {"diff", "--config", config_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    Outcome outcome = Clusterctl(all, {{"HOME", "/nowhere"}, {"KUBECONFIG", Kubeconfig()}}, given.first);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(given.second));
  }
}

// What GitHub and others ask of a report, by the schema of SARIF 2.1.0.
TEST_F(LintTest, SarifHasTheShapeThatReadersAskFor) {
  folder_.Put("git/my file.yaml", Core("{version: v9.9.9}"));
  Outcome outcome = Run({"-o", "sarif", folder_ / "git"});
  auto sarif = ParseJson(outcome.out);
  ASSERT_TRUE(sarif.ok()) << outcome.out;
  EXPECT_EQ(GetString(*sarif, {"version"}), "2.1.0");
  EXPECT_EQ(GetString(*sarif, {"$schema"}), "https://json.schemastore.org/sarif-2.1.0.json");
  ASSERT_EQ((*sarif)["runs"].size(), 1U);
  const Json& run = (*sarif)["runs"][0];
  EXPECT_NE(GetString(run, {"tool", "driver", "name"}), "");
  const Json& rules = run["tool"]["driver"]["rules"];
  std::set<std::string> ids;
  for (const Json& rule : rules) {
    EXPECT_TRUE(ids.insert(GetString(rule, {"id"})).second) << rule;
    EXPECT_THAT(GetString(rule, {"shortDescription", "text"}), testing::EndsWith("."));
  }
  ASSERT_EQ(run["results"].size(), 1U);
  const Json& result = run["results"][0];
  EXPECT_EQ(GetString(result, {"ruleId"}), "version-not-found");
  EXPECT_EQ(rules[result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
  EXPECT_EQ(GetString(result, {"level"}), "error");
  EXPECT_NE(GetString(result, {"message", "text"}), "");
  const Json& physical = result["locations"][0]["physicalLocation"];
  EXPECT_THAT(GetString(physical, {"artifactLocation", "uri"}), testing::EndsWith("/git/my%20file.yaml"));
  EXPECT_EQ(physical["region"]["startLine"], 4);
  EXPECT_EQ(physical["region"]["startColumn"], 8);
  // No findings: an empty list, which tells readers that all are gone.
  folder_.Put("git/my file.yaml", Core("{version: v1.0.0}"));
  auto none = ParseJson(Run({"-o", "sarif", folder_ / "git"}).out);
  EXPECT_EQ((*none)["runs"][0]["results"], Json::array());
}

TEST(StepsOf, PathsAsMessagesHaveThem) {
  EXPECT_THAT(StepsOf("spec.deployment.containers[0].image"),
              ElementsAre("spec", "deployment", "containers", "0", "image"));
  EXPECT_THAT(StepsOf("metadata.annotations[a.b/c].d"), ElementsAre("metadata", "annotations", "a.b/c", "d"));
  EXPECT_THAT(StepsOf(""), ElementsAre());
}

}  // namespace
}  // namespace capi::cli
