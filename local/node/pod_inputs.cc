#include "local/node/pod_inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/strings.h"

namespace capi::local {
namespace {

constexpr std::string_view kTokenFolder = "/var/run/secrets/kubernetes.io";

const Json& ListAt(const Json& value, JsonPath path) {
  static const Json none = Json::array();
  const Json* list = Find(value, path);
  return list != nullptr && list->is_array() ? *list : none;
}

Error Unsupported(const std::string& what) {
  return {Code::kUnsupported, what + " isn't carried out on a local plane", {}};
}

// Of {"a": "b"}, lines as the downward API has them.
std::string LinesOf(const Json* map) {
  std::vector<std::string> lines;
  if (map != nullptr && map->is_object()) {
    for (const auto& [key, value] : map->items()) lines.push_back(fmt::format("{}={}", key, ToJsonText(value)));
  }
  return Join(lines, "\n");
}

Result<std::string> FieldOf(const kube::Object& pod, const std::string& path) {
  const Json& json = pod.json();
  if (path == "metadata.name") return pod.name();
  if (path == "metadata.namespace") return pod.ns();
  if (path == "metadata.uid") return pod.uid();
  if (path == "metadata.labels") return LinesOf(Find(json, {"metadata", "labels"}));
  if (path == "metadata.annotations") return LinesOf(Find(json, {"metadata", "annotations"}));
  if (path == "spec.nodeName") return GetString(json, {"spec", "nodeName"});
  if (path == "spec.serviceAccountName") return GetString(json, {"spec", "serviceAccountName"}, "default");
  for (const char* address : {"status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs"}) {
    if (path == address) return std::string("127.0.0.1");
  }
  for (const char* map : {"labels", "annotations"}) {
    std::string begin = fmt::format("metadata.{}['", map);
    if (!path.starts_with(begin) || !path.ends_with("']")) continue;
    return GetString(json, {"metadata", map, path.substr(begin.size(), path.size() - begin.size() - 2)});
  }
  return Unsupported("fieldPath " + path);
}

// The value of a key; nullopt where it isn't there and needn't be.
Result<std::optional<std::string>> KeyOf(const Json& ref, const char* kind, const InputSource& source) {
  std::string name = GetString(ref, {"name"}), key = GetString(ref, {"key"});
  bool optional = GetBool(ref, {"optional"});
  auto data = source.read(kind, name);
  if (!data.ok() && data.code() == Code::kNotFound && optional) return std::optional<std::string>();
  if (!data.ok()) return data.error();
  auto found = data->find(key);
  if (found != data->end()) return std::optional(found->second);
  if (optional) return std::optional<std::string>();
  return Error{Code::kNotFound, fmt::format("{} {} has no key {}", kind, name, key), {}};
}

class Environment {
 public:
  Environment(const kube::Object& pod, Variables below, const InputSource& source) : pod_(pod), source_(source) {
    out_.variables = std::move(below);
  }

  Status AddFrom(const Json& from) {
    for (const auto& [field, kind] : {std::pair("secretRef", "Secret"), std::pair("configMapRef", "ConfigMap")}) {
      const Json* ref = Find(from, {field});
      if (ref == nullptr) continue;
      auto data = source_.read(kind, GetString(*ref, {"name"}));
      if (!data.ok() && data.code() == Code::kNotFound && GetBool(*ref, {"optional"})) return Ok();
      if (!data.ok()) return data.error().With(field);
      for (const auto& [key, value] : *data)
        Set(GetString(from, {"prefix"}) + key, value, kind == std::string("Secret"));
    }
    return Ok();
  }

  Status Add(const Json& variable) {
    std::string name = GetString(variable, {"name"});
    const Json* from = Find(variable, {"valueFrom"});
    if (from == nullptr) {
      Set(name, Expand(GetString(variable, {"value"}), out_.variables), false);
      return Ok();
    }
    if (const Json* ref = Find(*from, {"secretKeyRef"})) return AddKey(name, *ref, "Secret");
    if (const Json* ref = Find(*from, {"configMapKeyRef"})) return AddKey(name, *ref, "ConfigMap");
    if (const Json* ref = Find(*from, {"fieldRef"})) {
      Set(name, TRY(FieldOf(pod_, GetString(*ref, {"fieldPath"}))), false);
      return Ok();
    }
    return Unsupported(from->empty() ? "valueFrom" : "valueFrom." + from->begin().key());
  }

