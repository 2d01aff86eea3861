// Images of containers out of their registries into a bundle, and out of a bundle into a registry (behaviour.md L28).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/airgap/bundle.h"
#include "cli/frame/config.h"
#include "cli/frame/world.h"
#include "fetch/oci/pull.h"
#include "fetch/oci/push.h"

namespace capi::cli {

// Where images are read. A value.
struct ImageSources {
  std::vector<std::string> platforms;  // "linux/amd64"; none: all that there are
  // "[oci://|http://]host/prefix" under which all are by the last parts of their names; "": each in its own registry.
  std::string from;
};

// kInvalidArgument for what is no platform, or no place. Sends no request.
Status CheckSources(const ImageSources& sources);

// Images that were found, and what their blobs are read with. Thread-compatible.
class FoundImages {
 public:
  // Their manifests. Errors name the image; `notes` outlive it. `from` gets the credentials of the environment, any
  // other registry none.
  static Result<FoundImages> Find(const Context& ctx, const Config& config, const std::vector<std::string>& images,
                                  const ImageSources& sources, Notes& notes);

  const std::map<std::string, fetch::OciImage>& images() const { return images_; }
  // A blob of one of them, as fetch::OciPull has it.
  Status Blob(const Context& ctx, const std::string& digest, std::uint64_t size,
              const std::function<Status(std::string_view piece)>& take) const;
  // The first image that a blob is of.
  const std::string& ImageOf(const std::string& digest) const { return image_of_.at(digest); }

 private:
  std::map<std::string, fetch::OciImage> images_;
  std::map<std::string, std::unique_ptr<fetch::OciPull>> pulls_;  // by image
  std::map<std::string, std::string> image_of_;                   // by digest of a blob
};

// An image of a bundle, and where it goes. A value.
struct ImagePublication {
  std::string image;
  api::OciReference reference;                    // with a tag, or a digest
  bool there = false;                             // already, as it is
  std::string before;                             // the digest that the tag names
  std::string Named(const Bundle& bundle) const;  // "oci://registry/prefix/name:tag@sha256:..."
};

// kInvalidArgument for what is no place. Sends no request.
Status CheckTarget(const std::string& to);
// Each image that is in the bundle under the last part of its name. kFailedPrecondition where two would be one.
Result<std::vector<ImagePublication>> PlanImages(const std::map<std::string, fetch::OciImage>& images,
                                                 const std::string& to);
// As LookAtAll and WriteAll of registry.h. `archive`: from which the bundle was read.
Status LookAtImages(const Context& ctx, const fetch::OciOptions& options, bool force, const Bundle& bundle,
                    std::vector<ImagePublication>& publications, Notes& notes);
Status WriteImages(const Context& ctx, const fetch::OciOptions& options, bool force, const Bundle& bundle,
                   const fetch::ByteSource& archive, const std::vector<ImagePublication>& publications, Notes& notes);

// "registry.example.com/capi" of "oci://registry.example.com/capi/": as `images` of the configuration file has it.
std::string RepositoryOf(const std::string& to);

}  // namespace capi::cli
