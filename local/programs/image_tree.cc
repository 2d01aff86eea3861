#include "local/programs/image_tree.h"

#include <fmt/format.h>

#include <span>

#include "api/text.h"
#include "base/strings.h"

namespace capi::local {
namespace {

constexpr std::string_view kWhiteout = ".wh.", kOpaque = ".wh..wh..opq", kNotes = ".wh..wh.";
constexpr size_t kMostEntries = 200'000, kDeepest = 100, kMostLinks = 40, kShown = 100, kLongestName = 255;

using Node = ImageTree::Node;
using Kind = Node::Kind;

Error Invalid(std::string_view name, std::string_view what) {
  return Error{Code::kInvalidArgument, fmt::format("entry {} {}", api::GoQuote(Shorten(name, kShown)), what), {}};
}

// "./usr//bin/" is "usr", "bin".
std::vector<std::string> NamesIn(std::string_view path) {
  std::vector<std::string> out;
  for (std::string& part : Split(path, '/')) {
    if (!part.empty() && part != ".") out.push_back(std::move(part));
  }
  return out;
}

Result<std::vector<std::string>> PlainNames(std::string_view path, std::string_view entry) {
  std::vector<std::string> names = NamesIn(path);
  if (names.size() > kDeepest) return Invalid(entry, "lies too deep");
  for (const std::string& name : names) {
    if (name == "..") return Invalid(entry, "leads out of the image");
    if (name.size() > kLongestName) return Invalid(entry, "has too long a name");
  }
  return names;
}

Node* ChildOf(const Node& folder, std::string_view name) {
  auto child = folder.children.find(name);
  return child == folder.children.end() ? nullptr : child->second.get();
}

// The names that a link in `folder` leads to, and what lies behind it.
std::vector<std::string> Behind(const std::vector<std::string>& folder, std::string_view target,
                                std::span<const std::string> rest) {
  std::vector<std::string> out = target.starts_with('/') ? std::vector<std::string>() : folder;
  for (std::string& name : NamesIn(target)) {
    if (name != "..") {
      out.push_back(std::move(name));
    } else if (!out.empty()) {
      out.pop_back();
    }
  }
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// Names still to be walked, the next one last.
void PushAll(std::vector<std::string> names, std::vector<std::string>& walk) {
  walk.insert(walk.end(), std::make_move_iterator(names.rbegin()), std::make_move_iterator(names.rend()));
}

}  // namespace

ImageTree::Place ImageTree::Follow(const std::vector<std::string>& folder, std::string_view target) const {
  std::vector<std::string> walk, path;
  PushAll(NamesIn(target), walk);
  if (!target.starts_with('/')) PushAll(folder, walk);
  std::vector<const Node*> above;  // the folders of `path`, without the last
  const Node* at = root_.get();
  for (size_t links = 0; !walk.empty();) {
    const std::string name = std::move(walk.back());
    walk.pop_back();
    if (at->kind != Kind::kFolder) return {};
    if (name == "..") {
      if (path.empty()) continue;
      at = above.back();
      above.pop_back();
      path.pop_back();
      continue;
    }
    const Node* child = ChildOf(*at, name);
    if (child == nullptr) return {};
    if (child->kind == Kind::kLink) {
      if (++links > kMostLinks || walk.size() > kDeepest * kMostLinks) return {};
      PushAll(NamesIn(child->target), walk);
      if (!child->target.starts_with('/')) continue;
      at = root_.get();
      above.clear();
      path.clear();
      continue;
    }
    above.push_back(at);
    path.push_back(name);
    at = child;
  }
  return {at, std::move(path)};
}

Result<Node*> ImageTree::FolderOf(const std::vector<std::string>& names, bool make, size_t links) {
  std::vector<std::string> so_far;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    Place next = Follow(so_far, names[i]);
    if (next.node == nullptr) {
      if (!make) return nullptr;
      auto* parent = const_cast<Node*>(Follow(so_far, "").node);
      if (const Node* link = ChildOf(*parent, names[i])) {
        if (links >= kMostLinks) return Invalid(names.back(), "lies behind links that lead to each other");
        const auto behind = Behind(so_far, link->target, std::span(names).subspan(i + 1));
        if (behind.size() > kDeepest) return Invalid(names.back(), "lies too deep");
        return FolderOf(behind, make, links + 1);
      }
      auto folder = std::make_unique<Node>();
      folder->layer = layer_;
      parent->children.emplace(names[i], std::move(folder));
      ++size_;
      so_far.push_back(names[i]);
      continue;
    }
    if (next.node->kind != Kind::kFolder) return Invalid(Join(names, "/"), "lies in something that is no folder");
    so_far = std::move(next.path);
  }
  if (so_far.size() > kDeepest) return Invalid(Join(names, "/"), "lies too deep");
  return const_cast<Node*>(Follow(so_far, "").node);
}

Status ImageTree::Add(const fetch::LayerEntry& entry, size_t content) {
  if (++size_ > kMostEntries)
    return Error{Code::kInvalidArgument, fmt::format("it has more than {} files", kMostEntries), {}};
  const std::vector<std::string> names = TRY(PlainNames(entry.name, entry.name));
  if (names.empty() || entry.kind == fetch::LayerEntry::Kind::kOther) return Ok();
  if (names.back().starts_with(kWhiteout)) return Whiteout(names);
  Node* folder = TRY(FolderOf(names, true));
  return Put(*folder, names.back(), entry, content);
}

Status ImageTree::Whiteout(const std::vector<std::string>& names) {
  const std::string& last = names.back();
  Node* folder = TRY(FolderOf(names, false));
  if (folder == nullptr) return Ok();
  if (last == kOpaque) {
    Hide(*folder);
    return Ok();
  }
  if (last.starts_with(kNotes)) return Ok();  // of those who made the layer
  const std::string name = last.substr(kWhiteout.size());
  if (name.empty() || name == "." || name == "..") return Invalid(Join(names, "/"), "hides what has no name");
  auto hidden = folder->children.find(name);
  if (hidden == folder->children.end()) return Ok();
  Hide(*hidden->second);
  if (hidden->second->children.empty() && hidden->second->layer < layer_) folder->children.erase(hidden);
  return Ok();
}

// What this layer has itself stays, with the folders on the way to it.
void ImageTree::Hide(Node& folder) const {
  for (auto child = folder.children.begin(); child != folder.children.end();) {
    Node& node = *child->second;
    Hide(node);
    const bool goes = node.layer < layer_ && node.children.empty();
    child = goes ? folder.children.erase(child) : std::next(child);
  }
}

Status ImageTree::Put(Node& folder, const std::string& name, const fetch::LayerEntry& entry, size_t content) {
  if (entry.kind == fetch::LayerEntry::Kind::kHardLink) return PutHardLink(folder, name, entry);
  std::unique_ptr<Node>& node = folder.children[name];
  const bool stays = entry.kind == fetch::LayerEntry::Kind::kFolder && node != nullptr && node->kind == Kind::kFolder;
  if (!stays) node = std::make_unique<Node>();
  node->layer = layer_;
  if (entry.kind == fetch::LayerEntry::Kind::kFile) {
    node->kind = Kind::kFile;
    node->content = content;
  }
  if (entry.kind == fetch::LayerEntry::Kind::kSymbolicLink) {
    node->kind = Kind::kLink;
    node->target = entry.link;
  }
  return Ok();
}

Status ImageTree::PutHardLink(Node& folder, const std::string& name, const fetch::LayerEntry& entry) {
  const std::vector<std::string> names = TRY(PlainNames(entry.link, entry.name));
  Node* from = names.empty() ? nullptr : TRY(FolderOf(names, false));
  const Node* target = from == nullptr ? nullptr : ChildOf(*from, names.back());
  if (target == nullptr) return Ok();  // a device, which was left out
  if (target->kind == Kind::kFolder) return Invalid(entry.name, "is a hard link to a folder");
  auto node = std::make_unique<Node>();
  node->kind = target->kind;
  node->layer = layer_;
  node->content = target->content;
  node->target = target->target;
  folder.children[name] = std::move(node);
  return Ok();
}

}  // namespace capi::local
