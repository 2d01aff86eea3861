#include "local/node/container_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

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

// G3: a status has no value that the user passes on.
TEST(ValuesToHide, AreThoseThatTheUserNames) {
  EXPECT_THAT(ValuesToHide({"PATH=/bin", "AWS_KEY=abc=def", "HTTPS_PROXY=http://u:p@proxy", "NO_PROXY=.local", "odd"}),
              testing::ElementsAre("abc=def", "http://u:p@proxy"));
}

}  // namespace
}  // namespace capi::local
