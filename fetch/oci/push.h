// Writes an artifact or an image into a registry (behaviour.md L26, L28).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/result.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/image.h"
#include "fetch/oci/registry.h"
#include "fetch/oci/tries.h"

namespace capi::fetch {

// So many bytes of a blob that begin at `at`.
using BlobPiece = std::function<Result<std::string>(const std::string& digest, std::uint64_t at, size_t count)>;

// Of one tag. What a registry answers is bounded, and so is the time of each request. A registry that is away is asked
// again (tries.h): of a file that broke off it gets all once more. Thread-safe.
class OciPush {
 public:
  // `reference` has a tag; for an image it may have a digest instead.
  // `piece`: as much of a file is sent at once, and held in memory; more where the registry wants more, and 4 MiB where
  // it takes no more (ghcr.io). That isn't the beginning: stores of objects may want 5 MiB, and not say so. Where no
  // answer comes to a large one, either may be so: the next try takes small ones, and the one behind it large ones.
  OciPush(api::OciReference reference, OciOptions options, BeforeWait before_wait = {}, size_t piece = 16u << 20);

  // The digest of what the tag names; "" where there is no such tag.
  Result<std::string> Tagged(const Context& ctx);

  // The files that the registry lacks, then the manifest under its tag; at the end the tag names it, or it is an error:
  // kFailedPrecondition where the registry has something else by then, or where the tag doesn't name `before` any more
  // when it is to be written ("": no such tag; nullopt: whatever it names). Else those of OciRegistry::Get.
  Status Write(const Context& ctx, const PackedArtifact& artifact, const std::optional<std::string>& before = {});

  // The same of an image. `elsewhere`: repositories of this registry that have a blob, by its digest; what it takes
  // over from there isn't sent.
  Status WriteImage(const Context& ctx, const OciImage& image, const BlobPiece& piece_of,
                    const std::map<std::string, std::string>& elsewhere, const std::optional<std::string>& before = {});

 private:
  // A value.
  struct Upload {
    std::string place;       // where what comes next goes; "" where the blob was taken over from elsewhere
    size_t piece = 0;        // bytes of each but the last
    std::uint64_t sent = 0;  // so far
    bool unheard = false;    // no answer came to the first piece, which is a large one
  };

  // A value.
  struct Blob {
    const std::string& digest;
    std::uint64_t size = 0;
    const BlobPiece& piece_of;
    std::string elsewhere;  // a repository that has it; "" for none
  };

  // One that is there isn't sent.
  Status WriteBlob(const Context& ctx, const Blob& blob);
  // `smaller`: whether this try takes smaller pieces, since no answer came to larger ones; then whether the next does.
  Status TryBlob(const Context& ctx, const Blob& blob, bool& smaller);
  Status SendBlob(const Context& ctx, const Blob& blob, Upload& upload);
  Status Finish(const Context& ctx, Upload& upload, const std::string& digest, std::string_view rest);
  Status SendPiece(const Context& ctx, std::string_view piece, Upload& upload);
  Result<http::Response> SendTo(const Context& ctx, Upload& upload, OciCall call);
  // Where the registry lets it.
  void TakeBack(const Context& ctx, const Upload& upload);
  Status WriteBlobs(const Context& ctx, const std::map<std::string, std::uint64_t>& sizes, const BlobPiece& piece_of,
                    const std::map<std::string, std::string>& elsewhere);
  Status WriteManifest(const Context& ctx, const std::string& which, const OciManifest& manifest);
  // The one under the tag, at the end.
  Status WriteRoot(const Context& ctx, const OciManifest& manifest, const std::optional<std::string>& before);
  Result<bool> HasBlob(const Context& ctx, const std::string& digest);
  Result<std::string> PlaceIn(const http::Response& response) const;
  Result<Upload> BeginUpload(const Context& ctx, const Blob& blob, size_t piece);
  Result<std::string> TaggedIn(const Context& ctx);

  const api::OciReference reference_;
  const std::string which_;  // the tag, or the digest
  OciRegistry registry_;
  const BeforeWait before_wait_;
  std::atomic<size_t> piece_;
};

}  // namespace capi::fetch