  ContainerEnvironment Take() { return std::move(out_); }

 private:
  Status AddKey(const std::string& name, const Json& ref, const char* kind) {
    auto value = TRY(KeyOf(ref, kind, source_));
    if (value) Set(name, *value, kind == std::string("Secret"));
    return Ok();
  }
  void Set(const std::string& name, const std::string& value, bool secret) {
    out_.variables[name] = value;
    if (secret) out_.secrets.push_back(value);
  }

  const kube::Object& pod_;
  const InputSource& source_;
  ContainerEnvironment out_;
};

// Asks for each object once: of one Secret a container often has many keys, and they are of one moment then.
InputSource Once(const InputSource& source) {
  using Known = std::map<std::pair<std::string, std::string>, Result<Variables>>;
  auto read = [&source, known = std::make_shared<Known>()](const std::string& kind, const std::string& name) {
    auto at = known->find({kind, name});
    if (at == known->end()) at = known->emplace(std::pair(kind, name), source.read(kind, name)).first;
    return at->second;
  };
  return {.read = read, .token = source.token};
}

// A path of a volume's item stays in the volume.
Status CheckPath(const std::string& path) {
  std::vector<std::string> parts = Split(path, '/');
  bool bad = parts.empty() || std::any_of(parts.begin(), parts.end(),
                                          [](const std::string& part) { return part.empty() || part == ".."; });
  if (bad) return Error{Code::kInvalidArgument, fmt::format("path {} leads out of the volume", path), {}};
  return Ok();
}

Status AddData(const Json& volume, const char* kind, const char* name_field, const InputSource& source,
               VolumeFiles& files) {
  std::string name = GetString(volume, {name_field});
  bool optional = GetBool(volume, {"optional"});
  auto data = source.read(kind, name);
  if (!data.ok() && data.code() == Code::kNotFound && optional) return Ok();
  if (!data.ok()) return data.error();
  std::int64_t mode = GetInt(volume, {"defaultMode"}, 0644);
  const Json* items = Find(volume, {"items"});
  if (items == nullptr || items->empty()) {
    for (const auto& [key, value] : *data) files[key] = {value, (mode & 0100) != 0};
    return Ok();
  }
  for (const Json& item : ListAt(volume, {"items"})) {
    auto found = data->find(GetString(item, {"key"}));
    std::string path = GetString(item, {"path"});
    TRY(CheckPath(path));
    if (found != data->end()) {
      files[path] = {found->second, (GetInt(item, {"mode"}, mode) & 0100) != 0};
    } else if (!optional) {
      return Error{Code::kNotFound, fmt::format("{} {} has no key {}", kind, name, GetString(item, {"key"})), {}};
    }
  }
  return Ok();
}

Status AddFields(const kube::Object& pod, const Json& volume, VolumeFiles& files) {
  for (const Json& item : ListAt(volume, {"items"})) {
    if (Find(item, {"fieldRef"}) == nullptr) return Unsupported("downwardAPI.items.resourceFieldRef");
    std::string path = GetString(item, {"path"});
    TRY(CheckPath(path));
    std::string value = TRY(FieldOf(pod, GetString(item, {"fieldRef", "fieldPath"})));
    files[path] = {std::move(value)};
  }
  return Ok();
}

Status AddSource(const kube::Object& pod, const Json& part, const InputSource& source, VolumeFiles& files) {
  if (const Json* one = Find(part, {"secret"})) return AddData(*one, "Secret", "name", source, files);
  if (const Json* one = Find(part, {"configMap"})) return AddData(*one, "ConfigMap", "name", source, files);
  if (const Json* one = Find(part, {"downwardAPI"})) return AddFields(pod, *one, files);
  const Json* one = Find(part, {"serviceAccountToken"});
  if (one == nullptr) return Unsupported(part.empty() ? "projected" : "projected." + part.begin().key());
  std::string path = GetString(*one, {"path"});
  TRY(CheckPath(path));
  std::string token = TRY(source.token(GetString(*one, {"audience"}), GetInt(*one, {"expirationSeconds"})));
  files[path] = {std::move(token)};
  return Ok();
}

const Json* VolumeOf(const kube::Object& pod, const std::string& name) {
  for (const Json& volume : ListAt(pod.json(), {"spec", "volumes"})) {
    if (GetString(volume, {"name"}) == name) return &volume;
  }
  return nullptr;
}

std::string MountPath(const Json& mount) {
  std::string path = GetString(mount, {"mountPath"});
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Result<ContainerEnvironment> EnvironmentOf(const kube::Object& pod, const Json& container, Variables below,
                                           const InputSource& source) {
  const InputSource once = Once(source);
  Environment environment(pod, std::move(below), once);
  for (const Json& from : ListAt(container, {"envFrom"})) TRY_WITH(environment.AddFrom(from), "envFrom");
  for (const Json& variable : ListAt(container, {"env"})) {
    TRY_WITH(environment.Add(variable), fmt::format("env[name={}]", GetString(variable, {"name"})));
  }
  return environment.Take();
}

Result<VolumeFiles> FilesOfVolume(const kube::Object& pod, const Json& volume, const InputSource& source) {
  VolumeFiles files;
  const std::string field = fmt::format("volumes[name={}]", GetString(volume, {"name"}));
  if (const Json* one = Find(volume, {"secret"})) {
    TRY_WITH(AddData(*one, "Secret", "secretName", source, files), field);
  } else if (const Json* map = Find(volume, {"configMap"})) {
    TRY_WITH(AddData(*map, "ConfigMap", "name", source, files), field);
  } else if (const Json* fields = Find(volume, {"downwardAPI"})) {
    TRY_WITH(AddFields(pod, *fields, files), field);
  } else if (Find(volume, {"projected"}) != nullptr) {
    for (const Json& part : ListAt(volume, {"projected", "sources"})) {
      TRY_WITH(AddSource(pod, part, source, files), field);
    }
  } else if (Find(volume, {"emptyDir"}) == nullptr && Find(volume, {"hostPath"}) == nullptr) {
    std::string kind;
    for (const auto& [key, value] : volume.items()) kind = key == "name" ? kind : key;
    return Unsupported(field + "." + kind);
  }
  return files;
}

std::map<std::string, std::string> MountsOf(const kube::Object& pod, const Json& container, const std::string& folder) {
  std::map<std::string, std::string> mounts;
  for (const Json& mount : ListAt(container, {"volumeMounts"})) {
    const Json* volume = VolumeOf(pod, GetString(mount, {"name"}));
    if (volume == nullptr) continue;
    std::string place = GetString(*volume, {"hostPath", "path"}, folder + "/" + GetString(mount, {"name"}));
    std::string below = GetString(mount, {"subPath"});
    mounts[MountPath(mount)] = below.empty() ? place : place + "/" + below;
  }
  return mounts;
}

std::string UnledMount(const kube::Object& pod, const Json& container, const std::set<std::string>& named) {
  const bool has_token = GetBool(pod.json(), {"spec", "automountServiceAccountToken"}, true);
  for (const Json& mount : ListAt(container, {"volumeMounts"})) {
    const Json* volume = VolumeOf(pod, GetString(mount, {"name"}));
    std::string path = MountPath(mount);
    if (volume == nullptr || named.contains(path) || (has_token && path.starts_with(kTokenFolder))) continue;
    if (path == "/tmp" && Find(*volume, {"emptyDir"}) != nullptr) continue;
    if (GetString(*volume, {"hostPath", "path"}) == path) continue;
    return fmt::format(
        "volumeMounts[name={}]: a process has no folders of its own, and no argument or variable of the container "
        "names "
        "{}, so it would look for this volume in vain; name it in one",
        GetString(mount, {"name"}), path);
  }
  return "";
}

}  // namespace capi::local
