#include "local/node/container_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/encoding.h"
#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "local/node/api_testing.h"

namespace capi::local {
namespace {

using testing::HasSubstr;

Json Yaml(std::string_view text) { return ValueOrAbort(ParseYaml(text), "yaml"); }

// G5: what isn't carried out is refused, and named.
TEST(CheckContainer, RefusesWhatItDoesNotDo) {
  struct Case {
    const char *container, *expected;
  };
  for (const Case& c : {Case{"{name: c}", ""},
                        {"{lifecycle: {}}", ""},
                        {"{lifecycle: {preStop: {exec: {command: [a]}}}}", "lifecycle isn't"},
                        {"{restartPolicy: Always}", "restartPolicy: Always"},
                        {"{volumeDevices: [{name: v}]}", "volumeDevices isn't"},
                        {"{volumeMounts: [{name: v, subPath: a}]}", ""},
                        {"{volumeMounts: [{name: v, subPathExpr: $(A)}]}", "volumeMounts[name=v].subPathExpr isn't"},
                        {"{livenessProbe: {grpc: {port: 1}}}", "livenessProbe.grpc"},
                        {"{livenessProbe: {httpGet: {port: 1, host: localhost}}}", ""},
                        {"{readinessProbe: {httpGet: {port: 1, host: example.com}}}", "readinessProbe.httpGet.host"},
                        {"{startupProbe: {tcpSocket: {port: 1, host: 10.0.0.1}}}", "startupProbe.tcpSocket.host"}}) {
    Status checked = CheckContainer({}, Yaml(c.container));
    EXPECT_EQ(checked.ok(), *c.expected == '\0') << c.container;
    EXPECT_THAT(checked.ok() ? "" : checked.error().message, HasSubstr(c.expected));
  }
}

// G5: variables that each process has of its own can't be the user's.
TEST(CheckContainer, RefusesTheUsersOwnVariables) {
  for (const char* name : {"HOME", "TMPDIR", "KUBECONFIG"}) {
    Status checked = CheckContainer({.environment = {"A=b", std::string(name) + "=/x"}}, Json::object());
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_THAT(checked.error().message, HasSubstr(std::string("the variable ") + name));
  }
  EXPECT_TRUE(CheckContainer({.environment = {"PATH=/bin", "HOMER=/x"}}, Json::object()).ok());
}

TEST(CheckPod, RefusesWhatItDoesNotDo_G5) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", ""},
      {"{restartPolicy: Always, readinessGates: []}", ""},
      {"{restartPolicy: Never}", "spec.restartPolicy: Never isn't"},
      {"{readinessGates: [{conditionType: a}]}", "spec.readinessGates isn't"},
      {"{activeDeadlineSeconds: 60}", "spec.activeDeadlineSeconds isn't"},
  };
  for (const auto& [spec, words] : cases) {
    Status checked = CheckPod(kube::Object(Json{{"spec", Yaml(spec)}}));
    EXPECT_EQ(checked.ok(), *words == '\0') << spec;
    EXPECT_THAT(checked.ok() ? "" : checked.error().message, HasSubstr(words));
  }
}

// G5: who is asked by another container at a port stays there.
TEST(Ports, ThatAnotherContainerNamesStay_G5) {
  const Json spec = Yaml(R"(
containers:
- {name: c, args: ["--upstream=http://127.0.0.1:8083/"]}
- {name: proxy, args: ["--upstream=http://127.0.0.1:8080/", "--to", "https://localhost:8081", "--port=8082", "--x=http://127.0.0.1:80844",
    "--issuer=http://example.com:8085/", "--z=http://127.0.0.1:8086?x", "--all=http://127.0.0.1:8087,http://0.0.0.0:8088/,http://[::]:8089",
    "--me=http://$(POD_IP):8090/", "--other=http://$(HOST):8091/", "--here=http://$(LOCAL):8092/"],
   env: [{name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}, {name: HOST, value: example.com},
      {name: LOCAL, value: $(POD_IP)}]}
)");
  const kube::Object pod(Json{{"spec", spec}});
  EXPECT_THAT(PortsNamedByOthers(pod, spec["containers"][0],
                                 {8080, 8081, 8082, 8083, 8084, 8085, 8086, 8087, 8088, 8089, 8090, 8091, 8092}),
              testing::ElementsAre(8080, 8081, 8086, 8087, 8088, 8089, 8090, 8092));
}

