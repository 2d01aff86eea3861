#include "cli/install/validate.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "base/testing/vectors.h"

namespace capi::cli {
namespace {

std::vector<InstalledProvider> ProvidersOf(const Json& list) {
  std::vector<InstalledProvider> out;
  for (const Json& p : list) {
    out.push_back({api::KindByName(GetString(p, {"type"}))->type, GetString(p, {"name"}), GetString(p, {"namespace"}),
                   GetString(p, {"version"})});
  }
  return out;
}

// As the vectors' repositories have it.
Result<std::string> ContractIn(const Json& repositories, const InstalledProvider& provider) {
  std::string label = api::ManifestLabel(provider.type, provider.name);
  const Json* series = Find(repositories, {label, "metadata", provider.version});
  if (series == nullptr) {
    return NoMetadata(provider, Error{Code::kNotFound,
                                      "failed to read \"metadata.yaml\" from the repository for provider \"" + label +
                                          "\": unable to get file metadata.yaml for version " + provider.version,
                                      {}});
  }
  api::Metadata metadata;
  for (const Json& one : *series) {
    auto version = api::Version::ParseTolerant(GetString(one, {"series"}));
    metadata.series.push_back({version->major, version->minor, GetString(one, {"contract"})});
  }
  return ContractInMetadata(provider, metadata);
}

// The reference prints a list of two contracts in random order.
std::string InOneOrder(std::string text) { return ReplaceAll(std::move(text), "v1beta1, v1beta2", "v1beta2, v1beta1"); }

// L10, C1.
TEST(ValidateInstall, FollowsTheVectors) {
  const Json vectors = LoadVectors("install-validation.json");
  for (const Json& c : vectors.at("cases")) {
    SCOPED_TRACE(GetString(c, {"id"}));
    const Json& given = c.at("repositories");
    const Json& repositories = given.is_string() ? vectors.at("default_repositories") : given;
    auto contract_of = [&](const InstalledProvider& provider) { return ContractIn(repositories, provider); };
    Status got = ValidateInstall(ProvidersOf(c.at("installed")), ProvidersOf(c.at("queue")), contract_of);
    EXPECT_EQ(got.ok() ? "" : InOneOrder(got.error().message), InOneOrder(GetString(c, {"error"})));
  }
}

}  // namespace
}  // namespace capi::cli
