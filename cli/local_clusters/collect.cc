#include "cli/local_clusters/collect.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/lookup.h"
#include "cli/frame/output.h"
#include "cli/frame/printable.h"
#include "cli/local/place.h"
#include "cli/local_clusters/manifest_folder.h"
#include "cli/local_clusters/progress.h"
#include "cli/local_clusters/watch.h"
#include "fetch/archives/tar.h"
#include "kube/client/status_error.h"
#include "kube/meta/object_conditions.h"

namespace capi::cli::local_clusters {
namespace {

namespace fs = std::filesystem;

// Of each log the end; of all objects, and of all logs, before they are packed: neither leaves no room for the other.
constexpr std::uintmax_t kMostOfLog = 4u << 20;
constexpr size_t kMostOfObjects = 192u << 20;
constexpr size_t kMostOfLogs = 64u << 20;
constexpr size_t kMaxName = 100;  // of a file in an archive (tar.h)
// A server that answers none of so many kinds, one after the other, is asked for no more: each takes its whole time.
constexpr int kMostSilent = 2;

using Files = std::map<std::string, std::string>;

// Thread-compatible.
class Gatherer {
 public:
  Gatherer(const Context& ctx, ManagementCluster* cluster, const GatherInput& input)
      : ctx_(ctx), cluster_(cluster), input_(input) {}

  Status Objects();
  void Trees();
  void Logs();
  void Miss(const std::string& what, const std::string& why) {
    errors_ += fmt::format("{}: {}\n", what, PrintableLine(input_.hider.WithoutValues(why)));
  }
  // Nothing was read.
  bool empty() const { return files_.empty(); }
  Files Take();

 private:
  // Without values: whole texts are searched where they are made, since what an object is called stays.
  void Add(const std::string& name, const std::string& text);  // where there is room
  void Put(const std::string& name, const std::string& text);  // in any case
  void AddKind(const kube::Resource& resource);
  void SecretNames();
  void AddConditions(const kube::Object& object);
  void AddLogs(const std::string& folder, const std::string& name);
  void AddLog(const fs::path& file, const std::string& name);
  // Where the server is silent: names what isn't asked for.
  bool IsSilent(const std::string& what);
  void Heard(const std::string& what, const Status& answer);