// G5: what an argument leads and another container names in a URL on loopback; anything else is nobody's.
TEST(PodPorts, AreThoseThatAnotherContainerNames_G5) {
  struct Case {
    const char *manager, *proxy;
    bool shared;
  };
  for (const Case& c : {Case{"--metrics-addr=127.0.0.1:8080", "--upstream=http://127.0.0.1:8080/", true},
                        {"--metrics-addr=127.0.0.1:8080", "--upstream=http://localhost:8080", true},
                        {"--metrics-addr=127.0.0.1:8080", "--upstream=http://example.com:8080/", false},
                        {"--metrics-addr=127.0.0.1:8080", "--upstream=http://127.0.0.1:80801/", false},
                        {"--metrics-addr=127.0.0.1:8080", "--v=8080", false},
                        {"--metrics-addr=[::1]:8080", "--upstream=http://[::1]:8080/", true},
                        {"--metrics-addr=$(POD_IP):8080", "--upstream=http://127.0.0.1:8080/", true},
                        {"--v=4", "--upstream=http://127.0.0.1:8080/", false},
                        {"--remote-address=10.0.0.1:8080", "--upstream=http://127.0.0.1:8080/", false}}) {
    const Json env =
        Json::array({{{"name", "POD_IP"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}}});
    Json spec = {{"containers", Json::array({{{"name", "m"}, {"args", {c.manager}}, {"env", env}},
                                             {{"name", "p"}, {"args", {c.proxy}}}})}};
    const auto ports = ValueOrAbort(PodPorts::Make(kube::Object(Json{{"spec", std::move(spec)}})), "ports");
    const auto port = ports.Of("m", 8080);
    EXPECT_EQ(port.has_value(), c.shared) << c.manager << " " << c.proxy;
    EXPECT_FALSE(ports.Of("p", 8080) || ports.Of("m", 8443));
    EXPECT_TRUE(ports.OfOthers("m").empty());
    if (port) EXPECT_THAT(ports.OfOthers("p"), testing::ElementsAre(testing::Pair(8080, *port)));
  }
}

// G7: a probe's command is looked for where the process would look for it.
TEST(PlanProbe, FindsItsProgramAndVolumes_G7) {
  TempFolder folder;
  ASSERT_TRUE(WriteFile(folder / "check", "#!/bin/sh\n", 0755).ok());
  ContainerPlan plan;
  plan.process.environment = {"A=b", "PATH=relative:/none:" + folder.path()};
  plan.mounts = {{"/etc/s", folder.path()}};
  auto words = [&](std::vector<std::string> command) {
    auto planned = PlanProbe(plan, command);
    return planned.ok() ? planned->argv : std::vector<std::string>{planned.error().message};
  };
  EXPECT_THAT(words({"check", "/etc/s/key", "-x"}), testing::ElementsAre(folder / "check", folder / "key", "-x"));
  EXPECT_THAT(words({"/etc/s/check"}), testing::ElementsAre(folder / "check"));
  EXPECT_THAT(words({"/bin/true"}), testing::ElementsAre("/bin/true"));
  EXPECT_THAT(words({"none"}), testing::ElementsAre("exec.command: none isn't in PATH"));
  plan.program.root = folder.path();
  EXPECT_THAT(words({"/check", "/etc/s/key"}), testing::ElementsAre(folder / "check", folder / "key"));
  EXPECT_THAT(words({"/none"}), testing::ElementsAre(HasSubstr("the image has no program")));
}

class Plan : public testing::Test {
 protected:
  Plan() { EXPECT_TRUE(WriteFile(program_.path, "#!/bin/sh\n", 0755).ok()); }
  // Of the first of the containers.
  Result<ContainerPlan> Of(std::string_view container, std::string_view other = "") {
    Json containers = Json::array({Yaml(container)});
    if (!other.empty()) containers.push_back(Yaml(other));
    const kube::Object pod = PodOf(std::move(containers));
    return Of(pod, 0, ValueOrAbort(PodPorts::Make(pod), "ports"));
  }
  kube::Object PodOf(Json containers) const {
    Json pod = {{"metadata", {{"name", "p"}, {"namespace", "n"}}},
                {"spec", {{"automountServiceAccountToken", token_}}}};
    pod["spec"]["containers"] = std::move(containers);
    return kube::Object(std::move(pod));
  }
  Result<ContainerPlan> Of(const kube::Object& pod, size_t container, const PodPorts& ports) {
    PodFiles files(api_.client(), options_, SystemClock(), pod);
    TRY(files.MakeFolders());
    return PlanContainer({}, node_, files, ports, pod, pod.json()["spec"]["containers"][container], program_);
  }
  void WriteHelp(const std::string& help) {
    ASSERT_TRUE(WriteFile(program_.path, "#!/bin/sh\necho '  " + help + "'\n", 0755).ok());
  }

