// behaviour.md I19, on every release of the set: what it asks of cert-manager can be done without it, except for the
// one whose annotations nobody has filled in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/release_folder.h"
#include "lifecycle/certificates/issue.h"
#include "lifecycle/certificates/requests.h"
#include "templating/testing/release_text.h"

namespace capi::certificates {
namespace {

using ::testing::HasSubstr;

TEST(CertificatesOfReleases, AreCarriedOutOrRefusedByName) {
  size_t certificates = 0, injections = 0;
  for (const api::ReleaseFolder& folder : api::AllReleases()) {
    SCOPED_TRACE(folder.Id());
    std::vector<kube::Object> objects;
    for (const Json& json : templating::ReadReleaseText(folder.Components()).objects) objects.emplace_back(json);
    auto read = ReadRequests(objects);
    if (folder.Label() == "infrastructure-tinkerbell") {
      ASSERT_FALSE(read.ok());
      EXPECT_THAT(read.error().message, HasSubstr("metadata.annotations[cert-manager.io/inject-ca-from]"));
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.error().message;
    for (const Request& request : read->certificates) {
      EXPECT_EQ(*ParseRequest(ToText(request)), request);
      EXPECT_EQ(Decide(request, std::nullopt, {.now = WallTime(Seconds(1'800'000'000))}).step, Step::kIssue);
    }
    certificates += read->certificates.size();
    injections += read->injections.size();
  }
  EXPECT_GT(certificates, 0u);
  EXPECT_GT(injections, certificates);
}

}  // namespace
}  // namespace capi::certificates
