#include "cli/move/record.h"

namespace capi::cli::move {
namespace {

bool IsCluster(const kube::Object& object) { return object.kind() == "Cluster"; }

}  // namespace

std::string ToText(const Record& record) {
  Json json = {{"from", record.ends.from}, {"to", record.ends.to}};
  if (record.was_paused) json["wasPaused"] = true;
  return ToJsonText(json);
}

std::optional<Record> RecordOf(const kube::Object& object) {
  if (!IsPaused(object)) return std::nullopt;
  auto json = ParseJson(object.annotation(kRecordAnnotation));
  if (!json.ok()) return std::nullopt;
  Record out{{GetString(*json, {"from"}), GetString(*json, {"to"})}, GetBool(*json, {"wasPaused"})};
  if (out.ends.from.empty() || out.ends.to.empty()) return std::nullopt;
  return out;
}

bool GoesOn(const Record& record, const Ends& ends) {
  if (record.ends == ends || record.ends == Ends{ends.to, ends.from}) return true;
  return record.ends == Ends{ends.from, std::string(kDirectory)};
}

bool IsPaused(const kube::Object& object) {
  if (IsCluster(object)) return GetBool(object.json(), {"spec", "paused"});
  return object.has_annotation(kPausedAnnotation);
}

void Pause(kube::Object& object, const Record& record) { object.json().merge_patch(PausePatch(object, record)); }

Json PausePatch(const kube::Object& object, const Record& record) {
  Json patch;
  Ensure(patch, {"metadata", "annotations", kRecordAnnotation}) = ToText(record);
  if (IsPaused(object)) return patch;
  if (IsCluster(object)) {
    Ensure(patch, {"spec", "paused"}) = true;
  } else {
    Ensure(patch, {"metadata", "annotations", kPausedAnnotation}) = "";
  }
  return patch;
}

Json ResumePatch(const kube::Object& object, const Record& record) {
  Json patch;
  Ensure(patch, {"metadata", "annotations", kRecordAnnotation}) = nullptr;
  if (record.was_paused) return patch;
  if (IsCluster(object)) {
    Ensure(patch, {"spec", "paused"}) = nullptr;
  } else {
    Ensure(patch, {"metadata", "annotations", kPausedAnnotation}) = nullptr;
  }
  return patch;
}

}  // namespace capi::cli::move
