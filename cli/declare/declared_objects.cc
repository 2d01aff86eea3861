#include "cli/declare/declared_objects.h"

#include <filesystem>

#include "base/files.h"
#include "base/strings.h"

namespace capi::cli {
namespace {

bool Fits(std::string_view a, std::string_view b) { return a.empty() || b.empty() || a == b; }

void AddKeys(const Json* map, std::set<std::string>& out) {
  if (map == nullptr || !map->is_object()) return;
  for (const auto& item : map->items()) out.insert(item.key());
}

std::set<std::string> KeysOfSecret(const Json& secret) {
  std::set<std::string> out;
  AddKeys(Find(secret, {"data"}), out);
  AddKeys(Find(secret, {"stringData"}), out);
  return out;
}

std::set<std::string> KeysOfExternal(const Json& external) {
  std::set<std::string> out;
  const Json* data = Find(external, {"spec", "data"});
  if (data != nullptr && data->is_array()) {
    for (const Json& one : *data) out.insert(GetString(one, {"secretKey"}));
  }
  AddKeys(Find(external, {"spec", "target", "template", "data"}), out);
  return out;
}

std::string NameBefore(std::string_view text) { return std::string(Trim(text.substr(0, text.find('=')))); }

void AddEach(const Json* list, std::set<std::string>& out, std::string (*name)(std::string_view)) {
  if (list == nullptr || !list->is_array()) return;
  for (const Json& one : *list) {
    if (one.is_string()) out.insert(name(one.get_ref<const std::string&>()));
  }
}

// "key=path", or a path whose last part is the key.
std::string KeyOfFile(std::string_view text) {
  if (text.find('=') != text.npos) return NameBefore(text);
  return std::filesystem::path(text).filename();
}

// Lines NAME=value. A file that isn't there (it is kept out of git) has no names.
void AddEnvFile(const std::filesystem::path& path, std::set<std::string>& out) {
  auto text = ReadFile(path, 1u << 20);
  if (!text.ok()) return;
  for (const std::string& line : Split(*text, '\n')) {
    if (!Trim(line).empty() && !Trim(line).starts_with("#")) out.insert(NameBefore(line));
  }
}

}  // namespace

DeclaredObjects::DeclaredObjects(const std::vector<Document>& documents) {
  for (const Document& document : documents) {
    const kube::Object& object = document.object();
    const std::string group = object.group_version().group, kind = object.kind();
    const Json& json = object.json();
    if (group.empty() && kind == "Secret") AddSecret(object.ns(), object.name(), KeysOfSecret(json));
    if (group.empty() && kind == "ConfigMap") config_maps_.push_back(object);
    if (group == "kustomize.config.k8s.io" && kind == "Kustomization") AddGenerated(document);
    if (group == "bitnami.com" && kind == "SealedSecret") {
      std::set<std::string> keys;
      AddKeys(Find(json, {"spec", "encryptedData"}), keys);
      AddKeys(Find(json, {"spec", "template", "data"}), keys);
      AddSecret(object.ns(), object.name(), std::move(keys));
    }
    if (group == "external-secrets.io" && kind == "ExternalSecret") {
      // What `dataFrom` brings nobody knows here: as if the Secret weren't in the files.
      if (Find(json, {"spec", "dataFrom"}) != nullptr) continue;
      AddSecret(object.ns(), GetString(json, {"spec", "target", "name"}, object.name()), KeysOfExternal(json));
    }
  }
}

void DeclaredObjects::AddSecret(std::string ns, std::string name, std::set<std::string> keys) {
  secrets_.push_back({std::move(ns), std::move(name), std::move(keys)});
}

void DeclaredObjects::AddGenerated(const Document& kustomization) {
  const Json& json = kustomization.object().json();
  const Json* generators = Find(json, {"secretGenerator"});
  if (generators == nullptr || !generators->is_array()) return;
  const auto folder = std::filesystem::path(kustomization.file()).parent_path();
  for (const Json& one : *generators) {
    std::set<std::string> keys;
    AddEach(Find(one, {"literals"}), keys, NameBefore);
    AddEach(Find(one, {"files"}), keys, KeyOfFile);
    std::set<std::string> files;
    AddEach(Find(one, {"envs"}), files, [](std::string_view path) { return std::string(path); });
    bool all = true;
    for (const std::string& file : files) {
      std::error_code unread;
      all = all && std::filesystem::exists(folder / file, unread);
      AddEnvFile(folder / file, keys);
    }
    if (all) AddSecret(GetString(one, {"namespace"}, GetString(json, {"namespace"})), GetString(one, {"name"}), keys);
  }
}

const std::set<std::string>* DeclaredObjects::SecretKeys(std::string_view ns, std::string_view name) const {
  for (const Secret& secret : secrets_) {
    if (secret.name == name && Fits(secret.ns, ns)) return &secret.keys;
  }
  return nullptr;
}

const kube::Object* DeclaredObjects::ConfigMap(std::string_view ns, std::string_view name) const {
  for (const kube::Object& map : config_maps_) {
    if (map.name() == name && Fits(map.ns(), ns)) return &map;
  }
  return nullptr;
}

std::vector<const kube::Object*> DeclaredObjects::ConfigMaps(std::string_view ns) const {
  std::vector<const kube::Object*> out;
  for (const kube::Object& map : config_maps_) {
    if (Fits(map.ns(), ns)) out.push_back(&map);
  }
  return out;
}

}  // namespace capi::cli
