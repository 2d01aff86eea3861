#include "fetch/oci/push.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"

namespace capi::fetch {
namespace {

constexpr Seconds kTime = std::chrono::minutes(5);        // for all of an artifact, or for each manifest of an image
constexpr Seconds kPieceTime = std::chrono::minutes(30);  // for a piece of a blob
constexpr std::string_view kBytes = "application/octet-stream";
constexpr size_t kLargestPiece = 64u << 20;  // that is held, and each request has a copy
constexpr size_t kSmallPiece = 4u << 20;     // that ghcr.io takes
constexpr size_t kMostOfUrl = 200;           // characters that are shown
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

OciPush::OciPush(api::OciReference reference, OciOptions options, BeforeWait before_wait, size_t piece)
    : reference_(std::move(reference)),
      which_(reference_.tag.empty() ? reference_.digest : reference_.tag),
      registry_(reference_, Writing(std::move(options))),
      before_wait_(std::move(before_wait)),
      piece_(piece) {}

Result<std::string> OciPush::Tagged(const Context& ctx) {
  const Context bounded = ctx.WithTimeout(kTime);
  auto digest = WithTries(bounded, before_wait_, [&] { return TaggedIn(bounded); });
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

Result<OciPush::Upload> OciPush::BeginUpload(const Context& ctx, const Blob& blob, size_t piece) {
  std::string url = registry_.base() + "/blobs/uploads/";
  if (!blob.elsewhere.empty())
    url += fmt::format("?mount={}&from={}", PercentEscape(blob.digest), PercentEscape(blob.elsewhere));
  auto response = TRY(registry_.Ask(ctx, {.method = "POST", .url = url, .accept = "*/*"}));
  if (response.status == 201 && !blob.elsewhere.empty()) return Upload();
  Upload upload{.place = TRY(PlaceIn(response)), .piece = piece};
  if (blob.size > upload.piece) upload.piece = std::max(upload.piece, TRY(LeastOf(response)));
  return upload;
}

// What may go well with the next try is kUnavailable: an upload that the registry doesn't know any more (it was started
// anew, or another one of several answers), or a piece that is too large for it. Of one to which no answer came it may
// be so, too: not everybody reads to its end what it refuses.
Result<http::Response> OciPush::SendTo(const Context& ctx, Upload& upload, OciCall call) {
  constexpr int kTooLarge = 413, kWrongRange = 416;
  int status = 0;
  call.on_head = [&status](int seen) { status = seen; };
  call.time = kPieceTime;
  auto answer = registry_.Ask(ctx, call);
  if (answer.ok() || !ctx.Check().ok()) return answer;
  const Error& why = answer.error();
  const bool is_first = upload.sent == 0 && call.body.size() > kSmallPiece;
  upload.unheard = is_first && status == 0;
  if (is_first && piece_ > kSmallPiece && (status == kTooLarge || status == kWrongRange)) {
    piece_ = kSmallPiece;
    return Error{Code::kUnavailable, why.message + " for so large a piece, and gets smaller ones", {}};
  }
  const bool lost = why.code == Code::kNotFound || (upload.sent > 0 && status == kWrongRange);
  if (lost) return Error{Code::kUnavailable, "the registry has lost the upload: " + why.message, {}};
  return answer;
}

// The rest of a blob, or all of it. A registry may read the whole blob before it answers.
Status OciPush::Finish(const Context& ctx, Upload& upload, const std::string& digest, std::string_view rest) {
  const char* join = upload.place.find('?') == upload.place.npos ? "?" : "&";
  OciCall call{.method = "PUT",
               .url = fmt::format("{}{}digest={}", upload.place, join, PercentEscape(digest)),
               .accept = "*/*",
               .content_type = kBytes,
               .body = rest};
  if (upload.sent > 0) call.headers.Set("Content-Range", PlaceOf(upload.sent, rest));
  const auto stored = TRY(SendTo(ctx, upload, std::move(call)));
  return CheckStored(stored, digest);
}

Status OciPush::SendPiece(const Context& ctx, std::string_view piece, Upload& upload) {
  OciCall call{.method = "PATCH", .url = upload.place, .accept = "*/*", .content_type = kBytes, .body = piece};
  call.headers.Set("Content-Range", PlaceOf(upload.sent, piece));
  const auto taken = TRY(SendTo(ctx, upload, std::move(call)));
  upload.place = TRY(PlaceIn(taken));
  upload.sent += piece.size();
  return Ok();
}

Status OciPush::SendBlob(const Context& ctx, const Blob& blob, Upload& upload) {
  while (blob.size - upload.sent > upload.piece) {
    const std::string piece = TRY(blob.piece_of(blob.digest, upload.sent, upload.piece));
    TRY(SendPiece(ctx, piece, upload));
  }
  const std::string rest = TRY(blob.piece_of(blob.digest, upload.sent, static_cast<size_t>(blob.size - upload.sent)));
  return Finish(ctx, upload, blob.digest, rest);
}

// What broke off isn't left in the registry's store. The registry of the distribution project wants to hear how much it
// has of it, which is part of the place that it names, and asks for the right to delete.
void OciPush::TakeBack(const Context& ctx, const Upload& upload) {
  auto now = registry_.Ask(ctx, {.method = "GET", .url = upload.place, .accept = "*/*"});
  if (!now.ok() && (now.code() == Code::kNotFound || IsAway(now.code()))) return;
  auto place = now.ok() ? PlaceIn(*now) : Result<std::string>(upload.place);
  const std::string& url = place.ok() ? *place : upload.place;
  (void)registry_.Ask(ctx, {.method = "DELETE", .url = url, .accept = "*/*"});
}

Status OciPush::TryBlob(const Context& ctx, const Blob& blob, bool& smaller) {
  if (TRY(HasBlob(ctx, blob.digest))) return Ok();
  Upload upload = TRY(BeginUpload(ctx, blob, smaller ? kSmallPiece : piece_.load()));
  if (upload.place.empty()) return Ok();
  Status sent = SendBlob(ctx, blob, upload);
  const bool guessed = std::exchange(smaller, false);
  if (sent.ok() && guessed) piece_ = kSmallPiece;  // so it was that
  if (sent.ok()) return sent;
  TakeBack(ctx, upload);
  smaller = !guessed && upload.unheard;
  if (!guessed || sent.code() != Code::kInvalidArgument) return sent;
  return Error{Code::kUnavailable, sent.error().message + " for smaller pieces, and gets larger ones again", {}};
}

Status OciPush::WriteBlob(const Context& ctx, const Blob& blob) {
  bool smaller = false;
  return WithTries(ctx, before_wait_, [&] { return TryBlob(ctx, blob, smaller); });
}

Status OciPush::WriteBlobs(const Context& ctx, const std::map<std::string, std::uint64_t>& sizes,
                           const BlobPiece& piece_of, const std::map<std::string, std::string>& elsewhere) {
  for (const auto& one : sizes) {
    const auto other = elsewhere.find(one.first);
    TRY_WITH(WriteBlob(ctx, {one.first, one.second, piece_of, other == elsewhere.end() ? "" : other->second}),
             one.first);
  }
  return Ok();
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
  auto named = [](const std::string& by) { return by.empty() ? "nothing" : by; };
  const std::string first = before ? TRY(TaggedIn(ctx)) : "";
  // It was written, and the answer was lost: a registry whose tags stay refuses it the second time.
  if (first == digest) return Ok();
  // Nobody has given it to something else meanwhile.
  if (before && first != *before) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("the tag names {} since a moment ago, and not {}: it was left alone", named(first), named(*before)),
        {}};
  }
  TRY(WriteManifest(ctx, which_, manifest));
  const std::string there = TRY(TaggedIn(ctx));
  if (there == digest) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("the tag names {} after it was written, and not {}: does somebody else write it, too?",
                           named(there), digest),
               {}};
}

