// `clusterctl move` and the mark of the run that has a namespace.
#include "cli/move/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/move/move_testing.h"

namespace capi::cli::move {
namespace {

using testing::HasSubstr;

using Claims = Moves;

// L17: what a run that was taken over created too late is deleted for want of its owner, which its finalizer hinders.
TEST_F(Claims, TakeWhatCameTooLateFromTheGarbageCollector) {
  Fleet(b_).Make("Namespace", "team", "", "");
  Json late = *a_.Find("Machine", "team", "one-m");
  late["metadata"].erase("uid");
  late["metadata"]["deletionTimestamp"] = "t";
  const Json gone = late["metadata"]["ownerReferences"];
  Fleet(b_).Make("ConfigMap", "foreign");
  // It is that of somebody else: of nobody, of an owner that doesn't move, of the one that is there now.
  for (const char* kind : {"", "ConfigMap", "MachineDeployment"}) {
    SCOPED_TRACE(kind);
    Json owners = *kind ? gone : Json::array();
    auto owner = *kind ? b_.Find(kind, "team", kind == std::string("ConfigMap") ? "foreign" : "one-md") : std::nullopt;
    if (owner) owners[0].update({{"name", (*owner)["metadata"]["name"]}, {"uid", (*owner)["metadata"]["uid"]}});
    EXPECT_EQ(owner.has_value(), *kind != '\0');
    late["metadata"]["ownerReferences"] = std::move(owners);
    b_.Put(late);
    EXPECT_THAT(There().err, HasSubstr("one of its name is being deleted there; wait for its end"));
  }
  b_.Remove("ConfigMap", "team", "foreign");
  late["metadata"]["ownerReferences"] = gone;
  b_.Put(late);
  Outcome got = There();
  EXPECT_EQ(got.code, 0) << got.err;
  ExpectMoved();
}

}  // namespace
}  // namespace capi::cli::move
