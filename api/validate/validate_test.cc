#include "api/validate/validate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/reasons.h"
#include "api/release.h"
#include "base/testing/vectors.h"
#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Provider FromJson(const Json& json) {
  auto provider = ParseProvider(kube::Object(json));
  EXPECT_TRUE(provider.ok()) << provider.error().message;
  return provider.ok() ? *provider : Provider{};
}

Provider Make(std::string_view kind, std::string_view name, std::string_view spec) {
  return FromJson({{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                   {"kind", kind},
                   {"metadata", {{"name", name}, {"namespace", "ns"}}},
                   {"spec", ParseYaml(spec).value()}});
}

std::vector<std::string> Texts(const std::vector<FieldError>& errors) {
  std::vector<std::string> out;
  for (const FieldError& e : errors) out.push_back(e.ToString());
  return out;
}

// T2
constexpr std::string_view kNoCredentials =
    "spec.fetchConfig.secretRef: Forbidden: is for oci alone; put a token for GitHub (key github-token) or GitLab "
    "(key gitlab-access-token) into the Secret of spec.configSecret, and name that of a git repository with "
    "git.secretRef";

// T15
TEST(Validate, GitSources) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"{fetchConfig: {git: {url: 'https://a/r', path: b/c, secretRef: {name: s}}}}", ""},
      {"{fetchConfig: {git: {url: 'https://me:pw@a/r'}}}",
       "spec.fetchConfig.git.url: Invalid value: a user or a password doesn't belong into it, but into the Secret "
       "of secretRef: write https://git.example.com/org/repository.git, "
       "ssh://git@git.example.com/org/repository.git, or git@git.example.com:org/repository.git"},
      {"{fetchConfig: {git: {url: 'https://a/r', path: ../b}}}",
       "spec.fetchConfig.git.path: Invalid value: \"../b\" is no folder of a repository: write one like "
       "releases/v1, without a slash before it and without \"..\""},
      {"{fetchConfig: {git: {url: 'ssh://git@a/r'}}}",
       "spec.fetchConfig.git.secretRef: Required value: a Secret with the keys identity and known_hosts, for a "
       "repository over ssh"},
      {"{fetchConfig: {git: {url: 'git@a:r', secretRef: {name: s}}}}", ""},
  };
  for (const auto& [spec, text] : cases) {
    auto errors = Validate(Make("InfrastructureProvider", "aws", spec), true);
    EXPECT_EQ(errors.empty() ? "" : errors[0].ToString(), text);
  }
}

