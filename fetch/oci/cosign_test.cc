// What the real cosign has put beside an artifact (testdata/cosign), as it is read from a registry.
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/files.h"
#include "fetch/oci/oci_testing.h"
#include "verify/artifact.h"

namespace capi::fetch {
namespace {

// T14: an annotation says so: without it a refusal would be told as one of the keys alone.
TEST(RealCosign, ItsCertificateIsSeen_T14) {
  for (const std::string name : {"artifact", "artifact-certificate"}) {
    const std::string tagged = ReadFile("testdata/cosign/" + name + ".tagged.json", 1u << 20).value();
    const std::string payload = ReadFile("testdata/cosign/" + name + ".payload.json", 1u << 20).value();
    OciStandIn registry{std::map<std::string, OciArtifact>{{"v1.0.0", PlainArtifact()}}};
    registry.set_registry_fault([&](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (request.path.ends_with(".sig")) return OciAnswer(200, tagged);
      if (request.path.ends_with("/blobs/sha256:" + Sha256Hex(payload))) return OciAnswer(200, payload);
      return std::nullopt;
    });
    auto found = registry.Open()->SignaturesOf(Context{}, api::Version::Parse("v1.0.0").value(), "metadata.yaml");
    ASSERT_TRUE(found.ok()) << found.error().message;
    const auto artifact = verify::SignedArtifact::Parse(found->at(std::string(api::kArtifactKey))).value();
    ASSERT_EQ(artifact.signatures.size(), 1u);
    EXPECT_EQ(artifact.signatures[0].payload, payload);
    EXPECT_EQ(artifact.signatures[0].keyless, name == "artifact-certificate");
  }
}

}  // namespace
}  // namespace capi::fetch
