#include "kube/apply/inventory.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

const ObjectId kDeployment{"apps", "Deployment", "capi-system", "manager"};
const ObjectId kRole{"rbac.authorization.k8s.io", "ClusterRole", "", "manager"};
const ObjectId kSecret{"", "Secret", "capi-system", "credentials"};

TEST(Inventory, RoundTripIsSortedAndLeavesOutWhatIsEmpty) {
  Inventory inventory;
  inventory.Put(kRole, {.version = "v1", .hash = "0123456789abcdef", .fields = "fedcba9876543210"});
  inventory.Put(kDeployment, {.version = "v1", .hash = "aa", .fields = "bb", .stale = true});
  inventory.Put(kSecret, {.version = "v1"});

  EXPECT_EQ(ToJsonText(inventory.ToJson()),
            R"([{"kind":"Secret","name":"credentials","namespace":"capi-system","version":"v1"},)"
            R"({"fields":"bb","group":"apps","hash":"aa","kind":"Deployment","name":"manager",)"
            R"("namespace":"capi-system","stale":true,"version":"v1"},)"
            R"({"fields":"fedcba9876543210","group":"rbac.authorization.k8s.io","hash":"0123456789abcdef",)"
            R"("kind":"ClusterRole","name":"manager","version":"v1"}])");
  auto parsed = Inventory::Parse(inventory.ToJson());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(*parsed, inventory);
  EXPECT_EQ(Inventory::Parse(Json())->size(), 0u);
  EXPECT_EQ(parsed->Find({"", "Secret", "other", "credentials"}), nullptr);
}

// An unreadable inventory must stop a prune: it is never taken for an empty one (U4).
TEST(Inventory, MalformedEntriesAreErrorsThatNameThem) {
  struct Case {
    std::string_view json, error;
  };
  const Case cases[] = {
      {R"({})", "inventory: no list"},
      {R"("")", "inventory: no list"},
      {R"([1])", "inventory entry 0: no object"},
      {R"([{"kind":"Secret","version":"v1"}])", "inventory entry 0: name is missing"},
      {R"([{"name":"a","version":"v1"}])", "inventory entry 0: kind is missing"},
      {R"([{"kind":"Secret","name":"a"}])", "inventory entry 0: version is missing"},
      {R"([{"kind":"Secret","name":"a","version":""}])", "inventory entry 0: version is missing"},
      {R"([{"kind":"Secret","name":"a","version":"v1"},{"kind":7,"name":"a","version":"v1"}])",
       "inventory entry 1: kind is no string"},
      {R"([{"kind":"Secret","name":"a","version":"v1","namespace":null}])",
       "inventory entry 0: namespace is no string"},
      {R"([{"kind":"Secret","name":"a","version":"v1","hash":1}])", "inventory entry 0: hash is no string"},
      {R"([{"kind":"Secret","name":"a","version":"v1","stale":"yes"}])", "inventory entry 0: stale is no boolean"},
      {R"([{"kind":"Secret","name":"a","version":"v1"},{"kind":"Secret","name":"a","version":"v2"}])",
       "inventory entry 1: Secret/a is there twice"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    auto parsed = Inventory::Parse(*ParseJson(c.json));
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.code(), Code::kInvalidArgument);
    EXPECT_EQ(parsed.error().message, c.error);
  }
}

}  // namespace
}  // namespace capi::kube
