// Writes the files of an image into a folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/streams/gunzip.h"
#include "fetch/archives/layer.h"
#include "local/programs/image_tree.h"

namespace capi::local {

// Layers come one after the other, from the lowest, each piece by piece as a registry has it: tar, packed with gzip or
// not. Their bytes go into numbered files at once; names become files at the end, below a root in which no link leads
// out of it. Files belong to who runs this, without special bits; devices and links to nowhere are left out. What comes
// is bounded. Thread-compatible.
class Unpacker {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

  // `folder` is there, empty, and nobody else's.
  explicit Unpacker(std::string folder, std::uint64_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // kInvalidArgument for what is no layer, kUnsupported for one that is packed in another way.
  Status BeginLayer();
  Status Add(std::string_view piece);
  Status EndLayer();
  // All of it below `root()`. Once, at the end.
  Status Finish();
  std::string root() const { return folder_ + "/root"; }

 private:
  Status AddPlain(std::string_view head);
  Status BeginEntry(const fetch::LayerEntry& entry);
  Status Write(std::string_view piece);
  Status EndFile();
  std::string ContentPath(size_t number) const;
  Status WriteFolder(const ImageTree::Node& folder, std::vector<std::string>& names);
  Status WriteFile(const ImageTree::Node& file, const std::string& path);
  Status WriteLink(const ImageTree::Node& link, const std::vector<std::string>& folder, const std::string& path) const;

  const std::string folder_;
  const std::uint64_t most_bytes_;
  ImageTree tree_;
  std::unique_ptr<fetch::LayerReader> reader_;
  std::unique_ptr<GunzipStream> gunzip_;  // of a layer that is packed
  std::string head_;                      // the first bytes of a layer, which tell how it is packed
  bool known_ = false;                    // they came
  int fd_ = -1;                           // of the file that is written
  size_t files_ = 0;                      // so far
  std::uint64_t bytes_ = 0;               // of all files so far, and of all that is unpacked
  std::map<size_t, std::string> placed_;  // where a content is, once it has a name
};

}  // namespace capi::local
