#include "operator/report/provider_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const api::ProviderId kAws{api::ProviderType::kInfrastructure, "aws-system", "aws"};
const api::ProviderId kAzure{api::ProviderType::kInfrastructure, "azure-system", "azure"};

std::string Line(const std::string& name, const std::string& rest) {
  return name + R"({kind="InfrastructureProvider",name="aws",namespace="aws-system")" + rest + "\n";
}

TEST(ProviderMetrics, TellWhatIsInstalledOnce) {
  kube::Metrics metrics;
  ProviderMetrics measured(metrics);
  api::Provider aws{.id = kAws};
  api::ProviderStatus status;
  status.installed_version = "v1.0.0";
  status.contract = "v1beta1";
  status.conditions = {{.type = "Ready", .status = "True"}, {.type = "Paused", .status = "True", .reason = "Paused"}};
  status.available_upgrades = {{"v1.1.0", "v1beta1"}, {"v2.0.0", "v1beta2"}};
  measured.Show(aws, status);
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("capi_operator_provider_available_upgrades", "} 2"))) << "U12";
  const std::string info =
      "capi_operator_provider_info{contract=\"v1beta1\",kind=\"InfrastructureProvider\",latest=\"\",";
  EXPECT_THAT(metrics.Text(), HasSubstr(info + R"(name="aws",namespace="aws-system",version="v1.0.0"} 1)"));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("capi_operator_provider_ready", "} 1")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("capi_operator_provider_stalled", "} 0")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("capi_operator_provider_paused", "} 0")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("capi_operator_provider_drift_corrected_total", "} 0")));
  status.installed_version = "v1.1.0";
  measured.Show(aws, status);
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(version="v1.1.0"} 1)"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("v1.0.0"))) << "a provider has one version";
  measured.Knows(kAws, "v1.2.0");
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(latest="v1.2.0",name="aws")"));
  measured.Show(aws, status);
  measured.Knows(kAws, "v1.3.0");
  EXPECT_THAT(metrics.Text(), HasSubstr(R"(latest="v1.3.0",name="aws")"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("v1.2.0"))) << "and one newest version: series don't pile up";
}

// One that is to run again, and is held at zero by the contract rules, counted as paused: no alert told of it.
TEST(ProviderMetrics, PausedIsWhatTheUserPauses) {
  kube::Metrics metrics;
  ProviderMetrics measured(metrics);
  const auto shows = [&](bool paused, const std::string& reason, bool hands_off = false) {
    api::Provider provider{.id = kAws};
    provider.spec.paused = paused;
    if (hands_off) provider.annotations[std::string(api::kAnnotationPaused)] = "";
    api::ProviderStatus status;
    if (!reason.empty()) status.conditions = {{.type = "Paused", .status = "True", .reason = reason}};
    measured.Show(provider, status);
    return metrics.Text().find(Line("capi_operator_provider_paused", "} 1")) != std::string::npos;
  };
  EXPECT_TRUE(shows(true, ""));
  EXPECT_TRUE(shows(true, "Paused"));
  EXPECT_FALSE(shows(false, "Paused"));
  EXPECT_TRUE(shows(false, "", true)) << "by the annotation, though no pass has said so yet";
  EXPECT_FALSE(shows(false, "HandsOff")) << "it is gone, and nothing can be seen";
  EXPECT_FALSE(shows(false, ""));
}

TEST(ProviderMetrics, CountDriftAndTimes) {
  kube::Metrics metrics;
  ProviderMetrics measured(metrics);
  measured.Restored(kAws, 0);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("drift_corrected")));
  measured.Restored(kAws, 3);
  EXPECT_THAT(metrics.Text(), HasSubstr(Line("capi_operator_provider_drift_corrected_total", "} 3")));
  measured.Took(kAws, {{Phase::kRender, Millis(20)}, {Phase::kApply, Seconds(2)}});
  measured.Took(kAws, {{Phase::kRender, Millis(200)}});
  const std::string name = "capi_operator_provider_phase_duration_seconds";
  EXPECT_THAT(metrics.Text(), HasSubstr(Line(name + "_count", R"(,phase="render"} 2)")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line(name + "_bucket", R"(,phase="render",le="0.05"} 1)")));
  EXPECT_THAT(metrics.Text(), HasSubstr(Line(name + "_sum", R"(,phase="apply"} 2)")));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr(R"(phase="fetch")")));
}

// A fleet that changes would leave series for good.
TEST(ProviderMetrics, NothingIsLeftOfWhatIsGone) {
  kube::Metrics metrics;
  ProviderMetrics measured(metrics);
  for (const api::ProviderId& id : {kAws, kAzure}) {
    measured.Knows(id, "v1.0.0");
    measured.Show({.id = id}, {});
    measured.Restored(id, 1);
    measured.Took(id, {{Phase::kReconcile, Seconds(1)}, {Phase::kFetch, Seconds(1)}});
  }
  measured.Forget(kAws);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("\"aws\"")));
  EXPECT_THAT(metrics.Text(), HasSubstr("\"azure\""));
  measured.Forget(kAws);
  measured.Forget(kAzure);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("capi_operator_provider")));
}

}  // namespace
}  // namespace capi::ops