  bool token_ = false;

  TempFolder folder_;
  Program program_{.path = folder_ / "manager", .root = folder_.path()};
  struct : Programs {
    Result<Program> Find(const Context&, const std::string&) override { return Error{}; }
  } programs_;
  ApiStandIn api_;
  NodeOptions options_{.folder = folder_ / "pods", .volumes = folder_ / "volumes"};
  NodeParts node_{
      .client = api_.client(), .programs = programs_, .options = options_, .clock = SystemClock(), .wake = [] {}};
};

// G5: an image's variables are below those of the user and of the machine, and name none of its own certificates.
TEST_F(Plan, VariablesOfTheUserGoOverTheImages_G5) {
  program_.environment = {{"PATH", "/app"}, {"KEY", "image"}, {"OTHER", "image"}, {"SSL_CERT_DIR", "/etc/ssl"}};
  program_.environment.emplace_back("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt");
  options_.environment = {"PATH=/usr/bin:/bin", "KEY=user", "SSL_CERT_FILE=/home/u/corp.pem"};
  auto plan = Of("{name: c, command: [/manager], env: [{name: OWN, value: x}]}");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(
      plan->process.environment,
      testing::UnorderedElementsAre("PATH=" + folder_.path() + "/app:/usr/bin:/bin", "KEY=user", "OTHER=image",
                                    "SSL_CERT_FILE=/home/u/corp.pem", "OWN=x", "HOME=" + (folder_ / "pods/n_p/home"),
                                    "TMPDIR=" + (folder_ / "pods/n_p/tmp")));
}

// G5: a working folder is one of the image, and what is named by a relative path lies there.
TEST_F(Plan, WorkingFolderIsTheContainers_G5) {
  options_.environment = {"PATH=/usr/bin:/bin"};
  program_.working_folder = folder_.path();
  ASSERT_TRUE(std::filesystem::create_directory(folder_ / "app"));
  ASSERT_TRUE(WriteFile(folder_ / "app/m", "#!/bin/sh\n", 0755).ok());
  auto plan = Of("{name: c, workingDir: /../app/, command: [./m]}");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->process.folder, folder_ / "app");
  EXPECT_EQ(plan->process.argv[0], folder_ / "app/m");
  auto none = Of("{name: c, workingDir: /none, command: [/manager]}");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "workingDir: the image has no folder /none");
}

