#include "local/node/pod_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

using testing::HasSubstr;

Json Yaml(std::string_view text) { return ValueOrAbort(ParseYaml(text), "yaml"); }

InputSource Source() {
  return {.read = [](const std::string& kind, const std::string& name) -> Result<Variables> {
            if (kind == "Secret" && name == "s") return Variables{{"USER", "u"}, {"PASSWORD", "p-a-s-s"}};
            if (kind == "ConfigMap" && name == "c") return Variables{{"MODE", "m"}};
            return Error{Code::kNotFound, kind + " " + name + " isn't there", {}};
          },
          .token = [](const std::string& audience, std::int64_t seconds) -> Result<std::string> {
            return "token for " + audience + " of " + std::to_string(seconds);
          }};
}

kube::Object Pod(std::string_view spec = "{}") {
  Json pod = Yaml("metadata: {name: p, namespace: \"n\", uid: u-1, labels: {app: x}}");
  pod["spec"] = Yaml(spec);
  pod["spec"]["nodeName"] = "local";
  pod["spec"]["serviceAccountName"] = "sa";
  return kube::Object(pod);
}

// G5: a Secret of which a container has many keys is read once.
TEST(PodEnvironment, ReadsEachObjectOnce_G5) {
  InputSource source = Source();
  std::vector<std::string> asked;
  source.read = [&](const std::string& kind, const std::string& name) {
    asked.push_back(kind + " " + name);
    return Source().read(kind, name);
  };
  auto read = EnvironmentOf(Pod(), Yaml(R"(
envFrom: [{secretRef: {name: s}}]
env:
- {name: A, valueFrom: {secretKeyRef: {name: s, key: USER}}}
- {name: B, valueFrom: {secretKeyRef: {name: s, key: PASSWORD}}}
- {name: C, valueFrom: {configMapKeyRef: {name: c, key: MODE}}}
)"),
                            {}, source);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->variables.at("B"), "p-a-s-s");
  EXPECT_THAT(asked, testing::ElementsAre("Secret s", "ConfigMap c"));
}

