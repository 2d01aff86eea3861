// Two layers of an image, which anybody may have made: what is read doesn't depend on the pieces in which it comes,
// files have as many bytes as is said, names are bounded, and no link leads out of the files.
#include <algorithm>
#include <string>

#include "base/fuzz.h"
#include "fetch/archives/layer.h"
#include "fetch/archives/tar_fields.h"
#include "local/programs/image_tree.h"

namespace {

using namespace capi;

// Sums are of no use against who makes them.
std::string WithSums(std::string_view input) {
  std::string out(input);
  for (size_t at = 0; at + fetch::kTarBlock <= out.size(); at += fetch::kTarBlock) {
    std::string block = out.substr(at, fetch::kTarBlock);
    if (!fetch::FieldOf(block, fetch::kTarMagic).starts_with("ustar")) continue;
    unsigned sum = fetch::SumOf(block);
    std::string digits(6, '0');
    for (size_t i = 6; i-- > 0; sum /= 8) digits[i] = static_cast<char>('0' + sum % 8);
    out.replace(at + fetch::kTarSum.at, fetch::kTarSum.size, digits + std::string("\0 ", 2));
  }
  return out;
}

// What is seen of a layer, and what comes of it in a tree.
std::string Read(std::string_view input, size_t step, local::ImageTree& tree) {
  std::string seen;
  std::uint64_t left = 0;
  auto begin = [&](const fetch::LayerEntry& entry) -> Status {
    FUZZ_REQUIRE(left == 0);
    FUZZ_REQUIRE(entry.name.size() <= 4096 && entry.link.size() <= 4096);
    FUZZ_REQUIRE(entry.name.find('\0') == std::string::npos && entry.link.find('\0') == std::string::npos);
    left = entry.size;
    seen += entry.name + "|" + entry.link + "\n";
    Status added = tree.Add(entry, seen.size());
    if (!added.ok()) FUZZ_REQUIRE(added.code() == Code::kInvalidArgument);
    return added;
  };
  auto content = [&](std::string_view piece) -> Status {
    FUZZ_REQUIRE(!piece.empty() && piece.size() <= left);
    left -= piece.size();
    seen += piece;
    return Ok();
  };
  auto end = [&]() -> Status {
    FUZZ_REQUIRE(left == 0);
    return Ok();
  };
  fetch::LayerReader reader({.begin = begin, .content = content, .end = end});
  tree.BeginLayer();
  for (size_t at = 0; at < input.size(); at += step) {
    Status added = reader.Add(input.substr(at, step));
    if (added.ok()) continue;
    FUZZ_REQUIRE(added.code() == Code::kInvalidArgument || added.code() == Code::kUnsupported);
    return seen;
  }
  if (reader.Finish().ok()) FUZZ_REQUIRE(left == 0);
  return seen;
}

void CheckTree(const local::ImageTree& tree, const local::ImageTree::Node& folder, std::vector<std::string>& path) {
  FUZZ_REQUIRE(path.size() <= 102);
  for (const auto& [name, node] : folder.children) {
    FUZZ_REQUIRE(!name.empty() && name.size() <= 255 && name != "." && name != "..");
    FUZZ_REQUIRE(name.find('/') == std::string::npos);
    if (node->kind == local::ImageTree::Node::Kind::kLink) {
      const auto place = tree.Follow(path, node->target);
      const local::ImageTree::Node* at = &tree.root();
      for (const std::string& step : place.path) {
        FUZZ_REQUIRE(at->kind == local::ImageTree::Node::Kind::kFolder && at->children.contains(step));
        at = at->children.at(step).get();
      }
      if (place.node != nullptr) FUZZ_REQUIRE(at == place.node && at->kind != local::ImageTree::Node::Kind::kLink);
    }
    path.push_back(name);
    CheckTree(tree, *node, path);
    path.pop_back();
  }
}

}  // namespace

CAPI_FUZZ(layer, "local/programs", {"", "ustar"}) {
  const std::string archive = WithSums(input);
  const size_t half = archive.size() / 2 / fetch::kTarBlock * fetch::kTarBlock;
  local::ImageTree once, again;
  for (std::string_view layer : {std::string_view(archive).substr(0, half), std::string_view(archive).substr(half)}) {
    const std::string seen = Read(layer, std::max<size_t>(layer.size(), 1), once);
    FUZZ_REQUIRE(Read(layer, 100, again) == seen);
    FUZZ_REQUIRE(once.size() == again.size());
  }
  std::vector<std::string> path;
  CheckTree(once, once.root(), path);
}
