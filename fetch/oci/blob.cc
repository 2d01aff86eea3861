#include "fetch/oci/blob.h"

#include <fmt/format.h>

#include "api/text.h"
#include "api/validate/oci_reference.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "fetch/download.h"

namespace capi::fetch {
namespace {

Error Wrong(std::string message) { return Error{Code::kFailedPrecondition, std::move(message), {}}; }

Status CheckIsDigest(std::string_view digest) {
  if (api::IsSha256Digest(digest)) return Ok();
  return Wrong(fmt::format("its digest is of no kind that is checked: {}", api::GoQuote(Shorten(digest, 80))));
}

}  // namespace

Status CheckOciDigest(std::string_view digest, std::string_view body) {
  TRY(CheckIsDigest(digest));
  if (digest == "sha256:" + Sha256Hex(body)) return Ok();
  return Wrong(fmt::format("what came does not have the digest {}", digest));
}

Result<std::string> ReadOciBlob(const Context& ctx, OciRegistry& registry, const OciBlob& blob) {
  if (blob.size < 0 || static_cast<std::uint64_t>(blob.size) > blob.most) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is too large: {} bytes, and {} at most are read", blob.what, blob.size, blob.most),
                 {}};
  }
  TRY_WITH(CheckIsDigest(blob.digest), blob.what);
  auto response = TRY(registry.Ask(ctx, {.method = "GET",
                                         .url = fmt::format("{}/blobs/{}", registry.base(), blob.digest),
                                         .accept = "application/octet-stream, */*",
                                         .max_body = blob.most,
                                         .optional = blob.optional}));
  TRY(CheckIsNoPage(response.body));
  const Status right = CheckOciDigest(blob.digest, response.body);
  if (!right.ok() && response.body.size() < static_cast<std::uint64_t>(blob.size)) {
    return Error{Code::kUnavailable,
                 fmt::format("{} bytes of {} came, its manifest says {}", response.body.size(), blob.what, blob.size),
                 {}};
  }
  TRY_WITH(right, blob.what);
  if (response.body.size() != static_cast<std::uint64_t>(blob.size)) {
    return Wrong(fmt::format("{} has {} bytes, its manifest says {}", blob.what, response.body.size(), blob.size));
  }
  return std::move(response.body);
}

}  // namespace capi::fetch
