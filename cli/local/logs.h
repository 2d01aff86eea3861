// `clusterctl local logs`: what the processes of a plane print.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/world.h"
#include "local/plane/plane_folder.h"

namespace capi::cli {

// The flags. A value.
struct LocalLogsOptions {
  std::string folder;
  std::vector<std::string> names;
  bool follow = false;
  int tail = -1;  // lines; -1 for all, of one process
};

// behaviour.md G8. With `follow` it ends with the context.
Status LocalLogs(const Context& ctx, const LocalLogsOptions& options, World& world);

// The log of a process. A value.
struct ProcessLog {
  std::string name;  // "etcd", "capi-system/capi-controller-manager-x:manager"
  std::string path;
};

// All that there are, sorted by name.
std::vector<ProcessLog> LogsOf(const local::PlaneFolder& folder);

// Those that a person means: a whole name, one without the container, a Pod's, or what begins with it before a "-"
// ("capi-controller-manager"). "" for all.
std::vector<ProcessLog> MeantBy(const std::string& text, const std::vector<ProcessLog>& logs);

}  // namespace capi::cli
