#include "releases/verified.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/encoding.h"
#include "verify/artifact.h"
#include "verify/keys_testing.h"

namespace capi::releases {
namespace {

using ::testing::HasSubstr;
using verify::KeyPair;
using verify::PublicKeys;

constexpr char kMetadata[] = "kind: Metadata\n", kComponents[] = "kind: Namespace\n";
const api::ProviderId kId{api::ProviderType::kInfrastructure, "capa-system", "aws"};

const KeyPair& Signer() {
  static const KeyPair pair("P-256");
  return pair;
}

const PublicKeys& Keys() {
  static const PublicKeys keys = PublicKeys::Read({{"a.pub", Signer().PublicPem()}}).value();
  return keys;
}

std::string Sign(std::string_view text) { return Base64Encode(Signer().Sign(text)); }

api::Release SignedRelease() {
  return {.version = api::Version::Parse("v1.2.3").value(),
          .metadata = kMetadata,
          .components = kComponents,
          .source = "ConfigMap a/b",
          .signatures = {{"metadata.sig", Sign(kMetadata)}, {"components.sig", Sign(kComponents)}}};
}

std::string Check(const api::Release& release) {
  Status verified = Verify(Keys(), kId, release);
  if (verified.ok()) return "";
  EXPECT_EQ(verified.code(), Code::kFailedPrecondition);
  return verified.error().message;
}

// T14: both files, each by a signature of its own.
TEST(Verify, AsksForASignatureOfBothFiles) {
  EXPECT_EQ(Check(SignedRelease()), "");
  const struct {
    const char* what;
    std::function<void(api::Release&)> change;
    const char* error;
  } cases[] = {
      {"no signatures", [](auto& r) { r.signatures.clear(); }, "the metadata have no signature"},
      {"of the metadata alone", [](auto& r) { r.signatures.erase("components.sig"); },
       "ConfigMap a/b: the components have no signature: none of the keys components.sigstore.json, "
       "components.bundle and components.sig is there"},
      {"of the components alone", [](auto& r) { r.signatures.erase("metadata.sig"); },
       "the metadata have no signature"},
      {"exchanged", [](auto& r) { std::swap(r.signatures["metadata.sig"], r.signatures["components.sig"]); },
       "the metadata aren't verified: metadata.sig: none of the keys (a.pub)"},
      {"other metadata", [](auto& r) { r.metadata += " "; }, "the metadata aren't verified"},
      {"other components", [](auto& r) { r.components += " "; }, "the components aren't verified"},
      {"empty", [](auto& r) { r.signatures["components.sig"] = ""; }, "components.sig: it is empty"},
      {"a key of neither",
       [](auto& r) {
         r.signatures = {{"x.sig", Sign(kMetadata)}};
       },
       "have no signature"},
  };
  for (const auto& c : cases) {
    api::Release release = SignedRelease();
    c.change(release);
    EXPECT_THAT(Check(release), HasSubstr(c.error)) << c.what;
  }
  api::Release two = SignedRelease();
  two.signatures["components.bundle"] = "{}";
  EXPECT_EQ(Check(two), "") << "one that counts is enough";
}

// T14: every bit of a release counts.
TEST(Verify, RefusesAReleaseWithAnotherBit) {
  const api::Release good = SignedRelease();
  for (auto member : {&api::Release::metadata, &api::Release::components}) {
    for (size_t bit = 0; bit < (good.*member).size() * 8; ++bit) {
      api::Release changed = good;
      char& c = (changed.*member)[bit / 8];
      c = static_cast<char>(c ^ (1 << (bit % 8)));
      EXPECT_NE(Check(changed), "") << bit;
    }
  }
}

std::string Layer(std::string_view title, std::string_view text) {
  return fmt::format(R"({{"digest":"sha256:{}","size":{},"annotations":{{"org.opencontainers.image.title":"{}"}}}})",
                     Sha256Hex(text), text.size(), title);
}

api::Signatures Artifact(const std::vector<std::string>& layers) {
  std::string manifest = R"({"schemaVersion":2,"layers":[)";
  for (const std::string& layer : layers) manifest += (manifest.back() == '[' ? "" : ",") + layer;
  manifest += "]}";
  const std::string payload =
      fmt::format(R"({{"critical":{{"image":{{"docker-manifest-digest":"sha256:{}"}},"type":"cosign container image )"
                  R"(signature"}}}})",
                  Sha256Hex(manifest));
  const verify::SignedArtifact artifact{manifest, {{"", payload, Sign(payload), false}}};
  return {{std::string(api::kArtifactKey), artifact.ToText()}};
}

