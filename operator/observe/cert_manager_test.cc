// I19: when cert-manager counts as serving.
#include "operator/observe/cert_manager.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace capi::ops {
namespace {

const WallTime kNow{Seconds(1'800'000'000)};

kube::ObjectPtr Controller(int replicas, const std::string& available, Seconds ago) {
  Json conditions = Json::array();
  if (!available.empty()) {
    conditions.push_back(
        {{"type", "Available"}, {"status", available}, {"lastTransitionTime", FormatTime(kNow - ago)}});
  }
  return std::make_shared<const kube::Object>(
      Json{{"apiVersion", "apps/v1"},
           {"kind", "Deployment"},
           {"metadata", {{"name", "cert-manager"}, {"namespace", "x"}, {"creationTimestamp", FormatTime(kNow - ago)}}},
           {"spec", {{"replicas", replicas}}},
           {"status", {{"conditions", conditions}}}});
}

TEST(CertManagerSight, OneThatIsAvailableServesAndItsOwnProvidersWaitForIt) {  // I19
  struct Case {
    std::string name;
    std::vector<kube::ObjectPtr> controllers;
    bool in_use, serves;
    std::optional<Millis> until;
  };
  const Case cases[] = {
      {"none", {}, true, false, {}},
      {"available", {Controller(1, "True", Seconds(0))}, false, true, {}},
      {"coming up, and nobody's yet", {Controller(1, "False", Seconds(60))}, false, false, {}},
      {"away for a minute", {Controller(1, "False", Seconds(60))}, true, true, Seconds(540)},
      {"away for ten", {Controller(1, "False", Seconds(600))}, true, false, {}},
      {"at zero", {Controller(0, "True", Seconds(60))}, true, false, {}},
      {"just made", {Controller(1, "", Seconds(1))}, true, true, Seconds(599)},
      {"one of two", {Controller(0, "False", Seconds(9000)), Controller(1, "True", Seconds(9))}, true, true, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const CertManagerSight sight = SightOf(c.controllers, c.in_use, kNow);
    EXPECT_EQ(sight.serves, c.serves);
    EXPECT_EQ(sight.until, c.until);
  }
}

}  // namespace
}  // namespace capi::ops
