#include "releases/verified.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/encoding.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "fetch/download.h"
#include "fetch/forwarding.h"
#include "fetch/oci/manifest.h"
#include "verify/artifact.h"
#include "verify/bundle.h"

namespace capi::releases {
namespace {

using verify::NotVerified;

constexpr size_t kMostKept = 20;  // files of which the signatures are kept

// One of a release's two files. A value.
struct SignedFile {
  std::string_view key;  // api::kMetadataKey or kComponentsKey
  std::string_view text;
  const api::ProviderId& id;
  const api::Version& version;
};

// The artifact is signed as a whole; it has to have this text as that file. Which file that is, is said by titles, as
// where it is fetched.
Status CheckInArtifact(const verify::PublicKeys& keys, const SignedFile& file, std::string_view proof) {
  const auto artifact = TRY(verify::SignedArtifact::Parse(proof));
  TRY(verify::CheckArtifact(keys, artifact));
  const std::string name =
      file.key == api::kMetadataKey ? std::string(fetch::kMetadataFile) : fetch::TypedComponents(file.id.type);
  const auto files = TRY(fetch::ReadOciManifest(artifact.manifest));
  const auto named = TRY(fetch::ChooseFile(files, fetch::TitlesOf(file.id.type, file.id.name, file.version, name)));
  if (named.digest == "sha256:" + Sha256Hex(file.text)) return Ok();
  return NotVerified(fmt::format("the signed artifact has another {}", named.title));
}

// One signature of one key is enough.
Status CheckFile(const verify::PublicKeys& keys, const SignedFile& file, const api::Signatures& signatures) {
  verify::Message message(file.text);
  std::vector<std::string> why;
  auto take = [&](const std::string& key, Status checked) {
    if (!checked.ok()) why.push_back(fmt::format("{}: {}", key, checked.error().message));
    return checked.ok();
  };
  for (const auto& [key, text] : signatures) {
    if (key == api::kArtifactKey) {
      if (take(key, CheckInArtifact(keys, file, text))) return Ok();
    } else if (key.starts_with(file.key) && take(key, verify::CheckFileSignature(keys, message, text))) {
      return Ok();
    }
  }
  if (why.empty()) {
    return NotVerified(
        fmt::format("the {} have no signature: none of the keys {}.sigstore.json, {}.bundle and {}.sig "
                    "is there",
                    file.key, file.key, file.key, file.key));
  }
  return NotVerified(fmt::format("the {} aren't verified: {}", file.key, Join(why, "; ")));
}

// Thread-safe.
class Verified : public fetch::ForwardingRepository {
 public:
  Verified(std::unique_ptr<fetch::Repository> repository, const verify::PublicKeys& keys, api::ProviderId id)
      : ForwardingRepository(std::move(repository)), keys_(keys), id_(std::move(id)) {}

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    std::string text = TRY(inner().File(ctx, version, name));
    auto signatures = SignaturesOf(ctx, version, name);
    // The file is there: what isn't is no reason to look for another version.
    if (!signatures.ok() && signatures.code() == Code::kNotFound) return NotVerified(signatures.error().message);
    if (!signatures.ok()) return signatures.error();
    const std::string_view key = name == fetch::kMetadataFile ? api::kMetadataKey : api::kComponentsKey;
    Status checked = CheckFile(keys_, {key, text, id_, version}, *signatures);
    // The one that counts may be among those that couldn't be read.
    if (!checked.ok() && signatures->unread) {
      Error unread = *signatures->unread;
      unread.message += fmt::format("; of those that were read, {}", checked.error().message);
      return unread;
    }
    TRY_WITH(checked, fmt::format("{} {}", Describe(), version.ToString()));
    signatures->unread.reset();  // one is enough
    Keep(version, name, *std::move(signatures));
    return text;
  }

  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version,
                                       std::string_view name) override {
    {
      MutexLock lock(mu_);
      if (auto kept = signatures_.find({version.ToString(), std::string(name)}); kept != signatures_.end())
        return kept->second;
    }
    api::Signatures found = TRY(inner().SignaturesOf(ctx, version, name));
    if (!found.unread) Keep(version, name, found);
    return found;
  }

 private:
  void Keep(const api::Version& version, std::string_view name, api::Signatures signatures) {
    MutexLock lock(mu_);
    if (signatures_.size() >= kMostKept) signatures_.clear();
    signatures_[{version.ToString(), std::string(name)}] = std::move(signatures);
  }

  const verify::PublicKeys& keys_;
  const api::ProviderId id_;
  Mutex mu_;
  std::map<std::pair<std::string, std::string>, api::Signatures> signatures_ CAPI_GUARDED_BY(mu_);
};

}  // namespace

Status Verify(const verify::PublicKeys& keys, const api::ProviderId& id, const api::Release& release) {
  for (const auto& [key, text] : {std::pair(api::kMetadataKey, std::string_view(release.metadata)),
                                  std::pair(api::kComponentsKey, std::string_view(release.components))}) {
    TRY_WITH(CheckFile(keys, {key, text, id, release.version}, release.signatures), release.source);
  }
  return Ok();
}

std::unique_ptr<fetch::Repository> VerifiedRepository(std::unique_ptr<fetch::Repository> repository,
                                                      const verify::PublicKeys& keys, api::ProviderId id) {
  return std::make_unique<Verified>(std::move(repository), keys, std::move(id));
}

}  // namespace capi::releases
