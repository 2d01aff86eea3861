// Writes an artifact into a registry (behaviour.md L26).
#pragma once

#include <optional>
#include <string>

#include "api/validate/oci_reference.h"
#include "base/context.h"
#include "base/result.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/registry.h"

namespace capi::fetch {

// Of one tag. What a registry answers is bounded, and so is the time of each call. Thread-safe.
class OciPush {
 public:
  // `reference` has a tag, and no digest.
  OciPush(api::OciReference reference, OciOptions options);

  // The digest of what the tag names; "" where there is no such tag.
  Result<std::string> Tagged(const Context& ctx);

  // The files that the registry lacks, then the manifest under its tag; at the end the tag names it, or it is an error:
  // kFailedPrecondition where the registry has something else by then, or where the tag doesn't name `before` any more
  // when it is to be written ("": no such tag; nullopt: whatever it names). Else those of OciRegistry::Get.
  Status Write(const Context& ctx, const PackedArtifact& artifact, const std::optional<std::string>& before = {});

 private:
  Status WriteBlob(const Context& ctx, const std::string& digest, const std::string& text);
  Result<bool> HasBlob(const Context& ctx, const std::string& digest);
  Result<std::string> BeginUpload(const Context& ctx);
  Result<std::string> TaggedIn(const Context& ctx);
  Status CheckTag(const Context& ctx, const std::string& before, const std::string& digest);

  const api::OciReference reference_;
  OciRegistry registry_;
};

}  // namespace capi::fetch
