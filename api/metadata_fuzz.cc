// metadata.yaml: what the strict reader takes, the lenient one reads alike; every series is found by its version.
#include "api/release.h"
#include "base/fuzz.h"

CAPI_FUZZ(metadata, "api",
          {"apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
           "- {major: 1, minor: 2, contract: v1beta1}\n- {major: 1, minor: 3, contract: v1beta2}\n",
           "apiVersion: other/v1\nreleaseSeries: [{major: 1.0, minor: -1}]\n", "releaseSeries: {}", "- a", "kind: ["}) {
  using namespace capi::api;
  auto strict = Metadata::Parse(input, "infrastructure-p"), lenient = Metadata::ParseLenient(input);
  if (!strict.ok()) {
    const std::string& message = strict.error().message;
    FUZZ_REQUIRE(message.starts_with("error decoding \"metadata.yaml\"") ||
                 message.starts_with("invalid provider metadata: "));
    return;
  }
  FUZZ_REQUIRE(lenient.ok() && lenient->series.size() == strict->series.size());
  for (const ReleaseSeries& series : strict->series) {
    Version version;
    version.major = series.major;
    version.minor = series.minor;
    FUZZ_REQUIRE(strict->ContractOf(version).has_value());
    const ReleaseSeries* newest = strict->NewestWith(series.contract);
    FUZZ_REQUIRE(newest != nullptr && newest->contract == series.contract);
    FUZZ_REQUIRE(std::pair(newest->major, newest->minor) >= std::pair(series.major, series.minor));
  }
}
