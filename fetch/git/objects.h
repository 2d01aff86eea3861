// What git keeps, as texts: commits, tags and folders.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/streams/sha1.h"

namespace capi::fetch {

using ObjectId = Sha1Digest;

std::string ToHex(const ObjectId& id);
// nullopt for anything but 40 lower-case digits.
std::optional<ObjectId> IdFromHex(std::string_view text);

enum class ObjectType { kCommit = 1, kTree = 2, kBlob = 3, kTag = 4 };  // as packs have them
std::string_view ToString(ObjectType type);
// By which git names it.
ObjectId IdOf(ObjectType type, std::string_view text);

// kInvalidArgument for what is none.
Result<ObjectId> TreeOfCommit(std::string_view text);

// What an annotated tag points to. A value.
struct TagTarget {
  ObjectId id{};
  std::string type;  // "commit", "tag"
};
Result<TagTarget> TargetOfTag(std::string_view text);

// A value.
struct TreeItem {
  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kOther;
  std::string name;
  ObjectId id{};
};
Result<std::vector<TreeItem>> ItemsOfTree(std::string_view text);

}  // namespace capi::fetch
