#include "local/programs/image_tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace capi::local {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = fetch::LayerEntry::Kind;

// Entries, a word each: "a/b" is a file whose content is its place in the sequence, "a/" a folder, "a>b" a symbolic
// link, "a=b" a hard one, "a!" a device; "|" begins a layer.
Status Fill(ImageTree& tree, std::string_view text) {
  tree.BeginLayer();
  size_t content = 0;
  for (const std::string& word : Split(text, ' ')) {
    if (word == "|") {
      tree.BeginLayer();
      continue;
    }
    fetch::LayerEntry entry{.name = word};
    const size_t link = word.find_first_of(">=");
    if (link != word.npos) {
      entry.kind = word[link] == '>' ? Kind::kSymbolicLink : Kind::kHardLink;
      entry.name = word.substr(0, link);
      entry.link = word.substr(link + 1);
    } else if (word.ends_with('!')) {
      entry.kind = Kind::kOther;
    } else if (word.ends_with('/')) {
      entry.kind = Kind::kFolder;
    }
    TRY(tree.Add(entry, ++content));
  }
  return Ok();
}

void Print(const ImageTree::Node& folder, const std::string& at, std::vector<std::string>& out) {
  for (const auto& [name, node] : folder.children) {
    const std::string path = at + name;
    if (node->kind == ImageTree::Node::Kind::kFile) out.push_back(fmt::format("{}:{}", path, node->content));
    if (node->kind == ImageTree::Node::Kind::kLink) out.push_back(path + ">" + node->target);
    if (node->kind != ImageTree::Node::Kind::kFolder) continue;
    if (node->children.empty()) out.push_back(path + "/");
    Print(*node, path + "/", out);
  }
}

std::string Filled(std::string_view text) {
  ImageTree tree;
  Status filled = Fill(tree, text);
  if (!filled.ok()) return "error: " + filled.error().message;
  std::vector<std::string> out;
  Print(tree.root(), "", out);
  return Join(out, " ");
}

// G9: layers lie one above the other as a container sees them.
TEST(ImageTree, LayersLieAboveEachOther_G9) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"./ ./a /b c//d", "a:2 b:3 c/d:4"},
      {"a a", "a:2"},
      {"a | a", "a:2"},
      {"a/b | a/", "a/b:1"},
      {"a/b | a", "a:2"},
      {"a | a/b", "error: entry \"a/b\" lies in something that is no folder"},
      {"a | a/ a/b", "a/b:3"},
      {"dev/null! a", "a:2"},
      // Whiteouts hide what lower layers have, and nothing of their own.
      {"a b | .wh.a", "b:2"},
      {"d/a d/b | d/.wh.a", "d/b:2"},
      {"d/a | .wh.d", ""},
      {"d/a | .wh.d d/b", "d/b:3"},
      {"d/a | d/b .wh.d", "d/b:2"},
      {"d/a | a .wh.a", "a:2 d/a:1"},
      {"a | .wh.none", "a:1"},
      {"a | none/.wh.a", "a:1"},
      {"d/a d/e/b | d/.wh..wh..opq d/c", "d/c:4"},
      {"d/a d/e/b | d/c d/.wh..wh..opq", "d/c:3"},
      {"d/a | d/e/ d/.wh..wh..opq", "d/e/"},
      {"a | .wh..wh..opq", ""},
      {"a | .wh..wh.aufs .wh..wh.plnk/x", ".wh..wh.plnk/x:3 a:1"},
      {"a | .wh.", "error: entry \".wh.\" hides what has no name"},
      {"a | .wh...", "error: entry \".wh...\" hides what has no name"},
      // Hard links are the same file, also above another layer.
      {"a b=a | c=b", "a:1 b:1 c:1"},
      {"a | b=a .wh.a", "b:1"},
      {"l>t h=l", "h>t l>t"},
      {"a=none b", "b:2"},
      {"dev/null! a=dev/null b", "b:3"},
      {"a | a=none", "a:1"},
      {"d/ a=d", "error: entry \"a\" is a hard link to a folder"},
      {"a=", ""},
      // What lies behind a link to nowhere makes the folder that is named.
      {"var/ var/run>/run | var/run/x", "run/x:3 var/run>/run"},
      {"var/run>../none/deep | var/run/a/x var/run/y", "none/deep/a/x:2 none/deep/y:3 var/run>../none/deep"},
      {"a>b b>c a/x", "a>b b>c c/x:3"},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(Filled(text), tree) << text;
}

