#include "kube/cache/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ObjectPtr Thing(std::string ns, std::string name, std::string version, std::string uid = "u") {
  return std::make_shared<const Object>(
      Json{{"metadata", {{"namespace", ns}, {"name", name}, {"resourceVersion", version}, {"uid", uid}}}});
}

std::string Text(const ObjectPtr& o) {
  return o == nullptr ? "-" : o->ns() + "/" + o->name() + "@" + o->resource_version();
}
std::string Text(const Store::Change& c) { return Text(c.was) + " > " + Text(c.is); }

std::vector<std::string> Texts(const Store& store) {
  std::vector<std::string> out;
  for (const auto& object : store.List()) out.push_back(Text(object));
  return out;
}

TEST(Store, KeepsObjectsByNamespaceAndName) {
  Store store;
  for (const auto& [ns, name] : {std::pair{"b", "a"}, {"a-b", "x"}, {"a", "y"}, {"", "cluster"}, {"a", "b"}}) {
    EXPECT_TRUE(store.Put(Thing(ns, name, "1")).has_value());
  }
  EXPECT_THAT(Texts(store), ElementsAre("/cluster@1", "a/b@1", "a/y@1", "a-b/x@1", "b/a@1"));
  EXPECT_EQ(Text(store.Get("a", "y")), "a/y@1");
  EXPECT_EQ(store.Get("a", "x"), nullptr);
}

TEST(Store, TellsWhatChanged) {
  Store store;
  EXPECT_EQ(Text(*store.Put(Thing("n", "a", "1"))), "- > n/a@1");
  EXPECT_EQ(Text(*store.Put(Thing("n", "a", "2"))), "n/a@1 > n/a@2");
  EXPECT_EQ(store.Put(Thing("n", "a", "2")), std::nullopt) << "the same version again";
  EXPECT_TRUE(store.Put(Thing("n", "a", "")).has_value()) << "without a version nothing is known to be the same";
  EXPECT_EQ(Text(*store.Remove("n", "a")), "n/a@ > -");
  EXPECT_EQ(store.Remove("n", "a"), std::nullopt);
}

TEST(Store, ReplaceTellsTheDifferenceDeletionsFirst) {
  Store store;
  for (const auto& o : {Thing("n", "gone", "1"), Thing("n", "same", "2"), Thing("n", "changed", "3"),
                        Thing("n", "reborn", "4", "old")}) {
    store.Put(o);
  }
  Store::Objects next;
  for (const auto& o : {Thing("n", "same", "2"), Thing("n", "changed", "9"), Thing("n", "new", "8"),
                        Thing("n", "reborn", "4", "young")}) {
    next[{o->ns(), o->name()}] = o;
  }
  std::vector<std::string> changes;
  for (const auto& change : store.Replace(std::move(next))) changes.push_back(Text(change));
  EXPECT_THAT(changes,
              ElementsAre("n/gone@1 > -", "n/changed@3 > n/changed@9", "- > n/new@8", "n/reborn@4 > n/reborn@4"));
  EXPECT_THAT(Texts(store), ElementsAre("n/changed@9", "n/new@8", "n/reborn@4", "n/same@2"));
}

}  // namespace
}  // namespace capi::kube
