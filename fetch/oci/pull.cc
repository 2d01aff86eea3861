#include "fetch/oci/pull.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "fetch/download.h"
#include "fetch/oci/blob.h"
#include "fetch/oci/tries.h"

namespace capi::fetch {
namespace {

constexpr Seconds kBlobTime = std::chrono::minutes(30);  // for all of one
constexpr size_t kMaxConfiguration = 4u << 20;           // bytes

}  // namespace

OciPull::OciPull(api::OciReference reference, OciOptions options)
    : reference_(std::move(reference)), registry_(reference_, std::move(options)) {}

Result<std::string> OciPull::Manifest(const Context& ctx, const std::string& which) {
  const std::string url = fmt::format("{}/manifests/{}", registry_.base(), which);
  auto response = TRY(WithTries(ctx, [&] { return registry_.Get(ctx, url, kImageTypes, kMaxImageManifest); }));
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
  const std::string configuration = TRY(WithTries(ctx, [&] {
    return ReadOciBlob(ctx, registry_, {"its configuration", digest, size, kMaxConfiguration});
  }));
  return CheckPlatforms(configuration, platforms);
}

Status OciPull::Blob(const Context& whole, const std::string& digest, std::uint64_t size,
                     const std::function<Status(std::string_view piece)>& take) {
  const Context ctx = whole.WithTimeout(kBlobTime);
  RunningSha256 sum;
  std::uint64_t taken = 0;
  auto take_new = [&](std::string_view piece) -> Status {
    sum.Add(piece);
    taken += piece.size();
    return piece.empty() ? Ok() : take(piece);
  };
  for (Tries tries; taken < size;) {
    const std::uint64_t before = taken;
    auto got = BlobFrom(ctx, digest, size, taken, take_new);
    TRY(whole.Check());
    if (taken == size && got.ok()) break;
    if (!got.ok() && !IsAway(got.code())) return got.error();
    if (taken > before) {
      tries.Reset();
    } else {
      const Error less{Code::kUnavailable, fmt::format("{} of {} bytes of {} came", taken, size, digest), {}};
      TRY(tries.Next(ctx, got.ok() ? less : got.error()));
    }
  }
  if ("sha256:" + sum.Hex() == digest) return Ok();
  return Error{Code::kFailedPrecondition, fmt::format("what came does not have the digest {}", digest), {}};
}

// What isn't the part that was asked for hasn't the digest in the end.
Status OciPull::BlobFrom(const Context& ctx, const std::string& digest, std::uint64_t size, std::uint64_t from,
                         const std::function<Status(std::string_view piece)>& take) {
  constexpr int kPart = 206;
  std::uint64_t at = 0;  // where the next piece of the answer is
  OciCall call{.method = "GET",
               .url = fmt::format("{}/blobs/{}", registry_.base(), digest),
               .accept = "application/octet-stream, */*",
               .time = kBlobTime};
  if (from > 0) call.headers.Set("Range", fmt::format("bytes={}-", from));
  call.on_head = [&](int status) { at = status == kPart ? from : 0; };
  call.on_data = [&](std::string_view piece) -> Status {
    const std::uint64_t known = std::min<std::uint64_t>(from - std::min(from, at), piece.size());
    at += piece.size();
    if (at > size) return Error{Code::kFailedPrecondition, fmt::format("{} has more bytes than it should", digest), {}};
    piece.remove_prefix(static_cast<size_t>(known));
    return take(piece);
  };
  TRY(registry_.Ask(ctx, call));
  return Ok();
}

}  // namespace capi::fetch