// T14: of an artifact that is signed as a whole, the files of this provider and version.
TEST(Verify, FindsBothFilesInASignedArtifact) {
  const std::string metadata = Layer("metadata.yaml", kMetadata), components = Layer("components.yaml", kComponents);
  const struct {
    const char* what;
    std::vector<std::string> layers;
    const char* error;
  } cases[] = {
      {"both", {metadata, components}, ""},
      {"by full names",
       {Layer("infrastructure-aws-v1.2.3-metadata.yaml", kMetadata),
        Layer("infrastructure-aws-v1.2.3-components.yaml", kComponents), Layer("components.yaml", "x")},
       ""},
      {"of another provider",
       {metadata, Layer("infrastructure-azure-v1.2.3-components.yaml", kComponents), Layer("components.yaml", "x")},
       "the signed artifact has another components.yaml"},
      {"of another version",
       {metadata, Layer("infrastructure-aws-v1.2.4-components.yaml", kComponents)},
       "no file with"},
      {"other metadata", {Layer("metadata.yaml", "x"), components}, "the signed artifact has another metadata.yaml"},
      {"no metadata", {components}, "no file with the title"},
      {"exchanged", {Layer("metadata.yaml", kComponents), Layer("components.yaml", kMetadata)}, "has another"},
  };
  for (const auto& c : cases) {
    api::Release release = SignedRelease();
    release.signatures = Artifact(c.layers);
    if (*c.error == '\0') {
      EXPECT_EQ(Check(release), "") << c.what;
    } else {
      EXPECT_THAT(Check(release), HasSubstr(c.error)) << c.what;
    }
  }
}

class Files : public fetch::Repository {
 public:
  explicit Files(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  std::string Describe() const override { return "somewhere"; }
  std::string ComponentsFile() const override { return "c.yaml"; }
  Result<std::vector<api::Version>> Versions(const Context&) override {
    return std::vector<api::Version>{SignedRelease().version};
  }
  Result<std::string> File(const Context&, const api::Version&, std::string_view name) override {
    ++asked[std::string(name)];
    if (broken == name) return Error{Code::kRateLimited, "wait", Seconds(5)};
    auto file = files_.find(std::string(name));
    if (file == files_.end()) return Error{Code::kNotFound, "no such file", {}};
    return file->second;
  }
  void Put(const std::string& name, std::string text) { files_[name] = std::move(text); }
  std::map<std::string, int> asked;
  std::string broken;

 private:
  std::map<std::string, std::string> files_;
};

std::map<std::string, std::string> SignedFiles() {
  return {{"metadata.yaml", kMetadata},
          {"metadata.yaml.sig", Sign(kMetadata)},
          {"c.yaml", kComponents},
          {"c.yaml.sig", Sign(kComponents)}};
}

// I3: versions without metadata hide none.
TEST(VerifiedRepository, AsksForThoseThatAreReleased_I3) {
  class Tags : public Files {
   public:
    Tags() : Files(SignedFiles()) {}
    Result<std::vector<api::Version>> Versions(const Context&) override {
      return std::vector<api::Version>{{.major = 2}};
    }
    Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context& ctx) override {
      return std::optional(TRY(Files::Versions(ctx)));
    }
    Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
      if (version.major == 2) return Error{Code::kNotFound, "no such release", {}};
      return Files::File(ctx, version, name);
    }
  };
  auto latest = fetch::LatestVersion({}, *VerifiedRepository(std::make_unique<Tags>(), Keys(), kId), {});
  ASSERT_TRUE(latest.ok()) << latest.error().message;
  EXPECT_EQ(*latest, SignedRelease().version);
}

