#include "fetch/git/objects.h"

#include <fmt/format.h>

#include <algorithm>

namespace capi::fetch {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

Error Not(std::string_view what) {
  return Error{Code::kInvalidArgument, fmt::format("it has something that is no {}", what), {}};
}

// The id in a line "{key} {id}" at the beginning of `text`, which it takes off.
std::optional<ObjectId> TakeId(std::string_view& text, std::string_view key) {
  const size_t end = text.find('\n');
  if (end == text.npos || !text.starts_with(key)) return std::nullopt;
  const auto id = IdFromHex(text.substr(key.size(), end - key.size()));
  text.remove_prefix(end + 1);
  return id;
}

TreeItem::Kind KindOf(std::string_view mode) {
  if (mode == "40000") return TreeItem::Kind::kFolder;
  if (mode == "120000") return TreeItem::Kind::kLink;
  return mode.starts_with("100") ? TreeItem::Kind::kFile : TreeItem::Kind::kOther;
}

}  // namespace

std::string ToHex(const ObjectId& id) {
  std::string out;
  for (const char byte : id) {
    const auto value = static_cast<unsigned char>(byte);
    out += kDigits[value >> 4];
    out += kDigits[value & 15];
  }
  return out;
}

std::optional<ObjectId> IdFromHex(std::string_view text) {
  ObjectId id{};
  if (text.size() != 2 * id.size() || text.find_first_not_of(kDigits) != text.npos) return std::nullopt;
  for (size_t i = 0; i < id.size(); ++i)
    id[i] = static_cast<char>(kDigits.find(text[2 * i]) << 4 | kDigits.find(text[2 * i + 1]));
  return id;
}

std::string_view ToString(ObjectType type) {
  switch (type) {
    case ObjectType::kCommit: return "commit";
    case ObjectType::kTree: return "tree";
    case ObjectType::kBlob: return "blob";
    case ObjectType::kTag: return "tag";
  }
  return "";
}

ObjectId IdOf(ObjectType type, std::string_view text) {
  Sha1 sum;
  sum.Add(fmt::format("{} {}", ToString(type), text.size()));
  sum.Add(std::string_view("\0", 1));
  sum.Add(text);
  return sum.Finish();
}

Result<ObjectId> TreeOfCommit(std::string_view text) {
  const auto id = TakeId(text, "tree ");
  if (!id) return Not("commit");
  return *id;
}

Result<TagTarget> TargetOfTag(std::string_view text) {
  constexpr std::string_view kType = "type ";
  const auto id = TakeId(text, "object ");
  const size_t end = text.find('\n');
  if (!id || end == text.npos || !text.starts_with(kType)) return Not("tag");
  return TagTarget{*id, std::string(text.substr(kType.size(), end - kType.size()))};
}

Result<std::vector<TreeItem>> ItemsOfTree(std::string_view text) {
  std::vector<TreeItem> items;
  while (!text.empty()) {
    const size_t space = text.find(' '), end = text.find('\0');
    if (space == text.npos || end == text.npos || space > end || text.size() - end - 1 < sizeof(ObjectId))
      return Not("folder");
    TreeItem item{KindOf(text.substr(0, space)), std::string(text.substr(space + 1, end - space - 1)), {}};
    if (item.name.empty()) return Not("folder");
    text.remove_prefix(end + 1);
    std::copy_n(text.begin(), item.id.size(), item.id.begin());
    text.remove_prefix(item.id.size());
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace capi::fetch