  const Context& ctx_;
  ManagementCluster* cluster_;  // null: Objects and Trees aren't called
  const GatherInput& input_;
  Files files_;
  size_t room_ = kMostOfObjects;
  int silent_ = 0;                   // kinds, one after the other, that weren't answered
  std::string errors_, bad_, good_;  // conditions: those that aren't as they should be, and the others
};

void Gatherer::Add(const std::string& name, const std::string& text) {
  if (text.size() > room_) return Miss(name, "left out: the archive would be too large");
  room_ -= text.size();
  Put(name, text);
}

void Gatherer::Put(const std::string& name, const std::string& text) {
  if (text.empty()) return;
  std::string fitted = name;
  if (name.size() > kMaxName) fitted = name.substr(0, kMaxName - 20) + Sha256Hex(name).substr(0, 16);
  files_[fitted] += text;
}

// What is neither True, nor a condition that is good when it is False, comes first.
void Gatherer::AddConditions(const kube::Object& object) {
  for (const kube::Condition& one : kube::Conditions(object)) {
    std::string line = fmt::format("{}  {}={}  {}  {}\n", Describe(object), one.type, one.status, one.reason,
                                   PrintableLine(one.message));
    (one.status == "True" ? good_ : bad_) += line;
  }
}

bool Gatherer::IsSilent(const std::string& what) {
  if (silent_ < kMostSilent) return false;
  Miss(what, "not asked for, since the API server has answered none of the kinds before");
  return true;
}

void Gatherer::Heard(const std::string& what, const Status& answer) {
  // A part of it may be away, a provider's conversion webhook, of which it answers at once; one that hangs looks as if
  // the server did.
  auto is_silent = [](const Error& error) {
    return error.code == Code::kDeadlineExceeded || (error.code == Code::kUnavailable && kube::IsOutage(error));
  };
  const bool silent = !answer.ok() && is_silent(answer.error());
  silent_ = silent ? silent_ + 1 : 0;
  if (!answer.ok()) Miss(what, answer.error().message);
}

void Gatherer::AddKind(const kube::Resource& resource) {
  const std::string kind = kube::GroupKind{resource.group, resource.kind}.ToString();
  if (IsSilent(kind)) return;
  std::string text;
  auto see = [&](std::vector<kube::Object> page) -> Status {
    for (kube::Object& object : page) {
      DropManagedFields(object);
      object = input_.hider.WithoutCredentials(std::move(object));
      AddConditions(object);
      text += "---\n" + ToYaml(object.json());
      if (text.size() > kMostOfObjects) return Error{Code::kInvalidArgument, "too many", {}};
    }
    return Ok();
  };
  Status listed = cluster_->client().ListPages(ctx_, resource, "", {}, see);
  Heard(kind, listed);
  Add(fmt::format("objects/{}.yaml", kind), text);
}

void Gatherer::SecretNames() {
  if (IsSilent("Secrets")) return;
  std::string text;
  auto see = [&](std::vector<kube::Object> page) -> Status {
    for (const kube::Object& object : page) text += fmt::format("{}/{}\n", object.ns(), object.name());
    return Ok();
  };
  Status listed = cluster_->client().ListPages(ctx_, kube::Builtin("Secret"), "", {.metadata_only = true}, see);
  Heard("Secrets", listed);
  Add("objects/secret-names.txt", text);
}

Status Gatherer::Objects() {
  for (const kube::Resource& kind : TRY(KindsOfClusterApi(ctx_, cluster_->client()))) AddKind(kind);
  for (const char* kind : {"Deployment", "Pod", "Node", "Namespace"}) AddKind(kube::Builtin(kind));
  auto events = cluster_->client().mapper().For(ctx_, {"", "Event"}, "v1");
  if (events.ok()) AddKind(*events);
  if (!events.ok()) Miss("Events", events.error().message);
  SecretNames();
  return Ok();
}

void Gatherer::Trees() {
  if (IsSilent("Clusters")) return;
  std::ostringstream nowhere;
  LiveLines none(nowhere, 0);
  ClusterWatch watch(cluster_->client(), none, false);
  watch.Without(input_.hider);
  auto clusters = cluster_->client().List(ctx_, ClusterResource(), "", {.metadata_only = true});
  if (!clusters.ok()) return Miss("Clusters", clusters.error().message);
  std::string text;
  for (const kube::Object& one : clusters->items) {
    const std::string what = fmt::format("the tree of Cluster {}/{}", one.ns(), one.name());
    if (IsSilent(what)) continue;
    std::vector<std::string> missing;
    auto tree = watch.Tree(ctx_, {one.ns(), one.name()}, missing);
    Heard(what, tree.ok() ? Ok() : Status(tree.error()));
    for (const std::string& why : missing) Miss(what, why);
    if (!tree.ok()) continue;
    for (const std::string& line : *tree) text += PrintableLine(line) + "\n";
    text += "\n";
  }
  Add("clusters.txt", text);
}

void Gatherer::AddLog(const fs::path& file, const std::string& name) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return Miss(name, "can't be read");
  if (size > kMostOfLog) in.seekg(static_cast<std::streamoff>(size - kMostOfLog));
  std::string text(std::min(size, kMostOfLog), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (size > kMostOfLog) text = input_.hider.WithoutCutValue(std::move(text));
  Add(name, input_.hider.WithoutValues(std::move(text)));  // programs repeat what they were given
}

// Logs alone: what lies beside them in a plane's folder are certificates, etcd's data and Secrets that are mounted.
void Gatherer::Logs() {
  if (input_.plane.empty()) return;
  room_ = kMostOfLogs;
  for (const char* part : {"logs", "pods"}) AddLogs(fmt::format("{}/{}", input_.plane, part), part);
}

// A folder may vanish while it is walked: a Pod's is taken away after its end. The others are read all the same.
void Gatherer::AddLogs(const std::string& folder, const std::string& name) {
  auto entries = ListDir(folder);
  if (!entries.ok() && entries.code() != Code::kNotFound) Miss(name, entries.error().message);
  if (!entries.ok()) return;
  for (const std::string& entry : *entries) {
    const std::string path = folder + "/" + entry, inside = name + "/" + entry;
    std::error_code error;
    const fs::file_type type = fs::symlink_status(path, error).type();  // no link is followed
    if (error && error != std::errc::no_such_file_or_directory) Miss(inside, error.message());
    if (type == fs::file_type::directory && entry != "volumes") AddLogs(path, inside);
    // The end of what was there before a log began anew may have the crash that one looks for.
    const bool is_log = entry.ends_with(".log") || entry.ends_with(".log.old");
    if (is_log && type == fs::file_type::regular) AddLog(path, inside);
  }
}

Files Gatherer::Take() {
  Put("conditions.txt", bad_ + (bad_.empty() || good_.empty() ? "" : "\n") + good_);
  Put("errors.txt", errors_);
  return std::move(files_);
}

// A file that is there keeps its mode when it is written over.
Status ForOwnerAlone(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return Ok();
  return chmod(path.c_str(), 0600) == 0 ? Ok() : Status(FileError(path, errno));
}

// What `local apply` fills in, from the same places.
Result<FilledIn> FilledInOf(const std::string& folder, const Config& config) {
  FilledIn out;
  if (folder.empty()) return out;
  std::vector<Manifest> manifests = TRY_WITH(ReadManifests(folder), "--manifests");
  Lookup lookup(config);
  Status filled = FillInAll(manifests, lookup.function(), out);
  if (lookup.error()) return *lookup.error();
  TRY_WITH(filled, "--manifests");
  return out;
}

}  // namespace

std::string ArchiveName(const std::string& folder, WallTime now) {
  std::string time = ReplaceAll(ReplaceAll(FormatTime(now), "-", ""), ":", "");
  return fmt::format("{}/collected-{}.tar.gz", folder, time);
}

Status Gather(const Context& ctx, ManagementCluster* cluster, const GatherInput& input) {
  Gatherer gatherer(ctx, cluster, input);
  Status objects = cluster != nullptr ? gatherer.Objects() : Error{Code::kNotFound, input.unseen, {}};
  if (objects.ok()) gatherer.Trees();
  if (!objects.ok()) gatherer.Miss("objects", objects.error().message);
  gatherer.Logs();                                    // above all where the API server is away
  if (ctx.stop.stop_requested()) return ctx.Check();  // what was read is half of it
  if (!objects.ok() && gatherer.empty()) return objects;
  const Files files = gatherer.Take();
  std::vector<std::pair<std::string, std::string_view>> entries;
  for (const auto& [name, text] : files) entries.emplace_back(name, text);
  TRY(ForOwnerAlone(input.archive));
  return WriteOutputFile(input.archive, Gzip(fetch::WriteTar(entries)));
}

Status Collect(const Context& parent, const GlobalOptions& global, const CollectFlags& flags, World& world) {
  Interrupt interrupt;
  Context ctx = parent.WithStop(interrupt.token());
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  FilledIn filled = TRY(FilledInOf(flags.manifests, config));
  const std::string plane = TRY(PlaneOf(flags.target, world.getenv));
  auto target = TargetOf(flags.target, world.getenv);
  // A plane that never came up, or that another clusterctl runs, has logs; who names a context wants its objects.
  const bool logs_do = !plane.empty() && flags.target.cluster.context.empty();
  if (!target.ok() && (!logs_do || !OpenPlane(flags.target.dir, world.getenv).ok())) return target.error();
  auto cluster = target.ok() ? ManagementCluster::Open(target->cluster, world.getenv) : target.error();
  if (!cluster.ok() && !logs_do) return cluster.error();
  GatherInput input{plane, flags.output.empty() ? ArchiveName(".", ctx.clock->Now()) : flags.output, Hider(filled)};
  if (!cluster.ok()) {
    input.unseen = cluster.error().message;
    notes.Warn("the plane's logs are all that is collected: " + input.unseen);
  }
  TRY(OrInterrupted(ctx, Gather(ctx, cluster.ok() ? &*cluster : nullptr, input)));
  world.out << input.archive << "\n";
  return Ok();
}

}  // namespace capi::cli::local_clusters
