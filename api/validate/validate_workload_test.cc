#include "api/validate/validate_workload.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> ErrorsOf(const std::string& spec) {
  auto provider = ParseProvider(kube::Object({{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
                                              {"kind", "InfrastructureProvider"},
                                              {"metadata", {{"name", "aws"}, {"namespace", "ns"}}},
                                              {"spec", ParseYaml(spec).value()}}));
  EXPECT_TRUE(provider.ok()) << spec << provider.error().message;
  std::vector<std::string> out;
  if (!provider.ok()) return out;
  for (const FieldError& error : Validate(*provider, /*known=*/true)) out.push_back(error.ToString());
  return out;
}

// I15: what Kubernetes' own validation would say of the Deployment, with the same words and paths below ours.
TEST(ValidateWorkload, Tolerations) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{operator: Like, key: a}", ".operator: Unsupported value: \"Like\": supported values: \"Equal\", \"Exists\""},
      {"{key: a, effect: Never}",
       ".effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
      {"{operator: Exists, key: a, value: b}",
       ".operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"},
      {"{operator: Equal}",
       ".operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all "
       "values "
       "and all keys\""},
      {"{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}",
       ".effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"},
      {"{key: 'a b', operator: Exists}", ".key: Invalid value: \"a b\": must be the key of a label"},
      {"{key: a, value: 'b c'}", ".operator: Invalid value: \"b c\": value must be the value of a label"},
  };
  for (const auto& [toleration, error] : wrong) {
    EXPECT_THAT(ErrorsOf(fmt::format("{{deployment: {{tolerations: [{{operator: Exists}}, {}]}}}}", toleration)),
                ElementsAre("spec.deployment.tolerations[1]" + error));
    EXPECT_THAT(
        ErrorsOf(fmt::format("{{additionalDeployments: {{d: {{deployment: {{tolerations: [{}]}}}}}}}}", toleration)),
        ElementsAre("spec.additionalDeployments[d].deployment.tolerations[0]" + error));
  }
  for (const char* right :
       {"{operator: Exists}", "{key: a}", "{key: a.b/c, operator: Equal, value: d, effect: PreferNoSchedule}",
        "{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 0}", "{key: a, operator: Gt, value: '5'}"}) {
    EXPECT_THAT(ErrorsOf(fmt::format("{{deployment: {{tolerations: [{}]}}}}", right)), IsEmpty()) << right;
  }
  EXPECT_THAT(ErrorsOf("{deployment: {tolerations: []}}"), IsEmpty());
}

// I15: a manager with them ends as it starts.
TEST(ValidateWorkload, Ports) {
  const std::string paths[] = {"metrics.bindAddress", "metrics.diagnosticsAddress", "health.healthProbeBindAddress",
                               "profilerAddress"};
  for (const std::string& path : paths) {
    const size_t dot = path.find('.');
    auto manager = [&](const std::string& address) {
      return dot == path.npos
                 ? fmt::format("{{manager: {{{}: '{}'}}}}", path, address)
                 : fmt::format("{{manager: {{{}: {{{}: '{}'}}}}}}", path.substr(0, dot), path.substr(dot + 1), address);
    };
    EXPECT_THAT(ErrorsOf(manager(":65536")),
                ElementsAre(fmt::format(
                    "spec.manager.{}: Invalid value: \":65536\": its port must be between 0 and 65535", path)));
    EXPECT_THAT(ErrorsOf(manager("localhost")),
                ElementsAre(fmt::format("spec.manager.{}: Invalid value: \"localhost\": must be an address and a port, "
                                        "like \":8443\", or \"0\" for none",
                                        path)));
    for (const char* right : {"", "0", ":8080", "localhost:65535", "[::1]:1", ":http"}) {
      EXPECT_THAT(ErrorsOf(manager(right)), IsEmpty()) << path << " " << right;
    }
  }
  EXPECT_THAT(ErrorsOf("{manager: {webhook: {port: 65536}}}"),
              ElementsAre("spec.manager.webhook.port: Invalid value: \"65536\": must be between 0 and 65535"));
  EXPECT_THAT(ErrorsOf("{manager: {webhook: {port: 65535}}}"), IsEmpty());
}

// I15: client-go's own rules.
TEST(ValidateWorkload, TimesOfAnElection) {
  const std::pair<std::string, std::string> wrong[] = {
      {"{leaseDuration: 10s, renewDeadline: 10s}",
       "leaseDuration: Invalid value: \"10s\": must be greater than renewDeadline"},
      {"{renewDeadline: 12s, retryPeriod: 10s}",
       "renewDeadline: Invalid value: \"12s\": must be greater than 1.2 times retryPeriod"},
      {"{leaseDuration: 0s}", "leaseDuration: Invalid value: \"0s\": must be greater than 0"},
      {"{renewDeadline: -1s}", "renewDeadline: Invalid value: \"-1s\": must be greater than 0"},
      {"{retryPeriod: 0s, leaderElect: true}", "retryPeriod: Invalid value: \"0s\": must be greater than 0"},
  };
  for (const auto& [election, error] : wrong) {
    EXPECT_THAT(ErrorsOf(fmt::format("{{manager: {{leaderElection: {}}}}}", election)),
                ElementsAre("spec.manager.leaderElection." + error));
  }
  for (const char* right : {"{}", "{leaseDuration: 15s, renewDeadline: 10s, retryPeriod: 2s}", "{leaseDuration: 5s}",
                            "{leaderElect: false, leaseDuration: 1s, renewDeadline: 1s}"}) {
    EXPECT_THAT(ErrorsOf(fmt::format("{{manager: {{leaderElection: {}}}}}", right)), IsEmpty()) << right;
  }
}

}  // namespace
}  // namespace capi::api