// Each thing that is wrong, with its path, text and reason.
TEST(Validate, Table) {
  struct Case {
    std::string_view spec, text, reason;
  };
  const Case cases[] = {
      {"{}", "", ""},
      {"{version: v2.0.0, fetchConfig: {url: ''}}", "", ""},
      {"{version: v2}", "spec.version: Invalid value: \"v2\": illegal version string \"v2\"", "IncorrectVersionFormat"},
      {"{fetchConfig: {url: 'https://a', selector: {}}}",
       "spec.fetchConfig: Invalid value: Only one of Selector and URL must be provided, not both",
       "FetchConfigValidationError"},
      {"{fetchConfig: {oci: a, git: {url: b}}}",
       "spec.fetchConfig: Invalid value: Must specify one and only one of {oci, url, selector, git}",
       "FetchConfigValidationError"},
      {"{fetchConfig: {url: 'https://github.com/o/r/releases/latest/a.yaml', digest: 'sha256:AB'}}",
       "spec.fetchConfig.digest: Invalid value: \"sha256:AB\": must be sha256: and 64 lower-case hexadecimal digits",
       "InvalidSpec"},
      {"{fetchConfig: {url: 'https://github.com/o/r/releases/latest/a.yaml', secretRef: {name: k}}}", kNoCredentials,
       "InvalidSpec"},
      {"{configSecret: {name: My_Secret}}",
       "spec.configSecret.name: Invalid value: \"My_Secret\": must be a lower-case DNS-1123 subdomain", "InvalidSpec"},
      {"{configSecret: {name: ''}}", "spec.configSecret.name: Required value: name of the object", "InvalidSpec"},
      {"{additionalManifests: {name: m, namespace: a.b}}",
       "spec.additionalManifests.namespace: Invalid value: \"a.b\": must be a lower-case DNS-1123 label",
       "InvalidSpec"},
      {"{manager: {verbosity: -1}}",
       "spec.manager.verbosity: Invalid value: \"-1\": must be greater than or equal to 0", "InvalidSpec"},
      {"{manager: {webhook: {port: 65536}}}",
       "spec.manager.webhook.port: Invalid value: \"65536\": must be between 0 and 65535", "InvalidSpec"},
      {"{deployment: {replicas: -1}}",
       "spec.deployment.replicas: Invalid value: \"-1\": must be greater than or equal to 0", "InvalidSpec"},
      {"{deployment: {containers: [{name: a, image: {tag: v1}, imageUrl: b}]}}",
       "spec.deployment.containers[0].image: Forbidden: can't be set beside imageUrl", "InvalidSpec"},
      {"{additionalDeployments: {x: {deployment: {containers: [{name: a}, {}]}}}}",
       "spec.additionalDeployments[x].deployment.containers[1].name: Required value: name of the container",
       "InvalidSpec"},
      {"{rollout: {timeout: 0s}}", "spec.rollout.timeout: Invalid value: must be greater than 0", "InvalidSpec"},
      {"{patches: [{patch: '{}'}], manifestPatches: ['{}']}",
       "spec.patches: Forbidden: cannot use both 'patches' and 'manifestPatches'; please choose one",
       "ComponentsPatchError"},
      {"{patches: [{patch: '[]'}]}", "spec.patches[0].patch: Invalid value: is empty", "ComponentsPatchError"},
      {"{patches: [{patch: '[{op: nope, path: /a}]'}]}",
       "spec.patches[0].patch: Invalid value: operation 0: op \"nope\" is not add, remove, replace, move, copy or test",
       "ComponentsPatchError"},
      {"{patches: [{patch: '[{op: move, path: /a}]'}]}",
       "spec.patches[0].patch: Invalid value: operation 0: from is missing", "ComponentsPatchError"},
      {"{patches: [{patch: '{}', target: {labelSelector: 'a in'}}]}",
       "spec.patches[0].target.labelSelector: Invalid value: selector \"a in\": expected ( at byte 4",
       "ComponentsPatchError"},
      {"{manifestPatches: ['text']}", "spec.manifestPatches[0]: Invalid value: must be an object (merge patch)",
       "ComponentsPatchError"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    auto errors = Validate(Make("InfrastructureProvider", "aws", c.spec), true);
    if (c.text.empty()) {
      EXPECT_THAT(Texts(errors), IsEmpty());
      continue;
    }
    ASSERT_EQ(errors.size(), 1u) << testing::PrintToString(Texts(errors));
    EXPECT_EQ(errors[0].ToString(), c.text);
    EXPECT_EQ(errors[0].reason, c.reason);
    EXPECT_NE(FindReason(errors[0].reason), nullptr);
  }
}

TEST(Validate, WhatNamesOneReleaseAloneHasNoPolicy_U13) {
  constexpr const char* kPinned =
      "spec.upgradePolicy.type: Forbidden: spec.fetchConfig.oci, with its tag or digest, names one release alone: "
      "leave one of the two out";
  constexpr const char* kDigest =
      "spec.upgradePolicy.type: Forbidden: spec.fetchConfig.digest names one release alone: leave one of the two out";
  const std::string zeros(64, '0');
  const std::pair<std::string, std::string> cases[] = {
      {"{upgradePolicy: {type: Patch}}", ""},
      {"{upgradePolicy: {type: None}, fetchConfig: {oci: 'registry.example.org/p:v1.0.0'}}", ""},
      {"{upgradePolicy: {type: Patch}, fetchConfig: {oci: registry.example.org/p}}", ""},
      {"{upgradePolicy: {type: Patch}, fetchConfig: {oci: 'registry.example.org/p:v1.0.0'}}", kPinned},
      {"{upgradePolicy: {type: Patch}, fetchConfig: {oci: 'registry.example.org/p@sha256:" + zeros + "'}}", kPinned},
      {"{upgradePolicy: {type: Minor}, fetchConfig: {selector: {}, digest: 'sha256:" + zeros + "'}}", kDigest},
  };
  for (const auto& [spec, text] : cases) {
    SCOPED_TRACE(spec);
    auto errors = Validate(Make("InfrastructureProvider", "aws", spec), true);
    if (text.empty()) {
      EXPECT_THAT(Texts(errors), IsEmpty());
    } else {
      EXPECT_THAT(Texts(errors), testing::ElementsAre(text));
    }
  }
}

// T8: nothing but the name of a ServiceAccount can get into the name that requests are made in.
TEST(Validate, AServiceAccountIsAName) {
  for (const char* name : {"system:admin", "a/b", "Applier", "-"}) {
    auto errors =
        Validate(Make("InfrastructureProvider", "aws", std::string("{serviceAccountName: '") + name + "'}"), true);
    EXPECT_THAT(Texts(errors), ElementsAre("spec.serviceAccountName: Invalid value: \"" + std::string(name) +
                                           "\": must be a lower-case DNS-1123 subdomain"));
  }
  EXPECT_THAT(Validate(Make("InfrastructureProvider", "aws", "{serviceAccountName: applier}"), true), IsEmpty());
}

// F1, I15: a patch that leaves no object, whatever it is given, was taken, and the render refused it for each object.
TEST(Validate, APatchLeavesAnObject) {
  const std::pair<std::string, std::string> cases[] = {
      // operations, and which of them is refused
      {"{op: replace, path: '', value: text}", "0"},
      {"{op: replace, path: '', value: 1}", "0"},
      {"{op: replace, path: '', value: [{}]}", "0"},
      {"{op: replace, path: '', value: ~}", "0"},
      {"{op: test, path: /a, value: b}, {op: replace, path: '', value: []}, {op: add, path: /0, value: {}}", "1"},
      {"{op: replace, path: '', value: {}}, {op: replace, path: '', value: text}, {op: add, path: /a, value: {}}", "1"},
      {"{op: replace, path: '', value: ~}, {op: test, path: '', value: ~}", "0"},
      {"{op: replace, path: '', value: ~}, {op: add, path: /a, value: b}, {op: replace, path: '', value: 1}", "2"},
      // What is in the object, only the render can tell.
      {"{op: replace, path: '', value: {}}", ""},
      {"{op: replace, path: '', value: text}, {op: test, path: '', value: text}, {op: replace, path: '', value: {}}",
       ""},
      {"{op: replace, path: '', value: ~}, {op: add, path: /kind, value: ConfigMap}", ""},
      {"{op: replace, path: '', value: ~}, {op: copy, from: '', path: /kind}", ""},
      {"{op: replace, path: /kind, value: 1}", ""},
  };
  for (const auto& [operations, refused] : cases) {
    SCOPED_TRACE(operations);
    api::Provider provider = Make("InfrastructureProvider", "aws", "{}");
    provider.spec.patches = {{.patch = "[" + operations + "]"}};
    auto errors = Validate(provider, true);
    if (refused.empty()) {
      EXPECT_THAT(Texts(errors), IsEmpty());
      continue;
    }
    ASSERT_EQ(errors.size(), 1u) << testing::PrintToString(Texts(errors));
    EXPECT_EQ(errors[0].ToString(), "spec.patches[0].patch: Invalid value: operation " + refused +
                                        ": value must be an object, since it replaces the whole one");
  }
}

// I2, I16, I18: what nobody reads is refused before anything waits for it.
TEST(Validate, AUrlIsOneOnGitHubOrGitLab) {
  auto errors = [](const std::string& url) {
    return Validate(Make("InfrastructureProvider", "aws", "{fetchConfig: {url: '" + url + "'}}"), true);
  };
  for (const char* url : {"https://github.com/o/r/releases/latest/a.yaml",
                          "https://gitlab.com/api/v4/projects/g%2Fp/packages/generic/a/v1.0.0/a.yaml",
                          "https://code.example.org:8443/api/v4/projects/42/packages/generic/a/latest/a.yaml",
                          "https://files.example.org/capi/aws/latest/a.yaml"}) {
    EXPECT_THAT(Texts(errors(url)), IsEmpty()) << url;
  }
  for (const char* url : {"/releases/a.yaml", "http://gitlab.com/api/v4/projects/p/packages/generic/a/v1.0.0/a.yaml",
                          "https://gitlab.com/api/v4/projects/g/p/packages/generic/a/v1.0.0/a.yaml",
                          "https://gitlab.com/api/v4/projects/p/packages/npm/a/v1.0.0/a.yaml",
                          "https://gitlab.com/api/v4/projects/p/packages/generic/a/v1.0.0/",
                          "https://gitlab.com/api/v4/projects/../packages/generic/a/v1.0.0/a.yaml",
                          "https://gitlab.com/g/p/-/releases/v1.0.0/downloads/a.yaml",
                          "https://github.com.example.org/o/r/releases/latest/a.yaml", "http://github.com/o/r",
                          "http://files.example.org/aws/latest/a.yaml", "https://files.example.org/aws/a.yaml"}) {
    auto refused = errors(url);
    ASSERT_EQ(refused.size(), 1u) << url;
    EXPECT_EQ(refused[0].reason, reason::kInvalidSpec);
    EXPECT_THAT(
        refused[0].ToString(),
        StartsWith("spec.fetchConfig.url: Invalid value: \"" + std::string(url) +
                   "\": only releases on GitHub and GitLab, and in folders on servers, are supported: write "
                   "https://github.com/{owner}/{repository}/releases/{latest|version-tag}/{components.yaml} or "
                   "https://{host}/api/v4/projects/{project}/packages/generic/{package}/{latest|version}/"
                   "{components.yaml} or https://{host}/{path}/{latest|version}/{components.yaml}; no folder: it"));
  }
  // T6: what may be a password, or a signature that is as good as one, isn't told.
  const std::pair<const char*, const char*> secret[] = {
      {"https://u:s3cret@gitlab.com/api/v4/projects/p/packages/generic/a/v1.0.0/a.yaml", "user or a password can't"},
      {"https://u:s3cret@files.example.org/aws/latest/a.yaml", "user or a password can't"},
      {"https://u:s3c/ret@files.example.org/aws/latest/a.yaml", "user or a password can't"},
      {"https://files.example.org/aws/latest/a.yaml?X-Amz-Signature=s3cret", "so that a signed URL can't be taken"},
  };
  for (const auto& [url, why] : secret) {
    const std::string told = errors(url)[0].ToString();
    EXPECT_THAT(told, HasSubstr(why)) << url;
    EXPECT_THAT(told, Not(AnyOf(HasSubstr("s3c"), HasSubstr("u:"), HasSubstr("Amz")))) << url;
  }
  EXPECT_THAT(errors("https://files.example.org/aws/v1.0.0/a.txt")[0].ToString(),
              EndsWith("; no folder: its path doesn't end with a version, or latest, and a .yaml file"));
  EXPECT_THAT(errors("https://org.github.io/aws/v1.0.0/a.yaml")[0].ToString(),
              EndsWith("; no folder: it is like one of GitHub or GitLab, and isn't one"));
}

// T9: what names a registry, and the Secret for it.
TEST(Validate, ARegistryIsNamedByAReference) {
  const std::pair<const char*, const char*> cases[] = {
      {"{oci: 'http://registry.example:5000/a/b:v1.0.0'}", ""},
      {"{oci: registry.example/a, secretRef: {name: s}}", ""},
      {"{oci: registry.example/a, secretRef: {name: My_Secret}}",
       "spec.fetchConfig.secretRef.name: Invalid value: \"My_Secret\": must be a lower-case DNS-1123 subdomain"},
      {"{oci: a}",
       "spec.fetchConfig.oci: Invalid value: \"a\": it names no repository of a registry: write "
       "registry.example.com/org/provider, with :tag or @sha256:digest at its end"},
      {"{oci: 'me:s3cret@registry.example/a'}",
       "spec.fetchConfig.oci: Invalid value: a user or a password doesn't belong into it, but into OCI_USERNAME and "
       "OCI_PASSWORD: write registry.example.com/org/provider, with :tag or @sha256:digest at its end"},
  };
  for (const auto& [fetch, text] : cases) {
    auto errors = Validate(Make("InfrastructureProvider", "aws", fmt::format("{{fetchConfig: {}}}", fetch)), true);
    ASSERT_EQ(errors.size(), *text == 0 ? 0u : 1u) << fetch;
    if (!errors.empty()) EXPECT_EQ(errors[0].ToString(), text);
    if (!errors.empty()) EXPECT_EQ(errors[0].reason, reason::kInvalidSpec);
  }
}

// I5: with the texts that users of the reference know.
TEST(Validate, NamesAllThatIsWrong) {
  auto errors = Validate(Make("CoreProvider", "mine", "{version: one, configSecret: {name: A}}"), false);
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].detail, "could not parse \"one\" as version");
  EXPECT_EQ(errors[1].detail, "Incorrect CoreProvider name: mine. It should be cluster-api");
  EXPECT_EQ(errors[2].detail,
            "Either Selector, OCI URL or provider URL must be provided for a not predefined provider");
  EXPECT_EQ(errors[3].path, "spec.configSecret.name");
}

