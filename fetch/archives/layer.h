// The layers of container images: tar archives as they come, piece by piece, with links and long names. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::fetch {

// A value.
struct LayerEntry {
  enum class Kind { kFile, kFolder, kSymbolicLink, kHardLink, kOther };  // kOther: devices and the like

  Kind kind = Kind::kFile;
  std::string name;         // as it stands there: whoever wants a file has to look
  std::string link;         // of links: where to
  std::uint64_t size = 0;   // of a file
  bool executable = false;  // for anybody
};

// What becomes of the entries. An error ends the reading. A value.
struct LayerVisitor {
  std::function<Status(const LayerEntry& entry)> begin;
  std::function<Status(std::string_view piece)> content = {};  // of the file that began last
  std::function<Status()> end = {};                            // of a file; all its bytes came
};

// Reads what tar programs write: POSIX's format with its extended headers, GNU's long names and large sizes, and the
// format of before POSIX.
// Holds no more than a header, whatever the archive has. Errors are kInvalidArgument, kUnsupported for sparse files,
// and those of the visitor; after one nothing may be added. Thread-compatible.
class LayerReader {
 public:
  explicit LayerReader(LayerVisitor visitor) : visitor_(std::move(visitor)) {}

  Status Add(std::string_view piece);
  // kInvalidArgument where it is cut off. What is behind its end counts for nothing.
  Status Finish() const;

 private:
  Status Header(std::string_view header);
  Status Entry(std::string_view header, char type, std::uint64_t size);
  Status BeginContent(std::uint64_t size);
  Status EndContent();
  Status TakeContent(std::string_view piece);
  Status Extended();

  const LayerVisitor visitor_;
  std::string header_;                       // what came of the next one
  std::uint64_t content_ = 0, padding_ = 0;  // bytes to come
  char extension_ = '\0';                    // the content is that of an extended header of this type
  std::string extension_text_;               // what came of it
  bool is_file_ = false;                     // the content is a file's
  std::string next_name_, next_link_;        // of the next entry, where an extended header has them; else ""
  std::string next_size_;
  bool ended_ = false;
};

}  // namespace capi::fetch