// G5: of a manager and the proxy before its metrics, both are led to the same port, at each start of each.
TEST_F(Plan, TwoContainersMeetAtAFreePort_G5) {
  const kube::Object pod = PodOf(Json::array(
      {Yaml("{name: manager, command: [/manager], args: ['--metrics-addr=127.0.0.1:8080', '--health-addr=:9440']}"),
       Yaml("{name: proxy, command: [/manager], args: ['--secure-listen-address=0.0.0.0:8443', "
            "'--upstream=http://127.0.0.1:8080/']}")}));
  const auto ports = ValueOrAbort(PodPorts::Make(pod), "ports");
  auto manager = Of(pod, 0, ports), proxy = Of(pod, 1, ports), again = Of(pod, 0, ports);
  ASSERT_TRUE(manager.ok() && proxy.ok() && again.ok());
  const int port = manager->ports.at(8080);
  EXPECT_NE(port, 8080);
  EXPECT_EQ(manager->process.argv[1], "--metrics-addr=127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(proxy->process.argv[2], "--upstream=http://127.0.0.1:" + std::to_string(port) + "/");
  EXPECT_EQ(again->ports.at(8080), port);
  EXPECT_THAT(manager->unled, testing::ElementsAre(port)) << "somebody may have it at the next start";
}

// G5: one that reads the other's place from a variable is led there, too.
TEST_F(Plan, AVariableLeadsToAnotherContainer_G5) {
  const kube::Object pod = PodOf(Json::array(
      {Yaml("{name: manager, command: [/manager], args: ['--metrics-addr=:8080']}"),
       Yaml(
           "{name: sidecar, command: [/manager], env: [{name: HOST, value: localhost}, {name: OTHER, value: 'x:8080'}, "
           "{name: UPSTREAM, value: 'http://$(HOST):8080/metrics'}]}")}));
  const auto ports = ValueOrAbort(PodPorts::Make(pod), "ports");
  auto manager = Of(pod, 0, ports), sidecar = Of(pod, 1, ports);
  ASSERT_TRUE(manager.ok() && sidecar.ok());
  const std::string port = std::to_string(manager->ports.at(8080));
  EXPECT_EQ(manager->process.argv[1], "--metrics-addr=127.0.0.1:" + port);
  EXPECT_THAT(sidecar->process.environment,
              testing::IsSupersetOf({"UPSTREAM=http://localhost:" + port + "/metrics", std::string("OTHER=x:8080")}));
}

// G7: a Secret's value is hidden as it is, and as the process has it.
TEST_F(Plan, ASecretThatLeadsToAnotherContainerIsHidden_G7) {
  const std::string secret = "http://localhost:8080/push?key=abcdef";
  api_.Put("/api/v1/namespaces/n/secrets/s", {{"data", {{"push", Base64Encode(secret)}}}});
  const kube::Object pod = PodOf(Json::array(
      {Yaml("{name: manager, command: [/manager], args: ['--metrics-addr=:8080']}"),
       Yaml("{name: sidecar, command: [/manager], args: ['--upstream=http://127.0.0.1:8080', '--push=$(PUSH)'], "
            "env: [{name: PUSH, valueFrom: {secretKeyRef: {name: s, key: push}}}]}")}));
  const auto ports = ValueOrAbort(PodPorts::Make(pod), "ports");
  const auto manager = Of(pod, 0, ports), sidecar = Of(pod, 1, ports);
  ASSERT_TRUE(manager.ok() && sidecar.ok());
  const std::string led = "http://localhost:" + std::to_string(manager->ports.at(8080)) + "/push?key=abcdef";
  EXPECT_THAT(sidecar->process.environment, testing::Contains("PUSH=" + led));
  EXPECT_THAT(sidecar->process.argv, testing::Contains("--push=" + led));
  EXPECT_THAT(sidecar->secrets, testing::UnorderedElementsAre(secret, led));
}

// G5: without a free port nothing starts: its program would take 0 for its own default.
TEST_F(Plan, WithoutAFreePortThereIsNone_G5) {
  const kube::Object pod = PodOf(Json::array({Yaml("{name: c, command: [/manager], args: ['--webhook-port=9443']}")}));
  PodFiles files(api_.client(), options_, SystemClock(), pod);
  ASSERT_TRUE(files.MakeFolders().ok());
  const auto plan = [&] {
    return PlanContainer({}, node_, files, {}, pod, pod.json()["spec"]["containers"][0], program_);
  };
  ASSERT_TRUE(plan().ok());  // the program's help is known from now on
  rlimit was{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &was), 0);
  const rlimit none{0, was.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto without = plan();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &was), 0);
  ASSERT_FALSE(without.ok());
  EXPECT_THAT(without.error().message, testing::StartsWith("no free port"));
}

// G5: its program is told of the Pod's kubeconfig, but where the Pod names another one.
TEST_F(Plan, KubeconfigIsThePods_G5) {
  WriteHelp("--kubeconfig string   a path");
  token_ = true;
  auto own = Of("{name: c, command: [/manager]}");
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_THAT(own->process.argv, testing::Contains("--kubeconfig=" + (folder_ / "volumes/n_p/kubeconfig")));
  auto other = Of("{name: c, command: [/manager], env: [{name: KUBECONFIG, value: /other}]}");
  ASSERT_TRUE(other.ok()) << other.error().message;
  EXPECT_EQ(other->process.argv.size(), 1u);
}

// G3: a status has no value that the user passes on.
TEST(ValuesToHide, AreThoseThatTheUserNames) {
  EXPECT_THAT(ValuesToHide({"PATH=/bin", "AWS_KEY=abc=def", "HTTPS_PROXY=http://u:p@proxy", "NO_PROXY=.local", "odd"}),
              testing::ElementsAre("abc=def", "http://u:p@proxy"));
}

}  // namespace
}  // namespace capi::local