// I2: a registry is the built-in one, or that of the operator's configuration file.
TEST(Validate, AProviderThatARegistryKnowsNeedsNoSource) {
  api::Provider custom = Make("InfrastructureProvider", "my-custom-aws", "{version: v1.0.0}");
  EXPECT_THAT(Texts(Validate(custom, true)), IsEmpty());
  auto errors = Validate(custom, false);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "spec.fetchConfig");
  EXPECT_EQ(errors[0].reason, reason::kFetchConfigValidationError);
}

// The checks of the reference that need nothing but the object (I5).
TEST(Validate, PreflightVectors) {
  const Json cases = LoadCases("preflight.json");
  const std::set<std::string_view> ours = {reason::kIncorrectVersionFormat, reason::kIncorrectCoreProviderNameReason,
                                           reason::kFetchConfigValidationError};
  for (const Json& c : cases) {
    std::string id = c["id"];
    SCOPED_TRACE(id + " " + c["what"].get<std::string>());
    const Provider provider = FromJson(c["providers"][0]);
    auto errors = Validate(provider, FindKnownProvider(provider.id.type, provider.id.name) != nullptr);
    // The reference reads releases from elsewhere, too.
    std::erase_if(errors, [](const FieldError& error) { return error.path == "spec.fetchConfig.url"; });
    const Json* want = c.contains("want") && c["want"].is_object() ? &c["want"] : nullptr;
    if (want != nullptr && ours.contains((*want)["reason"].get<std::string>())) {
      ASSERT_FALSE(errors.empty());
      EXPECT_EQ(errors[0].reason, (*want)["reason"].get<std::string>());
      EXPECT_EQ(errors[0].detail, (*want)["message"].get<std::string>());
    } else if (id == "P12b") {
      EXPECT_EQ(errors.size(), 1u);  // the reference overlooks selector beside oci
    } else {
      EXPECT_THAT(Texts(errors), IsEmpty());
    }
  }
}