// G5: each source of a variable.
TEST(PodEnvironment, HasWhatTheContainerSays) {
  Json container = Yaml(R"y(
envFrom:
- {prefix: S_, secretRef: {name: s}}
- configMapRef: {name: c}
- configMapRef: {name: missing, optional: true}
env:
- {name: PLAIN, value: a}
- {name: EXPANDED, value: "$(PLAIN)-$(S_USER)-$(LATER)-$$(PLAIN)"}
- {name: LATER, value: b}
- {name: EMPTY}
- {name: KEY, valueFrom: {secretKeyRef: {name: s, key: PASSWORD}}}
- {name: CONFIG, valueFrom: {configMapKeyRef: {name: c, key: MODE}}}
- {name: NO, valueFrom: {secretKeyRef: {name: s, key: missing, optional: true}}}
- {name: POD_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
- {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
- {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
- {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}
- {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
)y");
  auto environment = EnvironmentOf(Pod(), container, {{"PATH", "/bin"}, {"PLAIN", "below"}}, Source());
  ASSERT_TRUE(environment.ok()) << environment.error().message;
  EXPECT_EQ(environment->variables, (Variables{{"PATH", "/bin"},
                                               {"S_USER", "u"},
                                               {"S_PASSWORD", "p-a-s-s"},
                                               {"MODE", "m"},
                                               {"PLAIN", "a"},
                                               {"LATER", "b"},
                                               {"EMPTY", ""},
                                               {"KEY", "p-a-s-s"},
                                               {"CONFIG", "m"},
                                               {"POD_NAMESPACE", "n"},
                                               {"POD_NAME", "p"},
                                               {"POD_UID", "u-1"},
                                               {"POD_IP", "127.0.0.1"},
                                               {"NODE", "local"},
                                               {"ACCOUNT", "sa"},
                                               {"APP", "x"},
                                               {"EXPANDED", "a-u-$(LATER)-$(PLAIN)"}}));
  EXPECT_THAT(environment->secrets, testing::UnorderedElementsAre("u", "p-a-s-s", "p-a-s-s"));
}

TEST(PodEnvironment, NamesWhatIsMissing) {
  struct Case {
    const char *container, *message;
    Code code;
  };
  for (const Case& c :
       {Case{"env: [{name: A, valueFrom: {secretKeyRef: {name: x, key: k}}}]", "env[name=A]: Secret x isn't there",
             Code::kNotFound},
        {"env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]", "Secret s has no key k", Code::kNotFound},
        {"envFrom: [{configMapRef: {name: x}}]", "ConfigMap x isn't there", Code::kNotFound},
        {"env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]", "valueFrom.resourceFieldRef isn't",
         Code::kUnsupported},
        {"env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.x}}}]", "fieldPath status.x", Code::kUnsupported}}) {
    auto environment = EnvironmentOf(Pod(), Yaml(c.container), {}, Source());
    ASSERT_FALSE(environment.ok()) << c.container;
    EXPECT_EQ(environment.code(), c.code) << c.container;
    EXPECT_THAT(environment.error().message, HasSubstr(c.message));
  }
}

std::string Files(std::string_view volume) {
  Json json = Yaml(volume);
  json["name"] = "v";
  auto files = FilesOfVolume(Pod(), json, Source());
  if (!files.ok()) return files.error().message;
  std::string text;
  for (const auto& [path, file] : *files) text += path + "=" + file.content + (file.executable ? "*" : "") + ";";
  return text;
}

// G5: the volumes of the kinds that a process can have; the others are refused with their field.
TEST(PodVolumes, HaveTheirFiles) {
  struct Case {
    const char *volume, *expected;
  };
  for (const Case& c :
       {Case{"secret: {secretName: s}", "PASSWORD=p-a-s-s;USER=u;"},
        {"secret: {secretName: s, items: [{key: USER, path: a/b}]}", "a/b=u;"},
        {"secret: {secretName: s, items: [{key: X, path: a}]}", "volumes[name=v]: Secret s has no key X"},
        {"secret: {secretName: s, items: [{key: USER, path: ../a}]}",
         "volumes[name=v]: path ../a leads out of the volume"},
        {"secret: {secretName: x}", "volumes[name=v]: Secret x isn't there"},
        {"secret: {secretName: x, optional: true}", ""},
        {"configMap: {name: c, defaultMode: 493}", "MODE=m*;"},
        {"emptyDir: {}", ""},
        {"hostPath: {path: /var/run/docker.sock}", ""},
        {"downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}", "labels=app=\"x\";"},
        {"projected: {sources: [{configMap: {name: c}}, {serviceAccountToken: {path: t, audience: a, "
         "expirationSeconds: 700}}]}",
         "MODE=m;t=token for a of 700;"},
        {"persistentVolumeClaim: {claimName: x}",
         "volumes[name=v].persistentVolumeClaim isn't carried out on a local plane"}}) {
    EXPECT_EQ(Files(c.volume), c.expected) << c.volume;
  }
}

// G5: a mount that nothing names is refused, but for those that nothing needs to name.
TEST(PodVolumes, AreLedOrRefused) {
  kube::Object pod = Pod(R"(
volumes:
- {name: cert, secret: {secretName: s}}
- {name: tmp, emptyDir: {}}
- {name: docker, hostPath: {path: /var/run/docker.sock}}
- {name: etc, hostPath: {path: /etc/a}}
- {name: token, projected: {sources: []}}
)");
  Json container = Yaml(R"(
volumeMounts:
- {name: cert, mountPath: /certs/}
- {name: cert, mountPath: /one, subPath: tls.crt}
- {name: tmp, mountPath: /tmp}
- {name: docker, mountPath: /var/run/docker.sock}
- {name: etc, mountPath: /b}
- {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}
)");
  EXPECT_EQ(MountsOf(pod, container, "/v"),
            (std::map<std::string, std::string>{{"/certs", "/v/cert"},
                                                {"/one", "/v/cert/tls.crt"},
                                                {"/tmp", "/v/tmp"},
                                                {"/var/run/docker.sock", "/var/run/docker.sock"},
                                                {"/b", "/etc/a"},
                                                {"/var/run/secrets/kubernetes.io/serviceaccount", "/v/token"}}));
  EXPECT_EQ(UnledMount(pod, container, {"/certs", "/one", "/b"}), "");
  EXPECT_THAT(UnledMount(pod, container, {"/certs", "/b"}), HasSubstr("volumeMounts[name=cert]: "));
  EXPECT_THAT(UnledMount(pod, container, {"/certs", "/one"}), HasSubstr("names /b,"));
  // Without the ServiceAccount's own token there is no kubeconfig, and nobody looks for a token here.
  Json without = pod.json();
  without["spec"]["automountServiceAccountToken"] = false;
  EXPECT_THAT(UnledMount(kube::Object(without), container, {"/certs", "/one", "/b"}),
              HasSubstr("volumeMounts[name=token]: "));
}

}  // namespace
}  // namespace capi::local
