#include "local/node/pod_files.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/encoding.h"
#include "base/files.h"

namespace capi::local {
namespace {

constexpr std::int64_t kTokenSeconds = 3600;

std::string AccountOf(const kube::Object& pod) {
  return GetString(pod.json(), {"spec", "serviceAccountName"}, "default");
}

const Json& VolumesOf(const kube::Object& pod) {
  static const Json none = Json::array();
  const Json* volumes = Find(pod.json(), {"spec", "volumes"});
  return volumes != nullptr && volumes->is_array() ? *volumes : none;
}

// What isn't in `files` goes, and is told. Folders stay: they hold nothing.
void RemoveOthers(const std::string& folder, const VolumeFiles& files,
                  const std::function<void(const std::string& path)>& removed) {
  std::error_code ignored;
  for (auto at = std::filesystem::recursive_directory_iterator(folder, ignored);
       at != std::filesystem::recursive_directory_iterator(); at.increment(ignored)) {
    if (!at->is_regular_file(ignored)) continue;
    std::string name = std::filesystem::relative(at->path(), folder, ignored).string();
    if (files.contains(name)) continue;
    unlink(at->path().c_str());
    removed(at->path().string());
  }
}

// With a type a kubelet looks for it, or makes it: here it has to be there.
Status CheckHostPath(const Json& volume) {
  const std::string path = GetString(volume, {"hostPath", "path"}), type = GetString(volume, {"hostPath", "type"});
  if (type.empty() || access(path.c_str(), F_OK) == 0) return Ok();
  return Error{Code::kNotFound,
               fmt::format("volumes[name={}].hostPath.type: {} isn't there, and a local plane makes none",
                           GetString(volume, {"name"}), path),
               {}};
}

// Of all mounts of a volume.
std::vector<std::string> SubPathsOf(const kube::Object& pod, const std::string& volume) {
  std::vector<std::string> paths;
  for (const char* list : {"initContainers", "containers"}) {
    const Json* containers = Find(pod.json(), {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const Json& container : *containers) {
      const Json* mounts = Find(container, {"volumeMounts"});
      if (mounts == nullptr || !mounts->is_array()) continue;
      for (const Json& mount : *mounts) {
        std::string below = GetString(mount, {"subPath"});
        if (GetString(mount, {"name"}) == volume && !below.empty()) paths.push_back(std::move(below));
      }
    }
  }
  return paths;
}

}  // namespace

std::string PodFolderName(const kube::Object& pod) {
  constexpr size_t kLongest = 255, kKept = 200;  // of a file's name
  std::string name = pod.ns() + "_" + pod.name();
  return name.size() <= kLongest ? name : name.substr(0, kKept) + "_" + Sha256Hex(name).substr(0, 16);
}

Status MakeFolder(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    std::string part = path.substr(0, end);
    if (!part.empty() && mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return FileError(part, errno);
    if (end == path.npos) return Ok();
  }
}

PodFiles::PodFiles(kube::Client& client, const NodeOptions& options, Clock& clock, kube::Object pod)
    : client_(client),
      options_(options),
      clock_(clock),
      pod_(std::move(pod)),
      folder_(options.folder + "/" + PodFolderName(pod_)),
      private_(options.volumes + "/" + PodFolderName(pod_)) {}

bool PodFiles::HasToken() const { return GetBool(pod_.json(), {"spec", "automountServiceAccountToken"}, true); }

Status PodFiles::MakeFolders() {
  for (const std::string& path : {home(), tmp(), volumes()}) TRY(MakeFolder(path));
  return Ok();
}

Status PodFiles::Refresh(const Context& ctx) {
  Status all;
  // What one lacks keeps no other from being renewed.
  auto note = [&](Status one) {
    if (all.ok()) all = std::move(one);
  };
  if (HasToken()) {
    Status token = WriteKubeconfig(ctx);
    note(token.ok() ? Ok() : Status(token.error().With("ServiceAccount " + AccountOf(pod_))));
  }
  InputSource source = Source(ctx);
  for (const Json& volume : VolumesOf(pod_)) note(RefreshVolume(volume, source));
  return all;
}

Status PodFiles::RefreshVolume(const Json& volume, const InputSource& source) {
  VolumeFiles files = TRY(FilesOfVolume(pod_, volume, source));
  const std::string name = GetString(volume, {"name"});
  if (Find(volume, {"hostPath"}) != nullptr) return CheckHostPath(volume);
  std::string folder = volumes() + "/" + name;
  TRY(MakeFolder(folder));
  if (Find(volume, {"emptyDir"}) == nullptr) return WriteVolume(folder, files);
  for (const std::string& below : SubPathsOf(pod_, name)) TRY(MakeFolder(folder + "/" + below));
  return Ok();
}

void PodFiles::Remove(bool logs) {
  std::error_code ignored;
  for (const std::string& path : {private_, home(), tmp(), logs ? folder_ : ""}) {
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
}

InputSource PodFiles::Source(const Context& ctx) {
  return {.read = [this, ctx](const std::string& kind, const std::string& name) { return Read(ctx, kind, name); },
          .token = [this, ctx](const std::string& audience,
                               std::int64_t seconds) { return GetToken(ctx, audience, seconds); }};
}

Result<Variables> PodFiles::Read(const Context& ctx, const std::string& kind, const std::string& name) {
  auto object = client_.Get(ctx, kube::Builtin(kind), pod_.ns(), name);
  if (!object.ok() && object.code() == Code::kNotFound) {
    return Error{Code::kNotFound, fmt::format("{} {}/{} isn't there", kind, pod_.ns(), name), {}};
  }
  if (!object.ok()) return object.error().With(fmt::format("{} {}/{}", kind, pod_.ns(), name));
  Variables data;
  bool secret = kind == "Secret";
  const Json* values = Find(object->json(), {"data"});
  if (values != nullptr && values->is_object()) {
    for (const auto& [key, value] : values->items()) {
      std::string text = value.is_string() ? value.get<std::string>() : "";
      data[key] = secret ? TRY(Base64Decode(text)) : text;
    }
  }
  const Json* bytes = Find(object->json(), {"binaryData"});
  if (bytes != nullptr && bytes->is_object()) {
    for (const auto& [key, value] : bytes->items()) data[key] = TRY(Base64Decode(value.get<std::string>()));
  }
  return data;
}

Result<std::string> PodFiles::GetToken(const Context& ctx, const std::string& audience, std::int64_t seconds) {
  Token& token = tokens_[{audience, seconds}];
  WallTime now = clock_.Now();
  if (!token.text.empty() && now < token.renew) return token.text;
  // Bound to the Pod: it counts no longer than that is there.
  Json spec = {{"expirationSeconds", seconds == 0 ? kTokenSeconds : seconds}};
  spec["boundObjectRef"] = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", pod_.name()}, {"uid", pod_.uid()}};
  if (!audience.empty()) spec["audiences"] = {audience};
  Json request = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", std::move(spec)}};
  std::string path = kube::Builtin("ServiceAccount").Path(pod_.ns(), AccountOf(pod_), "token");
  std::string text = TRY(client_.Raw(ctx, "POST", path, ToJsonText(request), "application/json"));
  Json answer = TRY(ParseJson(text));
  auto until = ParseTime(GetString(answer, {"status", "expirationTimestamp"}));
  token.text = GetString(answer, {"status", "token"});
  auto life = until.ok() ? *until - now : WallTime::duration(Seconds(kTokenSeconds));
  token.renew = now + life * 4 / 5;
  return token.text;
}

Status PodFiles::WriteKubeconfig(const Context& ctx) {
  std::string token = TRY(GetToken(ctx, "", 0));
  const std::string file = private_ + "/token";
  TRY(Write(file, token, 0600));
  Json cluster = {{"server", options_.server}};
  if (!options_.ca_pem.empty()) cluster["certificate-authority-data"] = Base64Encode(options_.ca_pem);
  Json config = {{"apiVersion", "v1"}, {"kind", "Config"}, {"current-context", "local"}};
  config["clusters"] = {{{"name", "local"}, {"cluster", std::move(cluster)}}};
  config["users"] = {{{"name", "pod"}, {"user", {{"tokenFile", file}}}}};
  config["contexts"] = {
      {{"name", "local"}, {"context", {{"cluster", "local"}, {"user", "pod"}, {"namespace", pod_.ns()}}}}};
  return Write(kubeconfig(), ToJsonText(config), 0600);
}

Status PodFiles::WriteVolume(const std::string& folder, const VolumeFiles& files) {
  for (const auto& [name, file] : files) {
    std::string path = folder + "/" + name;
    TRY(MakeFolder(path.substr(0, path.rfind('/'))));
    TRY(Write(path, file.content, file.executable ? 0700 : 0600));
  }
  // One that comes back with the content that it had is written again.
  RemoveOthers(folder, files, [&](const std::string& path) { written_.erase(path); });
  return Ok();
}

Status PodFiles::Write(const std::string& path, const std::string& content, unsigned mode) {
  std::string digest = Sha256Hex(content);
  std::string& was = written_[path];
  if (was == digest) return Ok();
  TRY(WriteFile(path, content, mode));
  was = digest;
  return Ok();
}

}  // namespace capi::local
