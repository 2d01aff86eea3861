#include "fetch/oci/pull.h"

#include <fmt/format.h>

#include <algorithm>

#include "fetch/download.h"
#include "fetch/oci/blob.h"
#include "fetch/oci/running_digest.h"

namespace capi::fetch {
namespace {

constexpr Seconds kBlobTime = std::chrono::minutes(30);  // for all of one
constexpr size_t kMaxConfiguration = 4u << 20;           // bytes
constexpr int kMostTries = 4;                            // that bring nothing new

}  // namespace

OciPull::OciPull(api::OciReference reference, OciOptions options)
    : reference_(std::move(reference)), registry_(reference_, std::move(options)) {}

Result<std::string> OciPull::Manifest(const Context& ctx, const std::string& which) {
  auto response =
      TRY(registry_.Get(ctx, fmt::format("{}/manifests/{}", registry_.base(), which), kImageTypes, kMaxImageManifest));
  TRY(CheckIsNoPage(response.body));
  return std::move(response.body);
}

Result<OciImage> OciPull::Image(const Context& ctx, const std::vector<Platform>& platforms) {
  const std::string tag = reference_.tag.empty() ? "latest" : reference_.tag;
  std::string text = TRY(Manifest(ctx, reference_.digest.empty() ? tag : reference_.digest));
  if (!reference_.digest.empty()) TRY(CheckOciDigest(reference_.digest, text));
  auto image =
      TRY(ReadOciImage(std::move(text), platforms, [&](const std::string& digest) { return Manifest(ctx, digest); }));
  if (!platforms.empty() && image.manifests.size() == 1) TRY(CheckIsFor(ctx, platforms, image));
  if (reference_.digest.empty() || image.digest() == reference_.digest) return image;
  return Error{Code::kInvalidArgument,
               "it is named by a digest, which is that of all its platforms: leave out --platform, or name it by a tag",
               {}};
}

// One without an index: nobody would notice before its program is started.
Status OciPull::CheckIsFor(const Context& ctx, const std::vector<Platform>& platforms, const OciImage& image) {
  const std::string digest = TRY(ConfigurationOf(image));
  const auto size = static_cast<std::int64_t>(image.blobs.at(digest));
  const std::string configuration =
      TRY(ReadOciBlob(ctx, registry_, {"its configuration", digest, size, kMaxConfiguration}));
  return CheckPlatforms(configuration, platforms);
}

Status OciPull::Blob(const Context& whole, const std::string& digest, std::uint64_t size,
                     const std::function<Status(std::string_view piece)>& take) {
  const Context ctx = whole.WithTimeout(kBlobTime);
  RunningDigest sum;
  std::uint64_t taken = 0;
  for (int tries = 0; taken < size;) {
    std::uint64_t seen = 0, before = taken;  // of this answer
    auto take_new = [&](std::string_view piece) -> Status {
      const std::uint64_t known = std::min<std::uint64_t>(taken - std::min(taken, seen), piece.size());
      seen += piece.size();
      if (seen > size)
        return Error{Code::kFailedPrecondition, fmt::format("{} has more bytes than it should", digest), {}};
      piece.remove_prefix(static_cast<size_t>(known));
      sum.Add(piece);
      taken += piece.size();
      return piece.empty() ? Ok() : take(piece);
    };
    auto got = registry_.Ask(ctx, {.method = "GET",
                                   .url = fmt::format("{}/blobs/{}", registry_.base(), digest),
                                   .accept = "application/octet-stream, */*",
                                   .on_data = take_new,
                                   .time = kBlobTime});
    TRY(whole.Check());
    if (!got.ok() && !IsAway(got.code())) return got.error();
    if (taken == before && ++tries == kMostTries)
      return got.ok() ? Error{Code::kUnavailable, fmt::format("{} of {} bytes of {} came", taken, size, digest), {}}
                      : got.error();
  }
  if (sum.Text() == digest) return Ok();
  return Error{Code::kFailedPrecondition, fmt::format("what came does not have the digest {}", digest), {}};
}

}  // namespace capi::fetch
