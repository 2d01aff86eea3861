#include "cli/move/record.h"

#include <gtest/gtest.h>

namespace capi::cli::move {
namespace {

kube::Object Cluster(bool paused) {
  Json json = {
      {"kind", "Cluster"}, {"metadata", {{"name", "a"}, {"annotations", {{"mine", "x"}}}}}, {"spec", {{"x", 1}}}};
  if (paused) json["spec"]["paused"] = true;
  return kube::Object(json);
}

kube::Object Class(bool paused) {
  Json json = {{"kind", "ClusterClass"}, {"metadata", {{"name", "a"}}}, {"spec", {{"x", 1}}}};
  if (paused) json["metadata"]["annotations"]["cluster.x-k8s.io/paused"] = "why";
  return kube::Object(json);
}

// L17: what was paused before stays as it was, the other is as before.
TEST(MoveRecord, PausesAndResumes) {
  for (bool was_paused : {false, true}) {
    for (const kube::Object& before : {Cluster(was_paused), Class(was_paused)}) {
      SCOPED_TRACE(before.json());
      Record record{{"a", "b"}, was_paused, "run"};
      kube::Object object = before;
      Pause(object, record);
      EXPECT_TRUE(IsPaused(object));
      EXPECT_EQ(RecordOf(object), record);
      object.json().merge_patch(ResumePatch(object, record));
      EXPECT_EQ(RecordOf(object), std::nullopt);
      EXPECT_EQ(IsPaused(object), was_paused);
      if (before.kind() == "Cluster" || was_paused) EXPECT_EQ(object.json(), before.json());
    }
  }
}

// L17: a record doesn't outlive the pause.
TEST(MoveRecord, CountsWhileItsObjectIsPaused) {
  kube::Object object = Cluster(true);
  object.set_annotation(kRecordAnnotation, ToText({{"a", "b"}}));
  EXPECT_EQ(RecordOf(object), (Record{{"a", "b"}}));
  object.json()["spec"].erase("paused");
  EXPECT_EQ(RecordOf(object), std::nullopt);
  EXPECT_EQ(WrittenRecord(object), (Record{{"a", "b"}}));
}

// L17.
TEST(MoveRecord, ThatCannotBeReadIsNone) {
  for (const char* text : {"", "x", "[]", "{}", R"({"from":"a"})", R"({"from":1,"to":"b"})"}) {
    kube::Object object = Cluster(true);
    object.set_annotation(kRecordAnnotation, text);
    EXPECT_EQ(RecordOf(object), std::nullopt) << text;
  }
}

// L17.
TEST(MoveRecord, BelongsToAPairOfClusters) {
  const std::string folder = DirectoryEnd("/backup"), other = DirectoryEnd("/other");
  struct Case {
    Ends record, ends;
    bool want;
  };
  const Case cases[] = {
      {{"a", "b"}, {"a", "b"}, true},        {{"a", "b"}, {"b", "a"}, true},
      {{"a", "b"}, {"a", "c"}, false},       {{"a", folder}, {"a", folder}, true},
      {{"a", folder}, {"a", other}, true},   {{"a", folder}, {"a", "b"}, true},
      {{"b", folder}, {"a", "b"}, false},    {{"a", "b"}, {"a", folder}, false},
      {{folder, "a"}, {"a", "b"}, false},    {{folder, "a"}, {folder, "a"}, true},
      {{folder, "a"}, {other, "a"}, false},  {{folder, "a"}, {"a", folder}, false},
      {{"a", folder}, {folder, "a"}, false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(GoesOn({c.record}, c.ends), c.want)
        << c.record.from << " " << c.record.to << ": " << c.ends.from << " " << c.ends.to;
}

}  // namespace
}  // namespace capi::cli::move
