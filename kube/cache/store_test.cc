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
std::string Text(const Store::Change& c) { return Text(c.was.Get()) + " > " + Text(c.is.Get()); }

std::vector<std::string> Texts(const Store& store) {
  std::vector<std::string> out;
  for (const auto& object : store.List()) out.push_back(Text(object));
  return out;
}

// What a store says is the same, however it keeps objects.
class Stores : public testing::TestWithParam<bool> {
 protected:
  auto Put(const ObjectPtr& object) { return store.Put(object, GetParam()); }
  Store store;
};

TEST_P(Stores, KeepObjectsByNamespaceAndName) {
  for (const auto& [ns, name] : {std::pair{"b", "a"}, {"a-b", "x"}, {"a", "y"}, {"", "cluster"}, {"a", "b"}}) {
    EXPECT_TRUE(Put(Thing(ns, name, "1")).has_value());
  }
  EXPECT_THAT(Texts(store), ElementsAre("/cluster@1", "a/b@1", "a/y@1", "a-b/x@1", "b/a@1"));
  EXPECT_EQ(Text(store.Get("a", "y")), "a/y@1");
  EXPECT_EQ(store.Get("a", "x"), nullptr);
}

TEST_P(Stores, TellWhatChanged) {
  EXPECT_EQ(Text(*Put(Thing("n", "a", "1"))), "- > n/a@1");
  EXPECT_EQ(Text(*Put(Thing("n", "a", "2"))), "n/a@1 > n/a@2");
  EXPECT_EQ(Put(Thing("n", "a", "2")), std::nullopt) << "the same version again";
  EXPECT_TRUE(Put(Thing("n", "a", "")).has_value()) << "without a version nothing is known to be the same";
  EXPECT_EQ(Text(*store.Remove("n", "a")), "n/a@ > -");
  EXPECT_EQ(store.Remove("n", "a"), std::nullopt);
}

TEST_P(Stores, TellTheDifferenceOfAllDeletionsFirst) {
  for (const auto& o : {Thing("n", "gone", "1"), Thing("n", "same", "2"), Thing("n", "changed", "3"),
                        Thing("n", "reborn", "4", "old")}) {
    Put(o);
  }
  Store::Objects next;
  for (const auto& o : {Thing("n", "same", "2"), Thing("n", "changed", "9"), Thing("n", "new", "8"),
                        Thing("n", "reborn", "4", "young")}) {
    next[{o->ns(), o->name()}] = StoredObject(o, GetParam());
  }
  std::vector<std::string> changes;
  for (const auto& change : store.Replace(std::move(next))) changes.push_back(Text(change));
  EXPECT_THAT(changes,
              ElementsAre("n/gone@1 > -", "n/changed@3 > n/changed@9", "- > n/new@8", "n/reborn@4 > n/reborn@4"));
  EXPECT_THAT(Texts(store), ElementsAre("n/changed@9", "n/new@8", "n/reborn@4", "n/same@2"));
}

TEST_P(Stores, ListANamespace) {
  for (const char* ns : {"a", "b", "a", "b-c", ""}) Put(Thing(ns, std::string("x") + ns, "1"));
  Put(Thing("b", "y", "2"));
  std::vector<std::string> found;
  for (const auto& object : store.List("b")) found.push_back(Text(object));
  EXPECT_THAT(found, ElementsAre("b/xb@1", "b/y@2"));
  EXPECT_THAT(store.List("c"), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(As, Stores, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Texts" : "Trees"); });

// A copy that a reader got stays as it is.
TEST(StoredObject, PackedGivesEachReaderHisOwn) {
  const ObjectPtr thing = Thing("n", "a", "1");
  const StoredObject packed(thing, true), tree(thing, false), none;
  EXPECT_EQ(packed.Get()->json(), thing->json());
  EXPECT_NE(packed.Get(), packed.Get());
  EXPECT_EQ(tree.Get(), thing);
  EXPECT_EQ(none.Get(), nullptr);
  EXPECT_FALSE(none);
  EXPECT_TRUE(packed && tree);
}

TEST(StoredObject, IsTheSameVersion) {
  const auto stored = [](const char* version, bool packed, const char* uid = "u") {
    return StoredObject(Thing("n", "a", version, uid), packed);
  };
  for (bool packed : {false, true}) {
    EXPECT_TRUE(stored("1", packed).IsSameVersion(stored("1", packed)));
    EXPECT_TRUE(stored("1", packed).IsSameVersion(stored("1", !packed)));
    EXPECT_FALSE(stored("1", packed).IsSameVersion(stored("2", packed)));
    EXPECT_FALSE(stored("1", packed).IsSameVersion(stored("1", packed, "other")));
    EXPECT_FALSE(stored("", packed).IsSameVersion(stored("", packed))) << "nothing says so";
    EXPECT_FALSE(stored("1", packed).IsSameVersion(StoredObject()));
    EXPECT_FALSE(StoredObject().IsSameVersion(stored("1", packed)));
  }
  EXPECT_FALSE(StoredObject().IsSameVersion(StoredObject()));
}

}  // namespace
}  // namespace capi::kube
