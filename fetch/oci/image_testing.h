// For tests of images that are read and written.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fetch/oci/oci_testing.h"
#include "fetch/oci/pull.h"
#include "fetch/oci/push.h"

namespace capi::fetch {

inline api::OciReference At(const OciStandIn& registry, const std::string& what) {
  return *api::ParseOciReference("http://" + registry.host() + "/" + what);
}

// Of an archive: what the blobs of an image are read from.
using Blobs = std::map<std::string, std::string>;

// Where a registry is away nobody waits.
struct Hurried : Context {
  Hurried() { clock = &own; }
  HurriedClock own;
};

inline Blobs BlobsOf(OciPull& pull, const OciImage& image, const Context& ctx = {}) {
  Blobs out;
  for (const auto& [digest, size] : image.blobs) {
    Status read = pull.Blob(ctx, digest, size, [&out, name = digest](std::string_view piece) -> Status {
      out[name] += piece;
      return Ok();
    });
    EXPECT_TRUE(read.ok()) << read.error().message;
  }
  return out;
}

inline BlobPiece PieceOf(const Blobs& blobs) {
  return [&blobs](const std::string& digest, std::uint64_t at, size_t count) -> Result<std::string> {
    return blobs.at(digest).substr(static_cast<size_t>(at), count);
  };
}

// Of what writes, in order.
inline std::vector<std::string> MethodsOf(const OciStandIn& registry) {
  std::vector<std::string> out;
  for (const OciRequest& one : registry.seen()) {
    if (one.method != "GET" && one.method != "HEAD") out.push_back(one.method);
  }
  return out;
}

}  // namespace capi::fetch
