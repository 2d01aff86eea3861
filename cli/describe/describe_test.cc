#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/describe/api_testing.h"
#include "cli/testing.h"

namespace capi::cli::describe {
namespace {

using testing::HasSubstr;

const std::string kCore = "/apis/cluster.x-k8s.io/v1beta2/namespaces/ns/";
const std::string kOperator = "/apis/operator.cluster.x-k8s.io/v1alpha2/";
const std::string kInventory = "/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers";

// The whole command on a server of which a test says what it answers.
struct Commands {
  FakeCluster fake;
  TestFolder folder;

  Commands() {
    Json stored = {{"name", "v1beta2"}, {"storage", true}};
    fake.objects["/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.cluster.x-k8s.io"] =
        Json{{"kind", "CustomResourceDefinition"}, {"spec", {{"versions", Json::array({stored})}}}};
    folder.Put("config", fmt::format("{{apiVersion: v1, kind: Config, current-context: a, "
                                     "contexts: [{{name: a, context: {{cluster: a, namespace: ns}}}}], "
                                     "clusters: [{{name: a, cluster: {{server: 'http://{}'}}}}]}}",
                                     fake.address()));
    fake.selector = "";
  }
  Outcome Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "describe");
    return Clusterctl(arguments, {{"KUBECONFIG", folder / "config"}, {"HOME", folder.path()}});
  }
};

// L15: what the cluster has is printed; or nothing, where a part of it can't be known.
TEST(DescribeCommands, ACluster) {
  Commands commands;
  FakeCluster& fake = commands.fake;
  EXPECT_THAT(commands.Run({"cluster", "c"}).err, HasSubstr("Error: the server's words"));
  fake.objects[kCore + "clusters/c"] = {
      {"kind", "Cluster"},
      {"metadata", {{"name", "c"}, {"namespace", "ns"}}},
      {"spec", {{"infrastructureRef", {{"apiGroup", "i.x"}, {"kind", "Infra"}, {"name", "i"}}}}}};
  for (const char* plural : {"machines", "machinedeployments", "machinesets", "machinepools"})
    fake.lists[kCore + plural] = {};
  Outcome outcome = commands.Run({"cluster", "c"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\nCluster/c "));
  EXPECT_EQ(outcome.err, "Warning: Infra/i is left out: the server's words\n");
  EXPECT_EQ(ParseJson(commands.Run({"cluster", "c", "-o", "json"}).out).value()["name"], "c");
  EXPECT_THAT(commands.Run({"cluster", "c", "-o", "yaml"}).out, HasSubstr("name: c\n"));

  fake.failures["/apis/apiextensions.k8s.io/v1/customresourcedefinitions/infras.i.x"] = 400;
  outcome = commands.Run({"cluster", "c"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "Error: the server's words\n");
  fake.failures[kCore + "machines"] = 403;
  EXPECT_THAT(commands.Run({"cluster", "c"}).err, HasSubstr("failed to list machines in namespace ns"));
}

// L16: what a person has no right to read is told, and the rest is printed all the same.
TEST(DescribeCommands, Providers) {
  Commands commands;
  FakeCluster& fake = commands.fake;
  for (const char* plural : {"deployments", "daemonsets", "statefulsets"}) {
    fake.lists[fmt::format("/apis/apps/v1/{}", plural)] = {};
    fake.lists[fmt::format("/apis/apps/v1/namespaces/other/{}", plural)] = {};
  }
  EXPECT_EQ(commands.Run({"providers"}).out,
            "There are no providers in the cluster: `clusterctl init` installs them.\n");
  EXPECT_EQ(commands.Run({"providers", "-n", "other"}).out, "There are no providers in namespace other.\n");
  fake.failures[kInventory] = 403;
  EXPECT_EQ(commands.Run({"providers"}).out, "No provider was found, but clusterctl's inventory can't be read.\n");
  fake.failures.clear();
  fake.lists[kInventory] = {{{"kind", "Provider"},
                             {"metadata", {{"name", "infrastructure-docker"}, {"namespace", "capd"}}},
                             {"providerName", "docker"},
                             {"type", "InfrastructureProvider"},
                             {"version", "v1.12.0"}}};
  EXPECT_EQ(commands.Run({"providers", "-o", "name"}).out,
            "provider.clusterctl.cluster.x-k8s.io/infrastructure-docker\n");
  EXPECT_EQ(commands.Run({"providers", "-n", "other", "-o", "name"}).out, "");
  for (const char* plural : {"deployments", "daemonsets", "statefulsets"})
    fake.failures[fmt::format("/apis/apps/v1/{}", plural)] = 403;
  Outcome outcome = commands.Run({"providers"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("its workloads can't be read"));
  fake.lists[kOperator + "coreproviders"] = {
      {{"kind", "CoreProvider"}, {"metadata", {{"name", "cluster-api"}, {"namespace", "capi"}}}}};
  EXPECT_THAT(commands.Run({"providers"}).out,
              HasSubstr("the Deployments with the label app.kubernetes.io/name=capi-operator can't be\n"));
  EXPECT_THAT(outcome.err, HasSubstr("Warning: Deployments with the label cluster.x-k8s.io/provider can't be read, and "
                                     "aren't told: the server's words"));
  fake.failures[kInventory] = 400;
  outcome = commands.Run({"providers"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("failed to list clusterctl's inventory"));
  fake.failures[kOperator + "coreproviders"] = 403;
  EXPECT_THAT(commands.Run({"providers"}).err, HasSubstr("Error: failed to list coreproviders"));
  outcome = commands.Run({"providers", "--watch"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Error: failed to list coreproviders")) << "it has never begun";
}

}  // namespace
}  // namespace capi::cli::describe
