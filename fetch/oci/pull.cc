#include "fetch/oci/pull.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.h"
#include "fetch/download.h"
#include "fetch/oci/blob.h"

namespace capi::fetch {
namespace {

constexpr Seconds kRequestTime = std::chrono::hours(24);
constexpr std::uint64_t kProgress = 1u << 20;                // bytes that renew the time and the tries
constexpr Seconds kProgressTime = std::chrono::minutes(30);  // for so many
constexpr size_t kMaxConfiguration = 4u << 20;               // bytes

// A proxy or a store may refuse to give a part, where it gives all.
bool RefusesParts(int status) { return status == 400 || status == 416 || status == 501; }

}  // namespace

OciPull::OciPull(api::OciReference reference, OciOptions options, BeforeWait before_wait)
    : reference_(std::move(reference)),
      registry_(reference_, std::move(options)),
      before_wait_(std::move(before_wait)) {}

Result<std::string> OciPull::Manifest(const Context& ctx, const std::string& which) {
  const std::string url = fmt::format("{}/manifests/{}", registry_.base(), which);
  auto response =
      TRY(WithTries(ctx, before_wait_, [&] { return registry_.Get(ctx, url, kImageTypes, kMaxImageManifest); }));
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
  const std::string configuration = TRY(WithTries(ctx, before_wait_, [&] {
    return ReadOciBlob(ctx, registry_, {"its configuration", digest, size, kMaxConfiguration});
  }));
  return CheckPlatforms(configuration, platforms);
}

Status OciPull::Blob(const Context& ctx, const std::string& digest, std::uint64_t size,
                     const std::function<Status(std::string_view piece)>& take) {
  RunningSha256 sum;
  Tries tries(before_wait_);
  std::uint64_t taken = 0, renewed = 0, came = 0;  // came: since then
  MonoTime since = ctx.clock->Monotonic();
  auto error = [&](Code code) {
    return Error{code, fmt::format("{} of {} bytes of {} came", taken, size, digest), {}};
  };
  auto take_new = [&](std::string_view piece, size_t known) -> Status {
    came += piece.size();
    const MonoTime now = ctx.clock->Monotonic();
    if (came < kProgress && now - since > kProgressTime) return error(Code::kUnavailable).With("it is too slow");
    if (came >= kProgress) came = 0, since = now;
    piece.remove_prefix(known);
    sum.Add(piece);
    taken += piece.size();
    if (taken - renewed >= kProgress) {
      tries.Reset();
      renewed = taken;
    }
    return piece.empty() ? Ok() : take(piece);
  };
  for (bool by_range = true; taken < size;) {
    const std::uint64_t before = taken;
    int status = 0;
    came = 0;
    since = ctx.clock->Monotonic();
    auto got = BlobFrom(ctx, {digest, size, before, by_range}, status, take_new);
    if (taken == size && got.ok()) break;
    if (by_range && before > 0 && RefusesParts(status)) {
      by_range = false;
      continue;
    }
    TRY(tries.Next(ctx, got.ok() ? error(Code::kUnavailable) : got.error()));
  }
  if ("sha256:" + sum.Hex() == digest) return Ok();
  return Error{Code::kFailedPrecondition, fmt::format("what came does not have the digest {}", digest), {}};
}

// What isn't the part that was asked for hasn't the digest in the end.
Status OciPull::BlobFrom(const Context& ctx, const Part& part, int& status,
                         const std::function<Status(std::string_view piece, size_t known)>& take) {
  constexpr int kPart = 206;
  std::uint64_t at = 0;  // where the next piece of the answer is
  OciCall call{.method = "GET",
               .url = fmt::format("{}/blobs/{}", registry_.base(), part.digest),
               .accept = "application/octet-stream, */*",
               .time = kRequestTime};
  if (part.from > 0 && part.by_range) call.headers.Set("Range", fmt::format("bytes={}-", part.from));
  call.on_head = [&](int seen) {
    status = seen;
    at = status == kPart ? part.from : 0;
  };
  call.on_data = [&](std::string_view piece) -> Status {
    const std::uint64_t known = std::min<std::uint64_t>(part.from - std::min(part.from, at), piece.size());
    at += piece.size();
    if (at > part.size)
      return Error{Code::kFailedPrecondition, fmt::format("{} has more bytes than it should", part.digest), {}};
    return take(piece, static_cast<size_t>(known));
  };
  TRY(registry_.Ask(ctx, call));
  return Ok();
}

}  // namespace capi::fetch
