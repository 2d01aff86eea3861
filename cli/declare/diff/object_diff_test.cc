#include "cli/declare/diff/object_diff.h"

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
  EXPECT_EQ(Diff("ConfigMap",
                 "{metadata: {name: a, uid: u, resourceVersion: '1', generation: 1, managedFields: [], selfLink: x, "
                 "annotations: {deployment.kubernetes.io/revision: '3'}}, status: {a: b}}",
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

TEST(DiffOf, ValuesThatYamlHasChangedAreMasked) {
  MaskedValues masked;
  for (const char* value : {"4711", "0x1F40", "1.10e3", "first line of it\n  second line\n", "12", "off"})
    masked.Add(value);
  std::string diff = Diff("Thing", "{spec: {a: 4711, b: 8000, c: 5, d: 12, e: false, f: first line of it second line}}",
                          "{spec: {a: 4711, b: 1, c: 1100, d: 13, e: true, f: first line of it}}", masked);
  EXPECT_THAT(diff, HasSubstr("   a: '***'\n"));
  EXPECT_THAT(diff, HasSubstr("-  b: '*** (before)'\n"));
  EXPECT_THAT(diff, HasSubstr("+  c: '*** (after)'\n"));
  EXPECT_THAT(diff, HasSubstr("+  d: 13\n"));  // two characters are no secret
  EXPECT_THAT(diff, HasSubstr("+  e: true\n"));
  for (std::string_view value : {"4711", "8000", "1100", "first", "second"}) EXPECT_THAT(diff, Not(HasSubstr(value)));
}

TEST(DiffOf, ValuesInLabelsAndAnnotationsAreMasked) {
  MaskedValues masked;
  masked.Add("sesame");
  std::string diff =
      Diff("Thing", "{metadata: {name: sesame, annotations: {a: x sesame, b: was}, labels: {l: sesame}}}",
           "{metadata: {name: sesame, annotations: {b: sesame}, labels: {l: sesame, m: c2VzYW1l}}}", masked);
  EXPECT_THAT(diff, HasSubstr("-    a: x ***\n-    b: '*** (before)'\n+    b: '*** (after)'\n"));
  EXPECT_THAT(diff, HasSubstr("     l: '***'\n+    m: '***'\n"));
  EXPECT_THAT(diff, HasSubstr("   name: sesame\n"));  // who the object is
  EXPECT_THAT(diff, Not(HasSubstr("was")));
}

// L18: as the operator writes it into a Secret where YAML would take it for a number.
TEST(MaskedValues, AQuotedValueStandsWithoutItsQuotes) {
  MaskedValues masked;
  for (const char* value : {"'90210'", "'{sesame'", "' '"}) masked.Add(value);
  EXPECT_EQ(masked.Mask("90210 {sesame"), "*** ***");
}

}  // namespace
}  // namespace capi::cli