// G9: no name and no link leads out of an image.
TEST(ImageTree, NothingLeadsOutOfTheImage_G9) {
  const std::pair<const char*, const char*> cases[] = {
      {"../a", "error: entry \"../a\" leads out of the image"},
      {"a/../../b", "error: entry \"a/../../b\" leads out of the image"},
      {"a=../../etc/passwd", "error: entry \"a\" leads out of the image"},
      // What is written through a link is written in the image.
      {"usr/lib/ lib>usr/lib lib/x", "lib>usr/lib usr/lib/x:3"},
      {"etc/ l>/etc l/x", "etc/x:3 l>/etc"},
      {"etc/ l>../../../etc l/x", "etc/x:3 l>../../../etc"},
      {"a/b/ l>a/b/../.. l/x", "a/b/ l>a/b/../.. x:3"},
      {"l>/ l/l/x", "l>/ x:2"},
      {"l>l l/x", "error: entry \"x\" lies behind links that lead to each other"},
      {"a>b b>a a/x", "error: entry \"x\" lies behind links that lead to each other"},
      {"l>/../../none l/x", "l>/../../none none/x:2"},
      {"f l>f l/x", "error: entry \"l/x\" lies in something that is no folder"},
      {"usr/lib/ lib>usr/lib usr/lib/a | lib/.wh.a", "lib>usr/lib usr/lib/"},
  };
  for (const auto& [text, tree] : cases) EXPECT_EQ(Filled(text), tree) << text;
}

TEST(ImageTree, LinksAreFollowedAsInAContainer_G9) {
  ImageTree tree;
  ASSERT_TRUE(Fill(tree, "a/b/c l>/a/b k>l/c up>../../a a/b/self>. a/b/abs>/a loop>loop a/r>..").ok());
  struct Case {
    std::vector<std::string> folder;
    const char* target;
    std::string path;  // "none" where there is nothing
  };
  const Case cases[] = {
      {{}, "a/b/c", "a/b/c"},       {{}, "/k", "a/b/c"}, {{"a"}, "b/../../k", "a/b/c"}, {{}, "up/b", "a/b"},
      {{}, "a/b/self/self", "a/b"}, {{}, "l/..", "a"},   {{}, "loop", "none"},          {{}, "a/b/c/d", "none"},
      {{}, "a/b/c/..", "none"},     {{}, "/..", ""},     {{"a", "b"}, "abs/b", "a/b"},  {{}, "a/r/a/r/k", "a/b/c"},
      {{}, "none", "none"},
  };
  for (const Case& c : cases) {
    const auto place = tree.Follow(c.folder, c.target);
    EXPECT_EQ(place.node == nullptr ? "none" : Join(place.path, "/"), c.path) << c.target;
  }
}

TEST(ImageTree, WhatIsTooMuchIsRefused_G9) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "d/";
  EXPECT_THAT(Filled(deep), HasSubstr("lies too deep"));
  EXPECT_THAT(Filled(std::string(300, 'n')), HasSubstr("too long a name"));
  // Through links, too.
  std::string chain, below;
  for (int i = 0; i < 90; ++i) chain += i == 0 ? "d" : "/d";
  for (int i = 0; i < 20; ++i) below += "e/";
  EXPECT_THAT(Filled(chain + "/ l>" + chain + " l/" + below), HasSubstr("lies too deep"));
  EXPECT_EQ(Filled(chain + "/ l>" + chain + " l/e/").find("lies too deep"), std::string::npos);
  ImageTree tree;
  Status added;
  for (int i = 0; i < 300'000 && added.ok(); ++i) added = tree.Add({.name = "a"}, 1);
  EXPECT_THAT(added.error().message, HasSubstr("more than 200000 files"));
}

}  // namespace
}  // namespace capi::local
