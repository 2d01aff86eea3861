#include "operator/webhooks/injection.h"

#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::ops {
namespace {

TEST(InjectionFor, SaysTheBundleAndNothingElse) {  // T7
  struct Case {
    std::string_view name, kind, target;
    std::string_view says;  // beside apiVersion, kind and metadata; "" for nothing
  };
  // "pem" is cGVt in base64.
  const Case cases[] = {
      {"a new CRD", "CustomResourceDefinition",
       "spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'https://a'}}}}",
       "spec: {conversion: {webhook: {clientConfig: {caBundle: cGVt}}}}"},
      {"another bundle", "CustomResourceDefinition",
       "spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {caBundle: b3Ro}}}}",
       "spec: {conversion: {webhook: {clientConfig: {caBundle: cGVt}}}}"},
      {"it is there", "CustomResourceDefinition",
       "spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {caBundle: cGVt}}}}", ""},
      {"no webhook", "CustomResourceDefinition", "spec: {conversion: {strategy: None}}", ""},
      {"no conversion", "CustomResourceDefinition", "spec: {group: x}", ""},
      {"cert-manager's", "CustomResourceDefinition",
       "{metadata: {name: x, uid: u, annotations: {cert-manager.io/inject-ca-from: a/b}},"
       " spec: {conversion: {strategy: Webhook}}}",
       ""},
      {"one of two", "ValidatingWebhookConfiguration",
       "webhooks: [{name: a, rules: [], clientConfig: {caBundle: cGVt}}, {name: b, clientConfig: {url: u}}]",
       "webhooks: [{name: a, clientConfig: {caBundle: cGVt}}, {name: b, clientConfig: {caBundle: cGVt}}]"},
      {"both are there", "MutatingWebhookConfiguration",
       "webhooks: [{name: a, clientConfig: {caBundle: cGVt}}, {name: b, clientConfig: {caBundle: cGVt}}]", ""},
      {"a configuration without webhooks", "MutatingWebhookConfiguration", "metadata: {name: x, uid: u}", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const kube::Resource& resource = kube::Builtin(c.kind);
    kube::Object target(ParseYaml(c.target).value());
    Ensure(target.json(), {"metadata", "name"}) = "x";
    Ensure(target.json(), {"metadata", "uid"}) = "u";
    auto injection = InjectionFor(resource, target, "pem");
    EXPECT_EQ(injection.has_value(), !c.says.empty());
    if (!injection || c.says.empty()) continue;
    Json expected = ParseYaml(c.says).value();
    expected["apiVersion"] = resource.api_version();
    expected["kind"] = c.kind;
    expected["metadata"] = {{"name", "x"}, {"uid", "u"}};
    EXPECT_EQ(injection->json(), expected);
  }
}

TEST(OtherInjector, IsNamedByItsAnnotation) {  // T7
  for (const char* name : {"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret",
                           "cert-manager.io/inject-apiserver-ca"}) {
    EXPECT_EQ(OtherInjector(kube::Object(Json{{"metadata", {{"annotations", {{name, "a/b"}}}}}})), name);
  }
  EXPECT_EQ(OtherInjector(kube::Object(Json{{"metadata", {{"annotations", {{"cert-manager.io/x", "y"}}}}}})), "");
  EXPECT_EQ(OtherInjector(kube::Object()), "");
}

}  // namespace
}  // namespace capi::ops