Status OciPush::Write(const Context& whole, const PackedArtifact& artifact, const std::optional<std::string>& before) {
  const BlobPiece piece_of = [&](const std::string& digest, std::uint64_t at, size_t count) -> Result<std::string> {
    return artifact.blobs.at(digest).substr(static_cast<size_t>(at), count);
  };
  OciImage image{.manifests = {{std::string(kOciManifestType), artifact.manifest}}, .blobs = {}};
  for (const auto& [digest, text] : artifact.blobs) image.blobs[digest] = text.size();
  Status written = WriteImage(whole.WithTimeout(kTime), image, piece_of, {}, before);
  return written.ok() ? written : Status(OfOwnLimit(whole, written.error()));
}

Status OciPush::WriteImage(const Context& whole, const OciImage& image, const BlobPiece& piece_of,
                           const std::map<std::string, std::string>& elsewhere,
                           const std::optional<std::string>& before) {
  auto write = [&]() -> Status {
    TRY(WriteBlobs(whole, image.blobs, piece_of, elsewhere));  // however long all of them take
    for (const OciManifest& one : image.manifests) {
      const Context ctx = whole.WithTimeout(kTime);
      TRY(WithTries(ctx, before_wait_, [&] {
        return &one == &image.root() ? WriteRoot(ctx, one, before) : WriteManifest(ctx, OciDigest(one.text), one);
      }));
    }
    return Ok();
  };
  Status written = write();
  return written.ok() ? written
                      : Status(OfOwnLimit(whole, written.error()).With("failed to write " + reference_.ToString()));
}

}  // namespace capi::fetch