// F2: of a path, each step takes memory. What else there is to an operation: patch_operation_test.
TEST(Validate, OperationsOfPatchesAreBounded) {
  const std::string fits = "/" + std::string(16'383, 'a');
  const std::pair<std::string, std::string> cases[] = {
      {"op: remove, path: " + fits, ""},
      {"op: remove, path: " + fits + "a", "operation 0: path: it has more than 16384 bytes"},
      {"op: remove, path: " + std::string(1'001, '/'), "operation 0: path: it has more than 1000 steps"},
      {"op: move, path: /a, from: " + fits, ""},
  };
  for (const auto& [operation, message] : cases) {
    Provider provider = Make("CoreProvider", "cluster-api", "{}");
    provider.spec.patches = {{"[{" + operation + "}]", std::nullopt}};
    std::vector<std::string> expected;
    if (!message.empty()) expected = {"spec.patches[0].patch: Invalid value: " + message};
    EXPECT_EQ(Texts(Validate(provider, true)), expected);
  }
}

// F2: a few bytes can make gigabytes, and many patches as much as one.
TEST(Validate, PatchesAreBoundedTogether) {
  std::string aliases = "a: &a {b: c, d: e}\nl: [*a";
  for (int i = 0; i < 100'000; ++i) aliases += ",*a";
  std::string numbers = "l: [1";
  for (int i = 0; i < 60'000; ++i) numbers += ",1";
  Provider provider = Make("CoreProvider", "cluster-api", "{}");
  auto errors = [&](std::vector<std::string> patches) {
    provider.spec.manifest_patches = std::move(patches);
    return Texts(Validate(provider, true));
  };
  EXPECT_THAT(errors({numbers + "]"}), IsEmpty());
  EXPECT_THAT(errors({aliases + "]"}), ElementsAre(AllOf(testing::StartsWith("spec.manifestPatches[0]: "),
                                                         HasSubstr("more than 8388608 bytes of values up to here"))));
  EXPECT_THAT(errors({numbers + "]", numbers + "]", "a: 1"}),
              ElementsAre(HasSubstr("spec.manifestPatches[1]: Invalid value: the patches together hold more than"),
                          HasSubstr("spec.manifestPatches[2]: Invalid value: the patches together hold more than")));
}

// Patches that the reference refuses for their own form are refused; all others pass.
TEST(Validate, PatchVectors) {
  const Json cases = LoadCases("patches.json");
  const std::set<std::string> wrong_in_themselves = {"T013", "T028", "T041", "T043", "T044", "T046", "T047", "T049"};
  for (const Json& c : cases) {
    SCOPED_TRACE(c["id"].get<std::string>() + " " + c["what"].get<std::string>());
    Json object = c["provider"];
    object["spec"]["fetchConfig"] = {{"selector", Json::object()}};
    auto errors = Validate(FromJson(object), true);
    EXPECT_EQ(!errors.empty(), wrong_in_themselves.contains(c["id"])) << testing::PrintToString(Texts(errors));
    for (const FieldError& e : errors) EXPECT_EQ(e.reason, reason::kComponentsPatchError);
  }
}

// T1: every reference of the spec that names a namespace, and what it is for.
TEST(ForeignReferences, AreThoseToOtherNamespaces) {
  struct Case {
    std::string_view spec, path, kind = "Secret";
  };
  const Case cases[] = {
      {"{}", ""},
      {"{configSecret: {name: s}, additionalManifests: {name: s}}", ""},
      {"{configSecret: {name: s, namespace: ns}}", ""},
      {"{configSecret: {name: s, namespace: other}}", "spec.configSecret.namespace"},
      {"{additionalManifests: {name: s, namespace: other}}", "spec.additionalManifests.namespace", "ConfigMap"},
      {"{fetchConfig: {url: a, secretRef: {name: s, namespace: other}}}", "spec.fetchConfig.secretRef.namespace"},
      {"{fetchConfig: {git: {url: a, secretRef: {name: s, namespace: other}}}}",
       "spec.fetchConfig.git.secretRef.namespace"},
      {"{fetchConfig: {url: a, verify: {provider: cosign, secretRef: {name: s, namespace: other}}}}",
       "spec.fetchConfig.verify.secretRef.namespace"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.spec);
    auto found = ForeignReferences(Make("InfrastructureProvider", "aws", c.spec));
    ASSERT_EQ(found.size(), c.path.empty() ? 0u : 1u);
    if (found.empty()) continue;
    EXPECT_EQ(found[0], (ForeignReference{std::string(c.path), "other", std::string(c.kind), "s"}));
  }
}

// T14: who asks for another method isn't left without one.
TEST(Validate, Verify) {
  const std::pair<std::string_view, std::vector<std::string>> cases[] = {
      {"{provider: cosign, secretRef: {name: k}}", {}},
      {"{provider: notation, secretRef: {name: k}}",
       {"spec.fetchConfig.verify.provider: Unsupported value: \"notation\": supported values: \"cosign\""}},
      {"{secretRef: {name: k}}", {"spec.fetchConfig.verify.provider: Unsupported value: supported values: \"cosign\""}},
      {"{provider: cosign}", {"spec.fetchConfig.verify.secretRef.name: Required value: name of the object"}},
  };
  for (const auto& [verify, texts] : cases) {
    const std::string spec = fmt::format("{{fetchConfig: {{selector: {{}}, verify: {}}}}}", verify);
    EXPECT_EQ(Texts(Validate(Make("InfrastructureProvider", "aws", spec), true)), texts) << verify;
  }
}

// I9: with manager.debug the other manager fields can't change until it is off again.
TEST(ValidateUpdate, DebugHoldsTheManagerFields) {
  struct Case {
    std::string_view old_spec, new_spec;
    bool refused;
  };
  const Case cases[] = {
      {"{manager: {debug: true}}", "{manager: {debug: true}}", false},
      {"{manager: {debug: true}}", "{manager: {debug: true, verbosity: 3}}", true},
      {"{manager: {debug: true}}", "{manager: {verbosity: 3}}", false},
      {"{manager: {debug: true}}", "{}", false},
      {"{manager: {verbosity: 1}}", "{manager: {debug: true, verbosity: 3}}", false},
      {"{manager: {debug: true}}", "{manager: {debug: true}, paused: true}", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.new_spec);
    auto errors = ValidateUpdate(Make("CoreProvider", "cluster-api", c.old_spec),
                                 Make("CoreProvider", "cluster-api", c.new_spec));
    EXPECT_EQ(!errors.empty(), c.refused);
    if (c.refused) {
      EXPECT_EQ(errors[0].ToString(),
                "spec.manager: Forbidden: can't change while debug is true; set debug to false first");
    }
  }
}

}  // namespace
}  // namespace capi::api
