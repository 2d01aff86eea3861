#include "kube/client/config/kubeconfig.h"

#include <fmt/core.h>

#include <filesystem>

#include "base/encoding.h"
#include "base/files.h"
#include "base/yaml/yaml.h"

namespace capi::kube {
namespace {

namespace fs = std::filesystem;

// Makes the path at `field` absolute.
void Resolve(Json& object, std::string_view field, const fs::path& folder) {
  Json* value = Find(object, {field});
  if (value == nullptr || !value->is_string()) return;
  const std::string& path = value->get_ref<const std::string&>();
  if (path.empty() || path.front() == '/') return;
  *value = (folder / path).lexically_normal().string();
}

void ResolvePaths(Json& entry, const fs::path& folder) {
  for (std::string_view field : {"certificate-authority", "client-certificate", "client-key", "tokenFile"}) {
    Resolve(entry, field, folder);
  }
  // A program without a slash is looked up in PATH.
  Json* exec = Find(entry, {"exec"});
  if (exec != nullptr && GetString(*exec, {"command"}).find('/') != std::string::npos) {
    Resolve(*exec, "command", folder);
  }
}

// [{name: N, <field>: {...}}] as a map.
Status ReadNamed(const Json& file, std::string_view list, std::string_view field, const std::string& path,
                 std::map<std::string, KubeconfigEntry>& out) {
  const Json* items = Find(file, {list});
  if (items == nullptr || items->is_null()) return Ok();
  if (!items->is_array()) return Error{Code::kInvalidArgument, fmt::format("{}: {}: is no list", path, list), {}};
  fs::path folder = fs::absolute(path).parent_path();
  for (size_t i = 0; i < items->size(); ++i) {
    const Json& item = (*items)[i];
    std::string name = GetString(item, {"name"});
    std::string where = fmt::format("{}: {}[{}]", path, list, name.empty() ? std::to_string(i) : name);
    if (name.empty()) return Error{Code::kInvalidArgument, where + ": has no name", {}};
    const Json* value = Find(item, {field});
    KubeconfigEntry entry{.value = Json::object(), .where = fmt::format("{}.{}", where, field)};
    if (value != nullptr && !value->is_null()) entry.value = *value;
    if (!entry.value.is_object()) return Error{Code::kInvalidArgument, entry.where + ": is no object", {}};
    ResolvePaths(entry.value, folder);
    if (!out.emplace(name, std::move(entry)).second) {
      return Error{Code::kInvalidArgument, where + ": is there twice", {}};
    }
  }
  return Ok();
}

}  // namespace

Error KubeconfigEntry::Wrong(std::string_view field, std::string_view what) const {
  return {Code::kInvalidArgument, fmt::format("{}.{}: {}", where, field, what), {}};
}

Result<std::string> KubeconfigEntry::Text(std::string_view field) const {
  const Json* found = Find(value, {field});
  if (found == nullptr || found->is_null()) return std::string();
  if (!found->is_string()) return Wrong(field, "is no text");
  return found->get<std::string>();
}

Result<bool> KubeconfigEntry::Flag(std::string_view field) const {
  const Json* found = Find(value, {field});
  if (found == nullptr || found->is_null()) return false;
  if (!found->is_boolean()) return Wrong(field, "is neither true nor false");
  return found->get<bool>();
}

Result<std::vector<std::string>> KubeconfigEntry::Texts(std::string_view field) const {
  std::vector<std::string> out;
  const Json* found = Find(value, {field});
  if (found == nullptr || found->is_null()) return out;
  if (!found->is_array()) return Wrong(field, "is no list");
  for (const Json& item : *found) {
    if (!item.is_string()) return Wrong(field, "holds what is no text");
    out.push_back(item.get<std::string>());
  }
  return out;
}

Result<std::string> KubeconfigEntry::Data(std::string_view field) const {
  std::string text = TRY(Text(field));
  Result<std::string> decoded = Base64Decode(text);
  if (!decoded.ok()) return Wrong(field, "is no base64");
  return decoded;
}

Result<KubeconfigEntry> KubeconfigEntry::Child(std::string_view field) const {
  const Json* found = Find(value, {field});
  KubeconfigEntry out{.value = Json(), .where = fmt::format("{}.{}", where, field)};
  if (found == nullptr || found->is_null()) return out;
  if (!found->is_object()) return Wrong(field, "is no object");
  out.value = *found;
  return out;
}

Result<Kubeconfig> ReadKubeconfig(const std::string& path) {
  std::string text = TRY(ReadFile(path));
  return ParseKubeconfig(text, path);
}

Result<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& path) {
  Json file = TRY_WITH(ParseYaml(text), path);
  Kubeconfig out;
  out.files = path;
  if (file.is_null()) return out;
  if (!file.is_object()) return Error{Code::kInvalidArgument, path + ": is no kubeconfig", {}};
  std::string kind = GetString(file, {"kind"});
  if (!kind.empty() && kind != "Config") {
    return Error{Code::kInvalidArgument, fmt::format("{}: kind: is {}, not Config", path, kind), {}};
  }
  if (const Json* current = Find(file, {"current-context"}); current != nullptr && !current->is_null()) {
    if (!current->is_string()) return Error{Code::kInvalidArgument, path + ": current-context: is no text", {}};
    out.current_context = current->get<std::string>();
  }
  TRY(ReadNamed(file, "clusters", "cluster", path, out.clusters));
  TRY(ReadNamed(file, "contexts", "context", path, out.contexts));
  TRY(ReadNamed(file, "users", "user", path, out.users));
  return out;
}

void MergeKubeconfig(Kubeconfig& into, Kubeconfig more) {
  if (into.current_context.empty()) into.current_context = std::move(more.current_context);
  into.clusters.merge(more.clusters);
  into.contexts.merge(more.contexts);
  into.users.merge(more.users);
  if (!into.files.empty() && !more.files.empty()) into.files += ", ";
  into.files += more.files;
}

}  // namespace capi::kube
