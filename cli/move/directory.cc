#include "cli/move/directory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/move/discover.h"

namespace capi::cli::move {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinished = ".clusterctl-move-unfinished";
constexpr size_t kMostBytesOfFile = 64u << 20;

Status FileStatus(const std::string& path, const std::error_code& error) {
  if (!error) return Ok();
  return Error{Code::kInternal, fmt::format("{}: {}", path, error.message()), {}};
}

// Files of objects that would have one name get their group into it.
std::vector<std::string> NamesOf(const Graph& graph, const std::vector<size_t>& which) {
  auto name = [&](size_t i, bool with_group) {
    const kube::Resource& resource = graph.kind(i).resource;
    std::string kind = with_group ? kube::GroupKind{resource.group, resource.kind}.ToString() : resource.kind;
    return fmt::format("{}_{}_{}.yaml", kind, graph.nodes[i].ns, graph.nodes[i].name);
  };
  std::map<std::string, int> count;
  for (size_t i : which) ++count[name(i, false)];
  std::vector<std::string> out;
  for (size_t i : which) out.push_back(name(i, count[name(i, false)] > 1));
  return out;
}

// One Cluster or ClusterClass that a move alone has paused is written as clusterctl writes it: paused. On one that was
// paused before, the record says so.
void DropRecord(kube::Object& object) {
  std::optional<Record> record = RecordOf(object);
  if (!object.has_annotation(kRecordAnnotation) || (record && record->was_paused)) return;
  Json* annotations = Find(object.json(), {"metadata", "annotations"});
  annotations->erase(std::string(kRecordAnnotation));
  if (annotations->empty()) object.json()["metadata"].erase("annotations");
}

Result<std::vector<kube::Object>> ObjectsOf(const std::string& path) {
  std::string text = TRY(ReadFile(path, kMostBytesOfFile));
  std::vector<Json> documents;
  if (Trim(text).starts_with("{")) {
    documents.push_back(TRY_WITH(ParseJson(text), path));
  } else {
    for (YamlDocument& document : TRY_WITH(ParseYamlStream(text), path)) documents.push_back(std::move(document.value));
  }
  std::vector<kube::Object> out;
  for (Json& document : documents) {
    kube::Object object(std::move(document));
    if (!object.json().is_object() || object.kind().empty() || object.api_version().empty() || object.name().empty())
      return Error{Code::kInvalidArgument, path + ": is no Kubernetes object (apiVersion, kind, metadata.name)", {}};
    out.push_back(std::move(object));
  }
  return out;
}

// An object that somebody wrote by hand has no uid.
std::string UidOf(const kube::Object& object) { return object.uid().empty() ? object.id().ToString() : object.uid(); }

// Kinds of the target at the versions of the files. Thread-compatible.
class Kinds {
 public:
  static Result<Kinds> Of(const Context& ctx, kube::Client& target) {
    return Kinds(ctx, target, TRY(ReadKinds(ctx, target)));
  }

  Result<size_t> Index(const kube::Object& object) {
    kube::GroupVersion version = object.group_version();
    auto key = std::make_pair(object.api_version(), object.kind());
    if (auto found = indices_.find(key); found != indices_.end()) return found->second;
    MovedKind kind;
    for (const MovedKind& known : known_)
      if (known.resource.group == version.group && known.resource.kind == object.kind()) kind = known;
    auto served = target_.mapper().For(ctx_, {version.group, object.kind()}, version.version);
    if (!served.ok() && served.code() != Code::kNotFound) return served.error();
    // Whether it is missed is seen when it is known which objects move.
    kind.resource = served.ok() ? *served
                                : kube::Resource{.group = version.group,
                                                 .version = version.version,
                                                 .kind = object.kind(),
                                                 .namespaced = !object.ns().empty()};
    found_.push_back(kind);
    return indices_[key] = found_.size() - 1;
  }

  std::vector<MovedKind>& found() { return found_; }

 private:
  Kinds(const Context& ctx, kube::Client& target, std::vector<MovedKind> known)
      : ctx_(ctx), target_(target), known_(std::move(known)) {}

  const Context& ctx_;
  kube::Client& target_;
  std::vector<MovedKind> known_, found_;
  std::map<std::pair<std::string, std::string>, size_t> indices_;
};

Status Publish(const std::string& staging, const std::string& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::error_code error;
    fs::rename(staging + "/" + name, directory + "/" + name, error);
    TRY(FileStatus(directory + "/" + name, error));
  }
  std::error_code error;
  fs::remove_all(staging, error);
  return FileStatus(staging, error);
}

// Files of an earlier move would be read with those of this one.
Status TellOthers(const std::string& directory, std::vector<std::string> names, Progress& progress) {
  std::sort(names.begin(), names.end());
  std::vector<std::string> others;
  for (const std::string& name : TRY(ListDir(directory)))
    if (!std::binary_search(names.begin(), names.end(), name)) others.push_back(name);
  if (others.empty()) return Ok();
  progress.Warn(fmt::format("{} has files that aren't of this move, and that --from-directory would read: {}",
                            directory, JoinNames(others, 5)));
  return Ok();
}

// What is saved: an object of the graph each, its file, and the resource version that is in it. A value.
struct Saved {
  std::vector<size_t> nodes;
  std::vector<std::string> names, versions = std::vector<std::string>(names.size());
};

