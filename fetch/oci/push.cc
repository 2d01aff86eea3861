#include "fetch/oci/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"
#include "fetch/oci/tries.h"

namespace capi::fetch {
namespace {

constexpr Seconds kTime = std::chrono::minutes(5);       // for all of one call
constexpr Seconds kBlobTime = std::chrono::minutes(30);  // for a blob of an image
constexpr std::string_view kBytes = "application/octet-stream";
constexpr size_t kLargestPiece = 128u << 20;  // that is held
constexpr size_t kMostOfUrl = 200;            // characters that are shown
constexpr size_t kMostOfDigest = 80;
constexpr std::string_view kAnyManifest =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.oci.artifact.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

OciOptions Writing(OciOptions options) {
  options.writes = true;
  return options;
}

// What a registry says that it has stored.
Status CheckStored(const http::Response& response, const std::string& digest) {
  const std::string said = response.headers.Get("Docker-Content-Digest");
  if (said.empty() || said == digest) return Ok();
  return Error{
      Code::kFailedPrecondition,
      fmt::format("the registry says that it has stored {}, and was sent {}", Shorten(said, kMostOfDigest), digest),
      {}};
}

// As much as each piece but the last has to have. Most registries don't say.
Result<size_t> LeastOf(const http::Response& response) {
  const std::string said = response.headers.Get("OCI-Chunk-Min-Length");
  size_t least = 0;
  const auto [end, wrong] = std::from_chars(said.data(), said.data() + said.size(), least);
  const bool whole = wrong == std::errc() && end == said.data() + said.size();
  if (said.empty() || (whole && least <= kLargestPiece)) return least;
  return Error{Code::kUnsupported,
               fmt::format("the registry takes a file in pieces of {} bytes at least, and {} at most are sent",
                           Shorten(said, kMostOfDigest), kLargestPiece),
               {}};
}

// Where a piece lies in its blob.
std::string PlaceOf(std::uint64_t at, std::string_view piece) {
  return fmt::format("{}-{}", at, at + piece.size() - 1);
}

}  // namespace

OciPush::OciPush(api::OciReference reference, OciOptions options, size_t piece)
    : reference_(std::move(reference)),
      which_(reference_.tag.empty() ? reference_.digest : reference_.tag),
      registry_(reference_, Writing(std::move(options))),
      piece_(piece) {}

Result<std::string> OciPush::Tagged(const Context& ctx) {
  auto digest = TaggedIn(ctx.WithTimeout(kTime));
  if (digest.ok()) return digest;
  return OfOwnLimit(ctx, digest.error()).With("failed to look at " + reference_.ToString());
}

Result<std::string> OciPush::TaggedIn(const Context& ctx) {
  auto response = registry_.Get(ctx, fmt::format("{}/manifests/{}", registry_.base(), which_), kAnyManifest,
                                registry_.options().max_answer);
  if (!response.ok() && response.code() == Code::kNotFound) return std::string();
  if (!response.ok()) return response.error();
  TRY(CheckIsNoPage(response->body));
  return OciDigest(response->body);  // and not what a header says
}

Result<bool> OciPush::HasBlob(const Context& ctx, const std::string& digest) {
  auto there = registry_.Ask(
      ctx, {.method = "HEAD", .url = fmt::format("{}/blobs/{}", registry_.base(), digest), .accept = "*/*"});
  if (there.ok()) return true;
  // A store that it redirects to may refuse HEAD: then it is sent once more.
  if (there.code() == Code::kNotFound || there.code() == Code::kUnavailable) return false;
  return there.error();
}

// Where the registry wants more of a blob to be sent: itself, or nowhere. Credentials go along.
Result<std::string> OciPush::PlaceIn(const http::Response& response) const {
  const std::string begin = registry_.base() + "/blobs/uploads/";
  const std::string location = response.headers.Get("Location");
  if (location.empty())
    return Error{Code::kInvalidArgument, "the registry names no place to send a file to: is it one?", {}};
  const http::Url at = TRY(http::Url::Parse(begin));
  const http::Url next = TRY_WITH(http::ResolveReference(at, location), "where the registry has files sent to");
  std::string url = next.Origin() + next.path;
  if (SameOrigin(url, begin)) return url;
  return Error{Code::kInvalidArgument,
               fmt::format("the registry has files sent to another host, which gets none: {}",
                           Shorten(http::PrintableUrl(url), kMostOfUrl)),
               {}};
}

Result<OciPush::Upload> OciPush::BeginUpload(const Context& ctx, const std::string& digest,
                                             const std::string& elsewhere) {
  std::string url = registry_.base() + "/blobs/uploads/";
  if (!elsewhere.empty()) url += fmt::format("?mount={}&from={}", PercentEscape(digest), PercentEscape(elsewhere));
  auto response = TRY(registry_.Ask(ctx, {.method = "POST", .url = url, .accept = "*/*"}));
  if (response.status == 201 && !elsewhere.empty()) return Upload();
  std::string place = TRY(PlaceIn(response));
  const size_t least = TRY(LeastOf(response));
  return Upload{std::move(place), std::max(piece_, least)};
}

// The rest of a blob, or all of it. A registry may read the whole blob before it answers.
Status OciPush::Finish(const Context& ctx, const Upload& upload, const std::string& digest, std::string_view rest) {
  const char* join = upload.place.find('?') == upload.place.npos ? "?" : "&";
  OciCall call{.method = "PUT",
               .url = fmt::format("{}{}digest={}", upload.place, join, PercentEscape(digest)),
               .accept = "*/*",
               .content_type = kBytes,
               .body = rest,
               .time = kBlobTime};
  if (upload.sent > 0) call.headers.Set("Content-Range", PlaceOf(upload.sent, rest));
  const auto stored = TRY(registry_.Ask(ctx, call));
  return CheckStored(stored, digest);
}

Status OciPush::WriteBlob(const Context& ctx, const std::string& digest, const std::string& text) {
  if (TRY(HasBlob(ctx, digest))) return Ok();
  const Upload upload = TRY(BeginUpload(ctx, digest, ""));
  return Finish(ctx, upload, digest, text);
}

Status OciPush::SendPiece(const Context& ctx, std::string_view piece, Upload& upload) {
  OciCall call{.method = "PATCH",
               .url = upload.place,
               .accept = "*/*",
               .content_type = kBytes,
               .body = piece,
               .time = kBlobTime};
  call.headers.Set("Content-Range", PlaceOf(upload.sent, piece));
  const auto taken = TRY(registry_.Ask(ctx, call));
  upload.place = TRY(PlaceIn(taken));
  upload.sent += piece.size();
  return Ok();
}

Status OciPush::WriteBlob(const Context& ctx, const std::string& digest, std::uint64_t size, const BlobPiece& piece_of,
                          const std::string& elsewhere) {
  if (TRY(HasBlob(ctx, digest))) return Ok();
  Upload upload = TRY(BeginUpload(ctx, digest, elsewhere));
  if (upload.place.empty()) return Ok();
  while (size - upload.sent > upload.piece) {
    const std::string piece = TRY(piece_of(digest, upload.sent, upload.piece));
    TRY(SendPiece(ctx, piece, upload));
  }
  const std::string rest = TRY(piece_of(digest, upload.sent, static_cast<size_t>(size - upload.sent)));
  return Finish(ctx, upload, digest, rest);
}

// That nobody has given the tag to something else meanwhile.
Status OciPush::CheckTag(const Context& ctx, const std::string& before, const std::string& digest) {
  const std::string there = TRY(TaggedIn(ctx));
  if (there == before || there == digest) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("the tag names {} since a moment ago, and not {}: it was left alone",
                           there.empty() ? "nothing" : there, before.empty() ? "nothing" : before),
               {}};
}

