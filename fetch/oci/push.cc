#include "fetch/oci/push.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "fetch/answer.h"
#include "fetch/download.h"

namespace capi::fetch {
namespace {

constexpr Seconds kTime = std::chrono::minutes(5);  // for all of one call
constexpr size_t kMostOfUrl = 200;                  // characters that are shown
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

}  // namespace

OciPush::OciPush(api::OciReference reference, OciOptions options)
    : reference_(std::move(reference)), registry_(reference_, Writing(std::move(options))) {}

Result<std::string> OciPush::Tagged(const Context& ctx) {
  auto digest = TaggedIn(ctx.WithTimeout(kTime));
  if (digest.ok()) return digest;
  return OfOwnLimit(ctx, digest.error()).With("failed to look at " + reference_.ToString());
}

Result<std::string> OciPush::TaggedIn(const Context& ctx) {
  auto response = registry_.Get(ctx, fmt::format("{}/manifests/{}", registry_.base(), reference_.tag), kAnyManifest,
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

// Where the registry wants a blob to be sent: itself, or nowhere. Credentials go along.
Result<std::string> OciPush::BeginUpload(const Context& ctx) {
  const std::string begin = registry_.base() + "/blobs/uploads/";
  auto response = TRY(registry_.Ask(ctx, {.method = "POST", .url = begin, .accept = "*/*"}));
  const std::string location = response.headers.Get("Location");
  if (location.empty())
    return Error{Code::kInvalidArgument, "the registry names no place to send a file to: is it one?", {}};
  const http::Url at = TRY(http::Url::Parse(begin));
  const http::Url next = TRY_WITH(http::ResolveReference(at, location), "where the registry has files sent to");
  std::string url = next.Origin() + next.path;
  if (!SameOrigin(url, begin)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("the registry has files sent to another host, which gets none: {}",
                             Shorten(http::PrintableUrl(url), kMostOfUrl)),
                 {}};
  }
  return url + (url.find('?') == std::string::npos ? "?" : "&");
}

Status OciPush::WriteBlob(const Context& ctx, const std::string& digest, const std::string& text) {
  if (TRY(HasBlob(ctx, digest))) return Ok();
  const std::string url = TRY(BeginUpload(ctx)) + "digest=" + PercentEscape(digest);
  auto stored = TRY(registry_.Ask(
      ctx, {.method = "PUT", .url = url, .accept = "*/*", .content_type = "application/octet-stream", .body = text}));
  return CheckStored(stored, digest);
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

Status OciPush::Write(const Context& whole, const PackedArtifact& artifact, const std::optional<std::string>& before) {
  const Context ctx = whole.WithTimeout(kTime);
  const std::string digest = OciDigest(artifact.manifest), where = "failed to write " + reference_.ToString();
  auto write = [&]() -> Status {
    for (const auto& [name, text] : artifact.blobs) TRY_WITH(WriteBlob(ctx, name, text), name);
    if (before) TRY(CheckTag(ctx, *before, digest));
    auto stored = TRY(registry_.Ask(ctx, {.method = "PUT",
                                          .url = fmt::format("{}/manifests/{}", registry_.base(), reference_.tag),
                                          .accept = "*/*",
                                          .content_type = kOciManifestType,
                                          .body = artifact.manifest}));
    TRY(CheckStored(stored, digest));
    const std::string there = TRY(TaggedIn(ctx));
    if (there == digest) return Ok();
    return Error{Code::kFailedPrecondition,
                 fmt::format("the tag names {} after it was written, and not {}: does somebody else write it, too?",
                             there.empty() ? "nothing" : there, digest),
                 {}};
  };
  Status written = write();
  return written.ok() ? written : Status(OfOwnLimit(whole, written.error()).With(where));
}

}  // namespace capi::fetch