// T14: nothing is given out that isn't verified, and what it was verified by comes with it.
TEST(VerifiedRepository, GivesVerifiedFilesWithTheirSignatures) {
  auto files = std::make_unique<Files>(SignedFiles());
  Files& inner = *files;
  auto repository = VerifiedRepository(std::move(files), Keys(), kId);
  auto release = fetch::GetRelease(Context{}, *repository, SignedRelease().version, true);
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->signatures.size(), 2u);
  EXPECT_EQ(Check(*release), "") << "as it is kept";
  for (const auto& [name, count] : inner.asked) EXPECT_EQ(count, 1) << name;
  EXPECT_TRUE(fetch::LatestVersion(Context{}, *repository, {"v1beta1"}).ok());
}

TEST(VerifiedRepository, RefusesWhatIsNotVerified) {
  const struct {
    const char* what;
    std::map<std::string, std::string> changes;
    const char* error;
  } cases[] = {
      {"no signature",
       {{"c.yaml.sig", "-"}},
       "somewhere v1.2.3 has no signature of c.yaml: none of the files c.yaml.sigstore.json, c.yaml.bundle, "
       "c.yaml.sig"},
      {"of another file", {{"c.yaml.sig", Sign(kMetadata)}}, "somewhere v1.2.3: the components aren't verified"},
      {"empty", {{"metadata.yaml.sig", ""}}, "the metadata aren't verified: metadata.sig: it is empty"},
      {"another file", {{"metadata.yaml", "kind: Metadata"}}, "the metadata aren't verified"},
  };
  for (const auto& c : cases) {
    auto texts = SignedFiles();
    for (const auto& [name, text] : c.changes) texts[name] = text;
    std::erase_if(texts, [](const auto& file) { return file.second == "-"; });
    auto repository = VerifiedRepository(std::make_unique<Files>(texts), Keys(), kId);
    auto release = fetch::GetRelease(Context{}, *repository, SignedRelease().version, true);
    ASSERT_FALSE(release.ok()) << c.what;
    EXPECT_EQ(release.code(), Code::kFailedPrecondition) << c.what;
    EXPECT_THAT(release.error().message, HasSubstr(c.error)) << c.what;
  }
}

// T14: also the choice of a version: it reads the metadata.
TEST(VerifiedRepository, ChoosesNoVersionByMetadataOfAnybody) {
  auto texts = SignedFiles();
  texts["metadata.yaml.sig"] = Sign("other");
  auto repository = VerifiedRepository(std::make_unique<Files>(texts), Keys(), kId);
  auto latest = fetch::LatestVersion(Context{}, *repository, {"v1beta1"});
  ASSERT_FALSE(latest.ok());
  EXPECT_EQ(latest.code(), Code::kFailedPrecondition);
}

