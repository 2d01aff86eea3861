// The files of an image: its layers, one above the other, as a container would see them. Pure: the contents are
// elsewhere, by their numbers, so that no name that an image has is ever one on this machine before all are known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fetch/archives/layer.h"

namespace capi::local {

// Paths begin at the image's root, with or without a slash. Links are followed as in a container: none leads out of it.
// Thread-compatible.
class ImageTree {
 public:
  struct Node {
    enum class Kind { kFolder, kFile, kLink };

    Kind kind = Kind::kFolder;
    size_t layer = 0;    // that wrote it last
    size_t content = 0;  // of a file
    std::string target;  // of a symbolic link
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
  };

  // What comes goes above all that is there.
  void BeginLayer() { ++layer_; }
  // `content`: the number that a file's bytes have. Whiteouts (".wh.NAME", ".wh..wh..opq") hide what lower layers have.
  // Devices and the like are left out, and so are hard links to what isn't there. What lies behind a symbolic link to
  // nowhere makes the folder that this names. kInvalidArgument for a name or a link that leads out of the image, for
  // links that lead to each other, and for too many or too deep entries.
  Status Add(const fetch::LayerEntry& entry, size_t content);

  const Node& root() const { return *root_; }
  size_t size() const { return size_; }  // of all that was added

  // A node without links on the way to it. A value.
  struct Place {
    const Node* node = nullptr;     // nullptr: there is none
    std::vector<std::string> path;  // its names from the root
  };
  // Where a symbolic link in this folder leads at the end.
  Place Follow(const std::vector<std::string>& folder, std::string_view target) const;

 private:
  // The folder that holds the last of `names`; with `make` folders on the way are made. nullptr where there is none.
  Result<Node*> FolderOf(const std::vector<std::string>& names, bool make, size_t links = 0);
  Status Whiteout(const std::vector<std::string>& names);
  Status Put(Node& folder, const std::string& name, const fetch::LayerEntry& entry, size_t content);
  Status PutHardLink(Node& folder, const std::string& name, const fetch::LayerEntry& entry);
  void Hide(Node& folder) const;

  std::unique_ptr<Node> root_ = std::make_unique<Node>();
  size_t layer_ = 0, size_ = 0;
};

}  // namespace capi::local
