// A move into files, and out of them: `{Kind}_{namespace}_{name}.yaml`, an object as JSON in each, as Cluster API's
// clusterctl writes and reads them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/move/graph.h"
#include "cli/move/work.h"
#include "kube/client/client.h"

namespace capi::cli::move {

// Gives the source as it is now, or why it can't be saved any more as an earlier graph has it.
using LookAgain = std::function<Result<Graph>()>;

// Writes all that moves. When all is written `look_again` is asked, and what has changed by then is written again. Then
// the files appear: a run that is interrupted before leaves a folder of its own in `directory`, which the next one
// removes, and with which nothing is read from `directory`.
Status WriteDirectory(const Context& ctx, const Graph& graph, kube::Client& source, const std::string& directory,
                      const LookAgain& look_again, Progress& progress);

// As the end of a move into it (DirectoryEnd). kNotFound for none; kInvalidArgument for a file in its place.
Result<std::string> OpenDirectory(const std::string& directory);
// As the end of a move out of it: by the uids of its Clusters and ClusterClasses, so that a copy of the folder is the
// same end. Pure.
std::string EndOf(const Graph& graph);

// What the files hold, and which one each of the objects is in. A value.
struct FromFiles {
  Graph graph;
  std::vector<std::string> paths;  // of each node
};

// Kinds are those of the target. kInvalidArgument names the file that is none of an object.
Result<FromFiles> ReadDirectory(const Context& ctx, kube::Client& target, const std::string& directory);
// The object of a node, read again, so that not all are held at once.
Result<kube::Object> ReadNode(const FromFiles& files, size_t node);

// The text of an object's file. Pure.
std::string FileText(kube::Object object);

}  // namespace capi::cli::move
