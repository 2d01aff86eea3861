#include "kube/meta/stored_inventory.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

Json Entry(std::string group, std::string kind, std::string ns, std::string name) {
  Json entry = {{"kind", kind}, {"name", name}, {"version", "v1"}};
  if (!group.empty()) entry["group"] = group;
  if (!ns.empty()) entry["namespace"] = ns;
  return entry;
}

TEST(StoredInventory, TellsWhetherItListsOneOf) {
  const StoredInventory stored = Json::array(
      {Entry("apps", "Deployment", "n", "manager"), Entry("", "Node", "", "a"), Entry("", "Secret", "n", "manager")});
  const struct {
    ObjectId id;
    bool listed;
  } cases[] = {
      {{"apps", "Deployment", "n", "manager"}, true},
      {{"", "Secret", "n", "manager"}, true},
      {{"", "Node", "", "a"}, true},
      {{"apps", "Deployment", "n2", "manager"}, false},
      {{"", "Deployment", "n", "manager"}, false},
      {{"apps", "StatefulSet", "n", "manager"}, false},
      {{"", "Node", "", "b"}, false},
      {{"", "Node", "a", ""}, false},  // the parts aren't one text
  };
  std::vector<ObjectId> others;
  for (const auto& one : cases) {
    EXPECT_EQ(stored.MayListOneOf(HashesOf({one.id})), one.listed) << one.id.ToString();
    if (!one.listed) others.push_back(one.id);
  }
  EXPECT_FALSE(stored.MayListOneOf(HashesOf(others)));
  others.push_back(cases[0].id);
  others.push_back({"", "A", "", "z"});
  EXPECT_TRUE(stored.MayListOneOf(HashesOf(others))) << "wherever it is among them";
  EXPECT_FALSE(stored.MayListOneOf({}));
}

TEST(StoredInventory, TakesWhatIsNone) {
  const IdHashes ids = HashesOf({{"", "", "", ""}, {"", "Node", "", "a"}});
  for (const Json& json : {Json(), Json::array(), Json("text"), Json{{"v", 99}}}) {
    const StoredInventory stored = json;
    EXPECT_FALSE(stored.MayListOneOf(ids)) << json;
    EXPECT_EQ(stored.Unpack(), json);
  }
  const StoredInventory broken = Json::array({"x", Json{{"name", 5}}, Entry("", "Node", "", "a")});
  EXPECT_TRUE(broken.MayListOneOf(HashesOf({{"", "Node", "", "a"}}))) << "the rest of it counts";
}

}  // namespace
}  // namespace capi::kube
