#include "base/testing/vectors.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/files.h"

namespace capi {
namespace {

constexpr std::string_view kFolder = "testdata/vectors";  // tests run in the tree's root

// {file, cases, test}
constexpr VectorFile kFiles[] = {
    {"cert-manager-upgrade.json", 35, "cli/cert_manager/decision_test.cc"},
    {"contract-gate.json", 11, "cli/frame/management_cluster_test.cc"},
    {"crd-migration.json", 6, "lifecycle/plan/crd_stages_test.cc"},
    {"customisation.json", 155, "templating/customise/customise_vectors_test.cc"},
    {"delete.json", 8, "lifecycle/plan/removal_test.cc"},
    {"envsubst.json", 658, "templating/envsubst/template_test.cc"},
    {"image-overrides.json", 58, "templating/customise/images_test.cc"},
    {"image-reference.json", 65, "templating/customise/images_test.cc"},
    {"latest.json", 39, "fetch/repository_test.cc"},
    {"metadata.json", 29, "api/release_test.cc"},
    {"namespace.json", 93, "templating/render_vectors_test.cc"},
    {"oci-files.json", 17, "fetch/oci/manifest_test.cc"},
    {"oci-reference.json", 28, "api/validate/oci_reference_test.cc"},
    {"patches.json", 52, "templating/patch/patch_vectors_test.cc"},
    {"plural.json", 347, "api/plural_test.cc"},
    {"semver-compare.json", 20, "api/version_test.cc"},
    {"semver-strict.json", 61, "api/version_test.cc"},
    {"semver-tolerant.json", 61, "api/version_test.cc"},
    {"template.json", 174, "templating/substitute_test.cc"},
    {"yaml-split.json", 43, "base/yaml/yaml_test.cc"},
};

// {file, test, what}, sorted
constexpr VectorsInPart kInPart[] = {
    {"cli.json", "cli/upgrade/upgrade_vectors_test.cc", "the rule of skipped versions"},
    {"cli.json", "cli/vectors_test.cc"},
    {"components-corpus.json", "e2e/scenarios/clusterctl_test.cc"},
    {"components-corpus.json", "templating/render_corpus_test.cc"},
    {"customisation.json", "api/parse_provider_test.cc", "its objects"},
    {"install-validation.json", "cli/install/validate_test.cc"},
    {"install-validation.json", "operator/decide/contract_vectors_test.cc"},
    {"patches.json", "api/parse_provider_test.cc", "its objects"},
    {"patches.json", "api/validate/validate_test.cc"},
    {"preflight.json", "api/parse_provider_test.cc", "its objects"},
    {"preflight.json", "api/validate/validate_test.cc"},
    {"provider-config.json", "api/release_test.cc", "its list of providers"},
    {"provider-config.json", "cli/vectors_test.cc"},
    {"provider-reference.json", "cli/upgrade/upgrade_vectors_test.cc"},
    {"provider-reference.json", "cli/vectors_test.cc"},
    {"repository-url.json", "cli/vectors_test.cc"},
    {"repository-url.json", "fetch/folders/folder_test.cc"},
    {"repository-url.json", "fetch/github/module_proxy_test.cc"},
    {"repository-url.json", "fetch/url_test.cc"},
    {"upgrade-info.json", "cli/upgrade/upgrade_vectors_test.cc"},
    {"upgrade-plan.json", "cli/upgrade/upgrade_vectors_test.cc"},
    {"upgrade-plan.json", "operator/decide/contract_vectors_test.cc"},
};

// Does `check` fail? What it reports is kept from the test.
bool Fails(const VectorCheck& check, const Json& vectors, const Json& test_case) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check(vectors, test_case);
  }
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) return true;
  }
  return false;
}

size_t CountSuperseded(std::string_view file) {
  size_t count = 0;
  for (const Superseded& entry : SupersededVectors()) count += entry.file == file;
  return count;
}

}  // namespace

Json LoadVectors(const std::string& file) {
  auto text = ReadFile(std::string(kFolder) + "/" + file);
  auto json = text.ok() ? ParseJson(*text) : Result<Json>(text.error());
  if (!json.ok()) {
    std::fprintf(stderr, "%s: %s (tests run in the tree's top folder)\n", file.c_str(), json.error().message.c_str());
    std::abort();
  }
  const Json* cases = Find(*json, {"cases"});
  if (cases == nullptr || !cases->is_array() || cases->empty()) {
    std::fprintf(stderr, "%s: no cases\n", file.c_str());
    std::abort();
  }
  return std::move(json).value();
}

Json LoadCases(const std::string& file) { return std::move(LoadVectors(file)["cases"]); }

std::span<const VectorFile> VectorFiles() { return kFiles; }
std::span<const VectorsInPart> VectorFilesReadInPart() { return kInPart; }

const Superseded* FindSuperseded(std::string_view file, std::string_view id) {
  for (const Superseded& entry : SupersededVectors()) {
    if (entry.file == file && entry.id == id) return &entry;
  }
  return nullptr;
}

void RunVector(const std::string& file, const Json& vectors, const Json& test_case, const VectorCheck& reference,
               const VectorCheck& ours) {
  auto id = test_case["id"].get<std::string>();
  SCOPED_TRACE(file + " " + id + " " + GetString(test_case, {"what"}));
  const Superseded* entry = FindSuperseded(file, id);
  if (entry == nullptr) return reference(vectors, test_case);
  EXPECT_TRUE(Fails(reference, vectors, test_case))
      << "we do what the reference does: " << entry->rule << " supersedes nothing";
  if (ours) ours(vectors, test_case);
}

void RunVectors(const std::string& file, const VectorCheck& reference, const VectorCheck& ours,
                const std::optional<VectorPart>& part) {
  const Json vectors = LoadVectors(file);
  size_t superseded = 0, ran = 0;
  std::set<std::string> ids;
  for (const Json& c : vectors["cases"]) {
    auto id = c["id"].get<std::string>();
    EXPECT_TRUE(ids.insert(id).second) << file << " has two cases " << id;
    if (FindSuperseded(file, id) != nullptr) ++superseded;
    if (part && !part->has(vectors, c)) continue;
    ++ran;
    RunVector(file, vectors, c, reference, ours);
  }
  EXPECT_EQ(superseded, CountSuperseded(file))
      << "base/testing/superseded_vectors.cc names cases that " << file << " hasn't";
  EXPECT_GT(ran, 0u) << file;
  if (part) EXPECT_EQ(ran, part->cases) << file;
  for (const VectorFile& known : kFiles) {
    if (known.name != file) continue;
    EXPECT_EQ(ids.size(), known.cases);
  }
}

}  // namespace capi
