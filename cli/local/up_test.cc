#include "cli/local/up.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "api/schema/crds.h"
#include "base/files.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "cli/local/declared.h"
#include "cli/local/operator_program.h"
#include "cli/local/place.h"
#include "cli/operator_manifests/installation.h"
#include "cli/operator_manifests/manifests.h"
#include "cli/testing.h"
#include "local/node/pod_status.h"
#include "local/plane/authority.h"

namespace capi::cli {
namespace {

using enum api::ProviderType;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// G1.
TEST(LocalUp, ReadsProvidersByTypeAndName) {
  auto flags = ParseProviderFlags({"infrastructure/docker:v1.12.1", "core/cluster-api", "control-plane/kubeadm",
                                   "controlplane/rke2", "runtime-extension/x", "infrastructure/aws"});
  ASSERT_TRUE(flags.ok()) << flags.error().message;
  EXPECT_THAT((*flags)[kInfrastructure], ElementsAre("docker:v1.12.1", "aws"));
  EXPECT_THAT((*flags)[kCore], ElementsAre("cluster-api"));
  EXPECT_THAT((*flags)[kControlPlane], ElementsAre("kubeadm", "rke2"));
  EXPECT_THAT((*flags)[kRuntimeExtension], ElementsAre("x"));
  for (const char* bad : {"docker", "infrastructure/", "/docker", "cloud/docker", ""}) {
    auto refused = ParseProviderFlags({bad});
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_THAT(refused.error().message, HasSubstr("write TYPE/NAME[:VERSION]")) << bad;
  }
}

// G2: credentials don't get lost by a start from another shell.
TEST(LocalUp, WantsTheVariablesThatEarlierRunsNamed) {
  local::Settings settings;
  settings.environment = {"KEY", "TOKEN"};
  const Getenv getenv = [](const std::string& name) {
    return name == "KEY" ? std::optional<std::string>("") : std::nullopt;
  };
  Status checked = CheckVariables(settings, getenv);
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().message, HasSubstr("TOKEN isn't set"));
  settings.environment.pop_back();
  EXPECT_TRUE(CheckVariables(settings, getenv).ok());
}

// G1: what a person is told to copy leads to the plane, whatever has become of that file since the plane's start.
TEST(LocalUp, SaysTheWayIntoThePlane) {
  TestFolder temp;
  const local::PlaneFolder plane = ValueOrAbort(local::PlaneFolder::Make(temp / "plane"), "plane");
  ASSERT_TRUE(plane.MakeFolders().ok());
  const std::string own = local::KubeconfigText({"ca", {"cert", "key"}}, 7);
  ASSERT_TRUE(WriteFile(plane.OwnKubeconfig(), own, 0600).ok());
  std::ostringstream err;
  Notes notes(err);
  const std::string exported = "  export KUBECONFIG=" + plane.Kubeconfig() + "\n";
  EXPECT_EQ(WayIn(plane, notes), exported + "\n");
  EXPECT_EQ(ValueOrAbort(ReadFile(plane.Kubeconfig()), "kubeconfig"), own) << "it was moved away";
  Json config = ValueOrAbort(ParseYaml(own), "own");
  config["contexts"].push_back({{"name", "kind"}, {"context", {{"cluster", "kind"}}}});
  config["current-context"] = "kind";
  ASSERT_TRUE(WriteFile(plane.Kubeconfig(), ToYaml(config)).ok());
  EXPECT_EQ(WayIn(plane, notes), exported + "  kubectl config use-context capi-local\n\n");
  EXPECT_EQ(err.str(), "");
  ASSERT_TRUE(WriteFile(plane.Kubeconfig(), "[]").ok());
  EXPECT_EQ(WayIn(plane, notes), exported + "\n");
  EXPECT_THAT(err.str(), HasSubstr("is no kubeconfig. Move it away"));
}

// G9: once, before anything runs.
TEST(LocalUp, SaysThatManagersRunAsRoot) {
  std::ostringstream out;
  Notes notes(out);
  WarnOfRoot(1000, notes);
  EXPECT_EQ(out.str(), "");
  WarnOfRoot(0, notes);
  EXPECT_THAT(out.str(), HasSubstr("the managers run as root"));
}

// What the API server says of a number in a Secret has the value in it.
TEST(ApplyError, TellsNoValueOfASecret) {
  const Error refused{Code::kInvalidArgument, ".stringData.PIN: expected string, got &value{Value:83619274}", {}};
  auto of = [](const char* kind) {
    return kube::Object(Json{{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", "x"}, {"namespace", "a"}}}});
  };
  const Error told = ApplyError(of("Secret"), refused);
  EXPECT_EQ(told.code, Code::kInvalidArgument);
  EXPECT_THAT(told.message, AllOf(HasSubstr("failed to apply Secret a/x"), HasSubstr("(InvalidArgument)")));
  EXPECT_THAT(told.message, Not(HasSubstr("83619274")));
  EXPECT_THAT(ApplyError(of("ConfigMap"), refused).message, HasSubstr("83619274"));
  EXPECT_THAT(ApplyError(of("Secret"), {Code::kUnavailable, "connection refused", {}}).message,
              HasSubstr("connection refused"));
}

class DeclaredTest : public testing::Test {
 protected:
  Result<Declared> Read(const std::string& text) {
    std::istringstream none;
    return ReadDeclared({folder_.Put("file.yaml", text)}, *config_, none);
  }
  TestFolder folder_;
  Result<Config> config_ = Config::Parse({"", ""}, From({}));
};

constexpr char kGood[] = R"(apiVersion: v1
kind: Namespace
metadata: {name: capd-system}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: capd-system}
stringData: {TOKEN: secret}
---
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: InfrastructureProvider
metadata: {name: docker, namespace: capd-system}
spec: {version: v1.12.1}
---
apiVersion: operator.cluster.x-k8s.io/v1alpha2
kind: CoreProvider
metadata: {name: cluster-api}
)";

// G1.
TEST_F(DeclaredTest, HasWhatProvidersNeed) {
  auto declared = Read(kGood);
  ASSERT_TRUE(declared.ok()) << declared.error().message;
  EXPECT_EQ(declared->namespaces.size(), 1u);
  EXPECT_EQ(declared->parts.size(), 1u);
  EXPECT_THAT(declared->ids, ElementsAre(api::ProviderId{kInfrastructure, "capd-system", "docker"},
                                         api::ProviderId{kCore, "default", "cluster-api"}));
  EXPECT_EQ(declared->providers[1].ns(), "default");
  EXPECT_TRUE(declared->Has(kCore));
  EXPECT_FALSE(declared->Has(kBootstrap));
}

// G1: refused with the place.
TEST_F(DeclaredTest, RefusesEverythingElse) {
  struct Case {
    const char *text, *place, *why;
  };
  const Case cases[] = {
      {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n", "file.yaml:2:1: ", "no Provider, Secret"},
      {"apiVersion: v1\nkind: Secret\nmetadata: {namespace: x}\n", "file.yaml:2:1: ", "has no name"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b, a: c}\n", "file.yaml:", "a"},
      {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData:\n  USER: me\n  PIN: 83619274\n",
       "file.yaml:6:", "stringData.PIN is no text"},
      {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {PIN: '8361-9274'}\n",
       "file.yaml:4:", "data.PIN is no base64"},
      {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: '83619274'\n",
       "file.yaml:4:", "stringData is no map"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: true}\n", "file.yaml:4:", "data.a is no text"},
      {"apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata: {name: cluster-api}\nspec:\n"
       "  versoin: v1\n",
       "file.yaml:5:3: ", "versoin"},
      {"apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvider\nmetadata: {name: another}\n",
       "file.yaml:", "cluster-api"},
      {"apiVersion: operator.cluster.x-k8s.io/v1alpha2\nkind: CoreProvdier\nmetadata: {name: cluster-api}\n",
       "file.yaml:2:1: ", "CoreProvdier"},
      {"apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n---\n"
       "apiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: default}\n",
       "file.yaml:6:1: ", "Secret default/x is there already, in "},
      {"a: [\n", "file.yaml:", "line"},
      {"# nothing\n", "file.yaml", "no objects"},
  };
  for (const Case& one : cases) {
    auto refused = Read(one.text);
    ASSERT_FALSE(refused.ok()) << one.text;
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << one.text;
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr(one.place), HasSubstr(one.why), Not(HasSubstr("9274"))));
  }
}

// G9: by the rules that the node looks for it.
TEST(OperatorProgram, IsTheOneThatIsNamedForItsImage) {
  TestFolder folder;
  const std::string path = folder.Put("capi-operator", "#!/bin/sh\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const Variables variables = {{"PATH", folder.path()}};
  const std::string image = *OperatorImage("", {});
  ASSERT_THAT(image, HasSubstr(":"));
  const std::string name = image.substr(0, image.rfind(':'));
  for (const std::string& named : {name + "=" + path, image + "=" + path}) {
    EXPECT_THAT(WithOperator({named}, "", From(variables)), ElementsAre(named));
    EXPECT_TRUE(CheckOperatorProgram({named}, "", From({})).ok());
  }
  // Those of another version, of another registry, and of another image.
  for (const std::string& other : {name + ":v0.0.1=/old", "example.com/a/" + image + "=/theirs", std::string("x=/y")}) {
    EXPECT_THAT(WithOperator({other}, folder / "none", From(variables)), ElementsAre(other, image + "=" + path));
    EXPECT_THAT(WithOperator({other}, folder.path(), From({})), ElementsAre(other, image + "=" + path));
    EXPECT_TRUE(CheckOperatorProgram({other}, folder.path(), From({})).ok());
    const Status missing = CheckOperatorProgram({other}, folder / "none", From({}));
    ASSERT_FALSE(missing.ok()) << other;
    EXPECT_EQ(missing.code(), Code::kNotFound);
    EXPECT_THAT(missing.error().message, AllOf(HasSubstr(folder / "none"), HasSubstr("--binary " + image + "=PATH")));
  }
}

// G9: without its operator nothing of a plane goes on, so it isn't left to its Pod.
TEST(OperatorProgram, ThatHasGoneIsRefused) {
  TestFolder folder;
  std::filesystem::permissions(folder.Put("capi-operator", "#!/bin/sh\n"), std::filesystem::perms::owner_all);
  const Status gone = CheckOperatorProgram({"x=/y", "capi-operator=" + (folder / "none")}, folder.path(), From({}));
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_THAT(gone.error().message, AllOf(HasSubstr(folder / "none"), HasSubstr("`--binary capi-operator=` takes it")));
}

// G2: nothing of a newer plane is touched.
TEST(OperatorProgram, IsNotRunOnAPlaneOfANewerOne) {
  TestFolder temp;
  auto folder = local::PlaneFolder::Make(temp / "plane");
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_TRUE(CheckVersion(*folder).ok());
  for (const std::string& version : {std::string("v0.0.1\n"), OwnVersion().ToString()}) {
    temp.Put("plane/version", version);
    EXPECT_TRUE(CheckVersion(*folder).ok()) << version;
  }
  temp.Put("plane/version", "v99.1.0\n");
  const Status newer = CheckVersion(*folder);
  ASSERT_FALSE(newer.ok());
  EXPECT_EQ(newer.code(), Code::kFailedPrecondition);
  EXPECT_THAT(newer.error().message, AllOf(HasSubstr("v99.1.0, newer than this"), HasSubstr("a clusterctl of v99.1")));
}

// G1, G8: this test is a process of a run whose supervisor is its parent.
TEST(PageAddress, IsThatOfTheOperatorThatIsThere) {
  auto pod = [](const std::string& ns, const std::string& ports, bool goes = false, pid_t pid = getpid()) {
    kube::Object out(Json{{"kind", "Pod"}, {"metadata", {{"namespace", ns}, {"name", "p"}}}});
    out.set_annotation(local::kPortsAnnotation, ports);
    if (goes) out.json()["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    out.json()["status"]["containerStatuses"] =
        Json::array({{{"name", "manager"},
                      {"containerID", fmt::format("process://{}", pid)},
                      {"state", {{"running", {{"startedAt", "2026-01-01T00:00:00Z"}}}}}}});
    return out;
  };
  const pid_t supervisor = getppid();
  const std::string own(api::kOperatorNamespace), ports = "8443:31001,8444:31002,9440:31003";
  EXPECT_EQ(PageAddress({pod("other", "8444:31009"), pod(own, "8444:31008", true), pod(own, "8444:31007", false, 1),
                         pod(own, ports)},
                        supervisor),
            "http://127.0.0.1:31002/");
  EXPECT_EQ(PageAddress({pod(own, "8443:31001"), pod(own, "")}, supervisor), "");
  EXPECT_EQ(PageAddress({pod(own, ports)}, supervisor + 1), "") << "of an earlier run";
}

TEST(PlaceOfThePlane, IsTheUsersOwnWithoutAFlag) {
  EXPECT_EQ(*PlaneFolderPath("here", From({})), "here");
  EXPECT_EQ(*PlaneFolderPath("", From({{"HOME", "/home/me"}})), "/home/me/.local/share/cluster-api/local");
  EXPECT_EQ(*PlaneFolderPath("", From({{"HOME", "/h"}, {"XDG_DATA_HOME", "/data"}})), "/data/cluster-api/local");
  EXPECT_EQ(PlaneFolderPath("", From({})).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace capi::cli
