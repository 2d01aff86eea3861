#include "cli/move/record.h"

#include "base/encoding.h"

namespace capi::cli::move {
namespace {

constexpr std::string_view kDirectory = "directory-";

bool IsCluster(const kube::Object& object) { return object.kind() == "Cluster"; }

}  // namespace

std::string DirectoryEnd(const std::string& identity) {
  return std::string(kDirectory) + Sha256Hex(identity).substr(0, 16);
}

bool IsDirectory(const std::string& end) { return end.starts_with(kDirectory); }

std::string ToText(const Record& record) {
  Json json = {{"from", record.ends.from}, {"to", record.ends.to}};
  if (record.was_paused) json["wasPaused"] = true;
  if (!record.run.empty()) json["run"] = record.run;
  return ToJsonText(json);
}

std::optional<Record> RecordOf(const kube::Object& object) {
  return IsPaused(object) ? WrittenRecord(object) : std::nullopt;
}

std::optional<Record> WrittenRecord(const kube::Object& object) {
  auto json = ParseJson(object.annotation(kRecordAnnotation));
  if (!json.ok()) return std::nullopt;
  Record out{
      {GetString(*json, {"from"}), GetString(*json, {"to"})}, GetBool(*json, {"wasPaused"}), GetString(*json, {"run"})};
  if (out.ends.from.empty() || out.ends.to.empty()) return std::nullopt;
  return out;
}

bool IsOf(const Record& record, const Ends& ends) {
  if (record.ends == ends) return true;
  return record.ends == Ends{ends.to, ends.from} && !IsDirectory(ends.from) && !IsDirectory(ends.to);
}

bool GoesOn(const Record& record, const Ends& ends) {
  return IsOf(record, ends) || (IsDirectory(record.ends.to) && record.ends.from == ends.from);
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