// A ConfigMap couldn't have it, and it is none.
TEST(VerifiedRepository, TakesNothingElseForASignature) {
  for (const std::string& text : {std::string(40'000, 'A'), std::string("\xff\xfe")}) {
    auto texts = SignedFiles();
    texts["c.yaml.bundle"] = text;
    auto repository = VerifiedRepository(std::make_unique<Files>(texts), Keys(), kId);
    auto release = fetch::GetRelease(Context{}, *repository, SignedRelease().version, true);
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_FALSE(release->signatures.contains("components.bundle"));
    texts.erase("c.yaml.sig");
    repository = VerifiedRepository(std::make_unique<Files>(texts), Keys(), kId);
    release = fetch::GetRelease(Context{}, *repository, SignedRelease().version, true);
    ASSERT_FALSE(release.ok());
    EXPECT_EQ(release.code(), Code::kFailedPrecondition);
    EXPECT_THAT(release.error().message, HasSubstr("c.yaml.bundle is no signature"));
  }
}

// A source that is away isn't one without signatures; where one can be had, it does (T14).
TEST(VerifiedRepository, TellsAnOutageFromNoSignature) {
  auto texts = SignedFiles();
  texts.erase("c.yaml.sig");
  auto files = std::make_unique<Files>(texts);
  files->broken = "c.yaml.bundle";
  auto repository = VerifiedRepository(std::move(files), Keys(), kId);
  auto release = fetch::GetRelease(Context{}, *repository, SignedRelease().version, true);
  ASSERT_FALSE(release.ok());
  EXPECT_EQ(release.code(), Code::kRateLimited);

  files = std::make_unique<Files>(SignedFiles());
  files->broken = "c.yaml.bundle";
  repository = VerifiedRepository(std::move(files), Keys(), kId);
  EXPECT_TRUE(fetch::GetRelease(Context{}, *repository, SignedRelease().version, true).ok());
}

// T14: one of a former key was read, and the one that counts wasn't. Nor is that kept: with the next look it is there.
TEST(VerifiedRepository, AnOutageOfTheOneThatCountsIsNoRefusal) {
  auto texts = SignedFiles();
  texts["c.yaml.sigstore.json"] = "{}";
  texts["c.yaml.sig"] = Sign("of a former key");
  auto files = std::make_unique<Files>(texts);
  Files& inner = *files;
  inner.broken = "c.yaml.bundle";
  auto repository = VerifiedRepository(std::move(files), Keys(), kId);
  auto file = repository->File(Context{}, SignedRelease().version, "c.yaml");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.code(), Code::kRateLimited) << file.error().message;
  EXPECT_EQ(file.error().retry_after, Seconds(5));
  EXPECT_THAT(file.error().message, HasSubstr("wait; of those that were read, the components aren't verified: "));
  inner.Put("c.yaml.sigstore.json", std::string(40'000, 'a'));
  file = repository->File(Context{}, SignedRelease().version, "c.yaml");
  EXPECT_EQ(file.code(), Code::kRateLimited) << "what is too large is so with each try";
  inner.Put("c.yaml.sigstore.json", "{}");
  inner.broken = "";
  inner.Put("c.yaml.sig", Sign(kComponents));
  EXPECT_TRUE(repository->File(Context{}, SignedRelease().version, "c.yaml").ok());
}

// T14: who keeps a release for others doesn't look which of its signatures counts, so it needs them all. With those
// that could be read `preload` said that it had put the release into the cluster, where the operator refused it then.
TEST(GetRelease, IsNoneWithPartOfItsSignatures_T14_L25) {
  Files files(SignedFiles());
  files.broken = "c.yaml.bundle";
  auto release = fetch::GetRelease(Context{}, files, SignedRelease().version, true);
  ASSERT_FALSE(release.ok());
  EXPECT_EQ(release.code(), Code::kRateLimited);
  EXPECT_TRUE(fetch::GetRelease(Context{}, files, SignedRelease().version).ok());
  files.broken = "";
  EXPECT_EQ(fetch::GetRelease(Context{}, files, SignedRelease().version, true)->signatures.size(), 2u);
}

// What it was verified by comes with it, though the source is away by then.
TEST(VerifiedRepository, KeepsWhatAFileWasVerifiedBy_T14) {
  auto files = std::make_unique<Files>(SignedFiles());
  Files& inner = *files;
  inner.broken = "c.yaml.bundle";
  auto repository = VerifiedRepository(std::move(files), Keys(), kId);
  ASSERT_TRUE(repository->File(Context{}, SignedRelease().version, "c.yaml").ok());
  inner.broken = "c.yaml.sig";
  auto signatures = repository->SignaturesOf(Context{}, SignedRelease().version, "c.yaml");
  ASSERT_TRUE(signatures.ok()) << signatures.error().message;
  EXPECT_TRUE(signatures->contains("components.sig"));
}

}  // namespace
}  // namespace capi::releases
