#include "kube/client/watch_decoder.h"

#include <fmt/core.h>

#include "base/strings.h"
#include "kube/client/status_error.h"

namespace capi::kube {
namespace {

constexpr size_t kMaxLine = 64u << 20;    // many times what etcd can hold
constexpr size_t kKeptBuffer = 4u << 10;  // a larger buffer is given back after its event

Error Broken(std::string message) { return {Code::kUnavailable, "watch: " + std::move(message), {}}; }

bool ParseType(std::string_view text, WatchEvent::Type& out) {
  if (text == "ADDED") return out = WatchEvent::Type::kAdded, true;
  if (text == "MODIFIED") return out = WatchEvent::Type::kModified, true;
  if (text == "DELETED") return out = WatchEvent::Type::kDeleted, true;
  if (text == "BOOKMARK") return out = WatchEvent::Type::kBookmark, true;
  return false;
}

}  // namespace

WatchDecoder::WatchDecoder(const Resource* kind_of, std::function<Status(WatchEvent)> on_event)
    : kind_of_(kind_of), on_event_(std::move(on_event)) {}

Status WatchDecoder::Feed(std::string_view piece) {
  while (!piece.empty()) {
    size_t end = piece.find('\n');
    if (end == piece.npos) {
      if (partial_.size() + piece.size() > kMaxLine) return Broken(fmt::format("an event over {} bytes", kMaxLine));
      partial_ += piece;
      return Ok();
    }
    std::string_view line = piece.substr(0, end);
    piece.remove_prefix(end + 1);
    if (partial_.empty()) {
      TRY(Line(line));
      continue;
    }
    partial_ += line;
    TRY(Line(partial_));
    partial_.clear();
    if (partial_.capacity() > kKeptBuffer) partial_.shrink_to_fit();
  }
  return Ok();
}

Status WatchDecoder::End() const {
  if (Trim(partial_).empty()) return Ok();
  return Broken("the stream ended in the middle of an event");
}

Status WatchDecoder::Line(std::string_view line) {
  if (Trim(line).empty()) return Ok();
  Result<Json> parsed = ParseJson(line);
  if (!parsed.ok()) return Broken(parsed.error().message);
  Json* object = Find(*parsed, {"object"});
  if (object == nullptr || !object->is_object()) return Broken("an event without an object");
  std::string type = GetString(*parsed, {"type"});
  if (type == "ERROR") return ErrorFromStatus(*object);

  WatchEvent event{};
  if (!ParseType(type, event.type)) return Broken(fmt::format("an event of unknown type \"{}\"", type));
  event.object = Object(std::move(*object));
  *parsed = Json();  // the envelope: only the object lives on
  if (kind_of_ != nullptr) {
    event.object.json()["apiVersion"] = kind_of_->api_version();
    event.object.json()["kind"] = kind_of_->kind;
  }
  event.initial_events_end =
      event.type == WatchEvent::Type::kBookmark && event.object.annotation("k8s.io/initial-events-end") == "true";
  return on_event_(std::move(event));
}

}  // namespace capi::kube
