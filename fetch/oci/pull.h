// Reads an image of a registry (behaviour.md L28).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "fetch/oci/image.h"
#include "fetch/oci/registry.h"
#include "fetch/oci/tries.h"

namespace capi::fetch {

// Errors are those of OciRegistry::Get; a registry that is away is asked again (tries.h). Thread-safe.
class OciPull {
 public:
  // Without a tag and a digest it is "latest".
  OciPull(api::OciReference reference, OciOptions options, BeforeWait before_wait = {});

  // Its manifests, those of `platforms` alone where there are any. kNotFound for one that is for others;
  // kFailedPrecondition for what isn't what was named.
  Result<OciImage> Image(const Context& ctx, const std::vector<Platform>& platforms);
  // A blob of `size` bytes: each goes to `take` once, in order, however often the connection breaks meanwhile: what is
  // missing is asked for. It may take as long as it goes on: kUnavailable where half an hour of an answer brings less
  // than 1 MiB, known before or not.
  // At the end it has this digest, or it is kFailedPrecondition. An error of `take` ends it.
  Status Blob(const Context& ctx, const std::string& digest, std::uint64_t size,
              const std::function<Status(std::string_view piece)>& take);

 private:
  // A value.
  struct Part {
    const std::string& digest;
    std::uint64_t size = 0;
    std::uint64_t from = 0;  // so much is there
    bool by_range = false;   // the rest alone is asked for
  };
  // The rest of a blob. `status`: of what was answered last. `known`: bytes at the beginning of a piece that are there.
  Status BlobFrom(const Context& ctx, const Part& part, int& status,
                  const std::function<Status(std::string_view piece, size_t known)>& take);
  Result<std::string> Manifest(const Context& ctx, const std::string& which);
  Status CheckIsFor(const Context& ctx, const std::vector<Platform>& platforms, const OciImage& image);

  const api::OciReference reference_;
  OciRegistry registry_;
  const BeforeWait before_wait_;
};

}  // namespace capi::fetch
