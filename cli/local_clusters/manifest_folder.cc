#include "cli/local_clusters/manifest_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <set>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/local_clusters/parts.h"
#include "cli/local_clusters/stages.h"

namespace capi::cli::local_clusters {
namespace {

constexpr size_t kMaxFile = 16u << 20;
constexpr unsigned kPrivate = 0600;
constexpr size_t kMostOfName = 240;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

bool IsFolder(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

Status MakeFolder(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    if (mkdir(path.substr(0, at).c_str(), 0755) != 0 && errno != EEXIST) return FileError(path.substr(0, at), errno);
  }
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return FileError(path, errno);
  return IsFolder(path) ? Ok() : Status(Invalid(fmt::format("{} is no folder", path)));
}

bool IsManifest(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

// What editors leave beside what they edit, and a run that failed (collect.h).
bool IsPassedOver(const std::string& name) {
  return name.starts_with('.') || name.ends_with('~') || (name.starts_with("collected-") && name.ends_with(".tar.gz"));
}

Result<std::vector<std::string>> FilesOf(const std::string& folder) {
  std::vector<std::string> out;
  for (std::string& name : TRY(ListDir(folder))) {
    if (IsPassedOver(name) || IsFolder(folder + "/" + name)) continue;
    if (!IsManifest(name))
      return Invalid(
          fmt::format("{}/{} is no manifest (.yaml, .yml or .json): take it out of the folder", folder, name));
    out.push_back(std::move(name));
  }
  return out;
}

std::string FreeName(std::string name, const std::set<std::string>& taken) {
  // An object's name alone may have 253 characters, a file's 255.
  if (name.size() > kMostOfName)
    name = name.substr(0, kMostOfName - 30) + "-" + Sha256Hex(name).substr(0, 16) + ".yaml";
  if (!taken.contains(name)) return name;
  const std::string stem = name.substr(0, name.size() - std::string_view(".yaml").size());
  int number = 2;
  while (taken.contains(fmt::format("{}-{}.yaml", stem, number))) ++number;
  return fmt::format("{}-{}.yaml", stem, number);
}

using NewFiles = std::map<std::string, const kube::Object*>;

// Half of them would be taken for all, and the same command be refused. So they are written hidden, and get their names
// at the end, Clusters last: `local apply` refuses a folder without one.
Status WriteAll(const std::string& folder, const NewFiles& files) {
  auto hidden = [&](const std::string& name) { return fmt::format("{}/.{}.new", folder, name); };
  std::vector<std::string> order, named;
  for (const auto& [name, object] : files) order.push_back(name);
  std::stable_partition(order.begin(), order.end(),
                        [&](const std::string& name) { return !IsCluster(*files.at(name)); });
  Status done = Ok();
  for (const std::string& name : order) {
    if (done.ok()) done = WriteFile(hidden(name), ToYaml(files.at(name)->json()), kPrivate);
  }
  for (const std::string& name : order) {
    if (!done.ok()) break;
    const std::string path = folder + "/" + name;
    if (rename(hidden(name).c_str(), path.c_str()) != 0) done = FileError(path, errno);
    if (done.ok()) named.push_back(path);
  }
  if (done.ok()) return done;
  for (const std::string& name : order) unlink(hidden(name).c_str());
  for (const std::string& path : named) unlink(path.c_str());
  return done;
}

// What only the cluster has of an object goes; its status stays.
kube::Object ForReading(kube::Object object) {
  DropManagedFields(object);
  return object;
}

}  // namespace

Status CheckObject(const kube::Object& object) {
  if (!object.json().is_object()) return Invalid("it is no object");
  if (object.kind().empty()) return Invalid("it has no kind");
  if (object.api_version().empty()) return Invalid("it has no apiVersion");
  if (object.kind() == "List") return Invalid("it is a List: write its items as documents of their own");
  if (object.name().empty()) return Invalid("it has no metadata.name");
  return Ok();
}

std::string Manifest::Where() const { return fmt::format("{}:{}", file, line); }

Result<std::vector<std::string>> WriteManifests(const std::string& folder, const std::vector<kube::Object>& objects) {
  TRY(MakeFolder(folder));
  if (std::vector<std::string> there = TRY(FilesOf(folder)); !there.empty())
    return Error{
        Code::kAlreadyExists,
        fmt::format("{} has manifests already ({}): name another folder, or remove them", folder, JoinNames(there, 3)),
        {}};
  const bool has_class = std::any_of(objects.begin(), objects.end(), IsClusterClass);
  NewFiles files;
  std::set<std::string> taken;
  for (const kube::Object& object : objects) {
    std::string name = FreeName(FileName(PartOf(object, has_class), object), taken);
    taken.insert(name);
    files[name] = &object;
  }
  TRY(WriteAll(folder, files));
  std::vector<std::string> out;
  for (const auto& [name, object] : files) out.push_back(name);
  return out;
}

Result<std::vector<Manifest>> ReadManifests(const std::string& folder) {
  std::vector<Manifest> out;
  std::map<kube::ObjectId, std::string> seen;
  for (const std::string& file : TRY(FilesOf(folder))) {
    std::string text = TRY(ReadFile(folder + "/" + file, kMaxFile));
    for (YamlDocument& document : TRY_WITH(ParseYamlStream(text), file)) {
      Manifest one{kube::Object(std::move(document.value)), file, document.line};
      TRY_WITH(CheckObject(one.object), one.Where());
      auto [first, added] = seen.emplace(one.object.id(), one.Where());
      if (!added)
        return Invalid(fmt::format("{}: {} is in {}, too", one.Where(), one.object.id().ToString(), first->second));
      out.push_back(std::move(one));
    }
  }
  if (out.empty()) return Error{Code::kNotFound, fmt::format("{} has no manifests", folder), {}};
  return out;
}

Result<std::string> FirstCluster(const std::string& folder, const std::vector<Manifest>& manifests) {
  for (const Manifest& one : manifests) {
    if (IsCluster(one.object)) return one.object.name();
  }
  return Invalid(fmt::format("the manifests in {} have no Cluster", folder));
}

Status FillInAll(std::vector<Manifest>& manifests, const templating::Variables& variables, FilledIn& filled) {
  std::set<std::string> missing;
  for (Manifest& one : manifests)
    one.object = TRY_WITH(FillIn(std::move(one.object), variables, filled, missing), one.Where());
  if (missing.empty()) return Ok();
  return Invalid(
      fmt::format("value for variables [{}] is not set. Please set the value using os environment variables "
                  "or the clusterctl config file",
                  Join(std::vector<std::string>(missing.begin(), missing.end()), ", ")));
}

Result<std::vector<std::string>> ListHooks(const std::string& folder) {
  std::vector<std::string> out;
  const std::string hooks = folder + "/hooks";
  if (!IsFolder(hooks)) return out;
  for (const std::string& name : TRY(ListDir(hooks))) {
    if (IsPassedOver(name)) continue;
    auto stage = StageByName(name);
    if (!stage || !InfoOf(*stage).hook)
      return Invalid(fmt::format("{}/{}: no such hook; there are {}", hooks, name, StageNames(true)));
    const std::string path = hooks + "/" + name;
    if (IsFolder(path) || access(path.c_str(), X_OK) != 0)
      return Invalid(fmt::format("{} isn't executable: run `chmod +x` on it, or take it out of the folder", path));
    out.push_back(name);
  }
  return out;
}

Status WriteApplied(const std::string& folder, const std::vector<Manifest>& live, const Hider& hider) {
  const std::string target = folder + "/applied";
  TRY(MakeFolder(target));
  std::map<std::string, std::string> texts;
  for (const Manifest& one : live) {
    std::string& text = texts[one.file];
    if (!text.empty()) text += "---\n";
    text += ToYaml(ForReading(hider.WithoutCredentials(one.object)).json());
  }
  // What was renamed or removed since would be there twice, or stay for good.
  for (const std::string& name : TRY(ListDir(target))) {
    if (!IsManifest(name) || IsPassedOver(name) || texts.contains(name)) continue;
    if (unlink((target + "/" + name).c_str()) != 0 && errno != ENOENT) return FileError(target + "/" + name, errno);
  }
  for (const auto& [file, text] : texts) TRY(WriteFile(target + "/" + file, text, kPrivate));
  return Ok();
}

}  // namespace capi::cli::local_clusters
