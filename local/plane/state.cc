#include "local/plane/state.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/json.h"

namespace capi::local {
namespace {

Json Encode(const ProcessState& one) {
  return {{"name", one.name},         {"pid", one.pid},     {"started", FormatTime(one.started)},
          {"restarts", one.restarts}, {"ready", one.ready}, {"port", one.port},
          {"message", one.message}};
}

Result<ProcessState> Decode(const Json& json) {
  ProcessState out;
  out.name = GetString(json, {"name"});
  out.pid = static_cast<pid_t>(GetInt(json, {"pid"}));
  out.started = TRY(ParseTime(GetString(json, {"started"})));
  out.restarts = static_cast<int>(GetInt(json, {"restarts"}));
  out.ready = GetBool(json, {"ready"});
  out.port = static_cast<int>(GetInt(json, {"port"}));
  out.message = GetString(json, {"message"});
  return out;
}

// On a disk without room for a second file. Who reads meanwhile may see half of it, and takes it for none.
bool WroteInPlace(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto size = static_cast<ssize_t>(text.size());
  const bool done = pwrite(fd, text.data(), text.size(), 0) == size && ftruncate(fd, size) == 0;
  close(fd);
  return done;
}

}  // namespace

Result<PlaneState> ReadState(const std::string& path) {
  const std::string text = TRY(ReadFile(path, 1u << 20));
  const Json json = TRY_WITH(ParseJson(text), path);
  PlaneState out;
  out.supervisor = static_cast<pid_t>(GetInt(json, {"supervisor"}));
  out.started = TRY_WITH(ParseTime(GetString(json, {"started"})), path);
  out.ready = GetBool(json, {"ready"});
  out.port = static_cast<int>(GetInt(json, {"port"}));
  out.message = GetString(json, {"message"});
  const Json* processes = Find(json, {"processes"});
  if (processes == nullptr || !processes->is_array()) return out;
  for (const Json& one : *processes) out.processes.push_back(TRY_WITH(Decode(one), path));
  return out;
}

Status WriteState(const std::string& path, const PlaneState& state) {
  Json json = {{"supervisor", state.supervisor}, {"started", FormatTime(state.started)},
               {"ready", state.ready},           {"port", state.port},
               {"message", state.message},       {"processes", Json::array()}};
  for (const ProcessState& one : state.processes) json["processes"].push_back(Encode(one));
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  Status done = WriteFile(path, text, 0600);
  if (done.ok() || WroteInPlace(path, text)) return Ok();
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return done;
}

void BeginState(const std::string& path, pid_t supervisor, WallTime now) {
  const auto before = ReadState(path);
  PlaneState state{.supervisor = supervisor, .started = now, .message = "starting"};
  if (before.ok()) state.port = before->port;
  (void)WriteState(path, state);
}

}  // namespace capi::local
