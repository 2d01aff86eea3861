#include "fetch/git/release_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr int kMostTags = 5;  // of which one names the next

// What should have come and didn't is the server's fault: nothing is known to be missing.
template <typename T>
Result<T> Came(Result<T> result) {
  if (!result.ok() && result.code() == Code::kNotFound)
    return Error{Code::kInvalidArgument, "the git server left out what was asked for", {}};
  return result;
}

Result<ObjectId> CommitOf(const Pack& pack, ObjectId id) {
  for (int i = 0; i < kMostTags; ++i) {
    const ObjectType type = TRY(Came(pack.TypeOf(id)));
    if (type == ObjectType::kCommit) return id;
    if (type != ObjectType::kTag) break;
    const std::string text = TRY(Came(pack.Get(id, ObjectType::kTag)));
    id = TRY(TargetOfTag(text)).id;
  }
  return Error{Code::kNotFound, "it names no commit", {}};
}

}  // namespace

Result<GitFolder> FolderOfTag(const Pack& pack, const ObjectId& tag, std::string_view path) {
  const ObjectId commit = TRY(CommitOf(pack, tag));
  const std::string text = TRY(Came(pack.Get(commit, ObjectType::kCommit)));
  ObjectId tree = TRY(TreeOfCommit(text));
  for (const std::string& part : path.empty() ? std::vector<std::string>() : Split(path, '/')) {
    const std::string folder = TRY(Came(pack.Get(tree, ObjectType::kTree)));
    const auto items = TRY(ItemsOfTree(folder));
    auto found = std::find_if(items.begin(), items.end(), [&](const TreeItem& item) {
      return item.name == part && item.kind == TreeItem::Kind::kFolder;
    });
    if (found == items.end()) return Error{Code::kNotFound, fmt::format("it has no folder {}", path), {}};
    tree = found->id;
  }
  GitFolder out;
  const std::string folder = TRY(Came(pack.Get(tree, ObjectType::kTree)));
  for (TreeItem& item : TRY(ItemsOfTree(folder))) {
    if (item.kind == TreeItem::Kind::kFile) {
      out.files.emplace(std::move(item.name), item.id);
    } else {
      out.others.push_back(std::move(item.name));
    }
  }
  return out;
}

}  // namespace capi::fetch
