// What a move writes down on the Clusters and ClusterClasses that it pauses, so that the next run knows how far it came
// and what was paused before.
#pragma once

#include <optional>
#include <string>

#include "kube/meta/object.h"

namespace capi::cli::move {

inline constexpr std::string_view kRecordAnnotation = "operator.cluster.x-k8s.io/move";
inline constexpr std::string_view kPausedAnnotation = "cluster.x-k8s.io/paused";

// In the place of a management cluster's identity: that of a folder, by its path or what it holds.
std::string DirectoryEnd(const std::string& identity);
bool IsDirectory(const std::string& end);

// Whence a move goes and whither: the uid of the CustomResourceDefinition of Clusters there, or a DirectoryEnd. A
// value.
struct Ends {
  std::string from, to;
  bool operator==(const Ends&) const = default;
};

// A value.
struct Record {
  Ends ends;
  bool was_paused = false;  // by somebody else, so that it stays so
  std::string run = {};     // which wrote it last; "" with a directory
  bool operator==(const Record&) const = default;
};

std::string ToText(const Record& record);

// The record on a Cluster or ClusterClass. It counts as long as the object is paused: whoever resumes it by hand ends
// the move's part in it. What can't be read is none.
std::optional<Record> RecordOf(const kube::Object& object);
// The same whether it counts or not: what is left of a move when it ends.
std::optional<Record> WrittenRecord(const kube::Object& object);

// Whether it is of a move between `ends`, or of one back between these clusters. What is half restored out of a
// directory isn't to be written into it.
bool IsOf(const Record& record, const Ends& ends);
// Whether a move between `ends` goes on with what has the record. One that takes over from a move into a directory
// does, too, which left everything where it was.
bool GoesOn(const Record& record, const Ends& ends);

// spec.paused of a Cluster, the annotation of a ClusterClass.
bool IsPaused(const kube::Object& object);

// Pauses `object` and writes the record down.
void Pause(kube::Object& object, const Record& record);
// The merge patches that do that, and take it back.
Json PausePatch(const kube::Object& object, const Record& record);
Json ResumePatch(const kube::Object& object, const Record& record);

}  // namespace capi::cli::move