Status WriteStaged(const Context& ctx, const Graph& graph, kube::Client& source, const std::string& staging,
                   const std::vector<size_t>& which, Saved& saved, Progress& progress) {
  return ForEach(ctx, which, [&](size_t at) -> Status {
    const size_t i = saved.nodes[at];
    const Node& node = graph.nodes[i];
    progress.Say(1, "Saving", {{graph.kind(i).resource.kind, node.name}, {"Namespace", node.ns}});
    kube::Object object = TRY_WITH(ReadNode(ctx, source, graph, i), "failed to read " + graph.Describe(i));
    saved.versions[at] = object.resource_version();
    return WriteFile(staging + "/" + saved.names[at], FileText(std::move(object)), 0600);
  });
}

// Those of which `now` has another version, or none.
std::vector<size_t> Changed(const Saved& saved, const Graph& graph, const Graph& now) {
  std::vector<size_t> out;
  for (size_t at = 0; at < saved.nodes.size(); ++at) {
    auto found = now.by_uid.find(graph.nodes[saved.nodes[at]].uid);
    if (found == now.by_uid.end() || now.nodes[found->second].version != saved.versions[at]) out.push_back(at);
  }
  return out;
}

Status WriteAllStaged(const Context& ctx, const Graph& graph, kube::Client& source, const std::string& staging,
                      const LookAgain& look_again, Saved& saved, Progress& progress) {
  std::vector<size_t> all(saved.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  TRY(WriteStaged(ctx, graph, source, staging, all, saved, progress));
  const Graph now = TRY(look_again());
  return WriteStaged(ctx, graph, source, staging, Changed(saved, graph, now), saved, progress);
}

}  // namespace

std::string FileText(kube::Object object) {
  DropRecord(object);
  // As Go's encoder, for which a text may stand in a web page.
  std::string text = ToJsonText(object.json());
  for (const auto& [from, to] :
       {std::pair{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}})
    text = ReplaceAll(std::move(text), from, to);
  return text + "\n";
}

Result<std::string> OpenDirectory(const std::string& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0)
    return Error{Code::kNotFound, fmt::format("{}: there is no such folder", directory), {}};
  if (!S_ISDIR(info.st_mode)) return Error{Code::kInvalidArgument, fmt::format("{}: is no folder", directory), {}};
  std::error_code error;
  fs::path path = fs::canonical(directory, error);
  TRY(FileStatus(directory, error));
  return DirectoryEnd(path.string());
}

std::string EndOf(const Graph& graph) {
  std::vector<std::string> uids;
  for (Role role : {Role::kCluster, Role::kClusterClass})
    for (size_t i : graph.Moving(role)) uids.push_back(graph.nodes[i].uid);
  std::sort(uids.begin(), uids.end());
  std::string all;
  for (const std::string& uid : uids) all += uid + "\n";
  return DirectoryEnd(all);
}

Status WriteDirectory(const Context& ctx, const Graph& graph, kube::Client& source, const std::string& directory,
                      const LookAgain& look_again, Progress& progress) {
  std::vector<size_t> nodes;
  for (const auto& group : graph.groups) nodes.insert(nodes.end(), group.begin(), group.end());
  Saved saved{nodes, NamesOf(graph, nodes)};
  const std::string staging = directory + "/" + std::string(kUnfinished);
  std::error_code error;
  fs::remove_all(staging, error);
  TRY(FileStatus(staging, error));
  if (mkdir(staging.c_str(), 0700) != 0) return FileStatus(staging, std::error_code(errno, std::generic_category()));
  Status written = WriteAllStaged(ctx, graph, source, staging, look_again, saved, progress);
  if (!written.ok()) {
    fs::remove_all(staging, error);  // before there is any file of it
    return written.error().With("no file was written; run the same command again");
  }
  TRY(Publish(staging, directory, saved.names));
  return TellOthers(directory, saved.names, progress);
}

Result<FromFiles> ReadDirectory(const Context& ctx, kube::Client& target, const std::string& directory) {
  Kinds kinds = TRY(Kinds::Of(ctx, target));
  GraphInput input;
  std::map<std::string, std::string> path_of;
  for (const std::string& name : TRY(ListDir(directory))) {
    std::string path = directory + "/" + name;
    if (name == kUnfinished)
      return Error{Code::kFailedPrecondition,
                   fmt::format("{}: the move into this folder hasn't ended. Run it again, with --to-directory", path),
                   {}};
    for (const kube::Object& object : TRY(ObjectsOf(path))) {
      size_t index = TRY_WITH(kinds.Index(object), path);
      Node node = NodeOf(object, index, kinds.found()[index]);
      node.uid = UidOf(object);
      if (!path_of.emplace(node.uid, path).second)
        return Error{Code::kInvalidArgument,
                     fmt::format("{}: {} is in {} too", path, object.id().ToString(), path_of[node.uid]),
                     {}};
      input.nodes.push_back(std::move(node));
    }
  }
  input.kinds = std::move(kinds.found());
  FromFiles out{TRY(MakeGraph(std::move(input))), {}};
  for (const Node& node : out.graph.nodes) out.paths.push_back(path_of[node.uid]);
  return out;
}

Result<kube::Object> ReadNode(const FromFiles& files, size_t node) {
  for (kube::Object& object : TRY(ObjectsOf(files.paths[node])))
    if (UidOf(object) == files.graph.nodes[node].uid) return std::move(object);
  return Error{Code::kNotFound, files.paths[node] + ": has changed while it was read", {}};
}

}  // namespace capi::cli::move