Status OciPush::WriteManifest(const Context& ctx, const std::string& which, const OciManifest& manifest) {
  auto stored = TRY(registry_.Ask(ctx, {.method = "PUT",
                                        .url = fmt::format("{}/manifests/{}", registry_.base(), which),
                                        .accept = "*/*",
                                        .content_type = manifest.media_type,
                                        .body = manifest.text}));
  return CheckStored(stored, OciDigest(manifest.text));
}

Status OciPush::WriteRoot(const Context& ctx, const OciManifest& manifest, const std::optional<std::string>& before) {
  const std::string digest = OciDigest(manifest.text);
  if (before) TRY(CheckTag(ctx, *before, digest));
  TRY(WriteManifest(ctx, which_, manifest));
  const std::string there = TRY(TaggedIn(ctx));
  if (there == digest) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("the tag names {} after it was written, and not {}: does somebody else write it, too?",
                           there.empty() ? "nothing" : there, digest),
               {}};
}

Status OciPush::Write(const Context& whole, const PackedArtifact& artifact, const std::optional<std::string>& before) {
  const Context ctx = whole.WithTimeout(kTime);
  auto write = [&]() -> Status {
    for (const auto& [name, text] : artifact.blobs) TRY_WITH(WriteBlob(ctx, name, text), name);
    return WriteRoot(ctx, {std::string(kOciManifestType), artifact.manifest}, before);
  };
  Status written = write();
  return written.ok() ? written
                      : Status(OfOwnLimit(whole, written.error()).With("failed to write " + reference_.ToString()));
}

Status OciPush::WriteImage(const Context& whole, const OciImage& image, const BlobPiece& piece_of,
                           const std::map<std::string, std::string>& elsewhere,
                           const std::optional<std::string>& before) {
  auto write = [&]() -> Status {
    for (const auto& blob : image.blobs) {
      const std::string& digest = blob.first;
      const auto other = elsewhere.find(digest);
      const std::string from = other == elsewhere.end() ? "" : other->second;
      const Context ctx = whole.WithTimeout(kBlobTime);
      TRY_WITH(WithTries(ctx, [&] { return WriteBlob(ctx, digest, blob.second, piece_of, from); }), digest);
    }
    const Context ctx = whole.WithTimeout(kTime);
    for (const OciManifest& one : image.manifests) {
      if (&one == &image.root()) continue;
      TRY(WithTries(ctx, [&] { return WriteManifest(ctx, OciDigest(one.text), one); }));
    }
    return WithTries(ctx, [&] { return WriteRoot(ctx, image.root(), before); });
  };
  Status written = write();
  return written.ok() ? written
                      : Status(OfOwnLimit(whole, written.error()).With("failed to write " + reference_.ToString()));
}

}  // namespace capi::fetch
