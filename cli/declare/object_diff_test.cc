#include "cli/declare/object_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::optional<kube::Object> Parsed(std::string_view yaml) {
  if (yaml.empty()) return std::nullopt;
  return kube::Object(*ParseYaml(yaml));
}

std::string Diff(std::string_view kind, std::string_view before, std::string_view after,
                 const MaskedValues& masked = {}) {
  return DiffOf({{"", std::string(kind), "n", "a"}, "v1", Parsed(before), Parsed(after)}, masked);
}

// L18.
TEST(DiffOf, AsKubectlPrintsIt) {
  EXPECT_EQ(Diff("ConfigMap", "{kind: ConfigMap, metadata: {name: a}, data: {k: x}}",
                 "{kind: ConfigMap, metadata: {name: a}, data: {k: z}}"),
            "diff -u -N LIVE/v1.ConfigMap.n.a MERGED/v1.ConfigMap.n.a\n--- LIVE/v1.ConfigMap.n.a\n"
            "+++ MERGED/v1.ConfigMap.n.a\n@@ -1,5 +1,5 @@\n data:\n-  k: x\n+  k: z\n kind: ConfigMap\n metadata:\n"
            "   name: a\n");
  EXPECT_THAT(Diff("ConfigMap", "", "{data: {k: x}}"), HasSubstr("@@ -0,0 +1,2 @@\n+data:\n+  k: x\n"));
  EXPECT_THAT(Diff("ConfigMap", "{data: {k: x}}", ""), HasSubstr("@@ -1,2 +0,0 @@\n-data:\n-  k: x\n"));
  EXPECT_EQ(DiffName({{"apps", "Deployment", "n", "a"}, "v1", {}, {}}), "apps.v1.Deployment.n.a");
}

TEST(DiffOf, WhatTheServerWritesIsNoDifference) {
  EXPECT_EQ(
      Diff("ConfigMap",
           "{metadata: {name: a, uid: u, resourceVersion: '1', generation: 1, managedFields: []}, status: {a: b}}",
           "{metadata: {name: a, resourceVersion: '2', generation: 2}}"),
      "");
}

TEST(DiffOf, ValuesOfSecretsAreMaskedAsKubectlDoes) {
  std::string diff = Diff("Secret", "{data: {same: c2FtZQ==, old: b2xk, other: b25l}}",
                          "{data: {same: c2FtZQ==, new: bmV3, other: dHdv}}");
  EXPECT_THAT(diff, HasSubstr("+  new: '***'\n"));
  EXPECT_THAT(diff, HasSubstr(" data:\n-  old: '***'\n-  other: '*** (before)'\n"));
  EXPECT_THAT(diff, HasSubstr("+  other: '*** (after)'\n"));
  EXPECT_THAT(diff, HasSubstr("   same: '***'\n"));
  for (std::string_view value : {"c2FtZQ==", "b2xk", "bmV3", "b25l", "dHdv"}) EXPECT_THAT(diff, Not(HasSubstr(value)));
  // What kubectl apply keeps beside it has the values, too.
  EXPECT_EQ(Diff("Secret", "{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: sesame}}}",
                 "{metadata: {annotations: {}}}"),
            "");
}

TEST(DiffOf, ValuesOfVariablesAreMaskedWhereverTheyStand) {
  MaskedValues masked;
  for (const char* value : {"sesame", "sesame-and-more", "true", "1"}) masked.Add(value);
  std::string diff = Diff("ConfigMap", "{data: {a: 'key=sesame-and-more;x=1', b: former, c: 'true'}, d: [sesame]}",
                          "{data: {a: 'key=sesame-and-more;x=1', b: sesame, c: 'true'}, e: [x, sesame]}", masked);
  EXPECT_THAT(diff, HasSubstr("   a: key=***;x=1\n"));
  EXPECT_THAT(diff, HasSubstr("-  b: '*** (before)'\n+  b: '*** (after)'\n"));  // the former one was a value, too
  EXPECT_THAT(diff, HasSubstr("   c: \"true\"\n"));
  EXPECT_THAT(diff, Not(HasSubstr("sesame")));
  EXPECT_THAT(diff, Not(HasSubstr("former")));
}

}  // namespace
}  // namespace capi::cli
