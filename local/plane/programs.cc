#include "local/plane/programs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/strings.h"

namespace capi::local {
namespace {

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

struct Place {
  std::string what;  // for people
  std::vector<std::string> folders;
};

std::vector<Place> Places(const std::string& beside, const Getenv& getenv) {
  std::vector<Place> out;
  const std::string assets = getenv("KUBEBUILDER_ASSETS").value_or("");
  out.push_back(
      {assets.empty() ? "$KUBEBUILDER_ASSETS, which isn't set" : "$KUBEBUILDER_ASSETS, " + assets, Split(assets, ':')});
  if (!beside.empty()) out.push_back({fmt::format("{}, where clusterctl is", beside), {beside}});
  out.push_back({"PATH", Split(getenv("PATH").value_or(""), ':')});
  return out;
}

std::string FindIn(const std::vector<Place>& places, const std::string& name) {
  for (const Place& place : places) {
    for (const std::string& folder : place.folders) {
      if (!folder.starts_with('/')) continue;  // it would be another one in another working folder
      const std::filesystem::path path = folder + "/" + name;
      if (IsProgram(path)) return path.lexically_normal();
    }
  }
  return "";
}

Error Missing(const std::vector<std::string>& names, const std::vector<Place>& places) {
  std::vector<std::string> looked;
  for (const Place& place : places) looked.push_back(place.what);
  return {Code::kNotFound,
          fmt::format("{} not found; looked in {}. Kubernetes' envtest archive has them (`setup-envtest use`, or "
                      "`tools/assets control-plane` in this project's source): name its folder with --programs",
                      Join(names, " and "), Join(looked, "; ")),
          {}};
}

// To pass it over would be to take programs of another version from elsewhere.
Status CheckAssets(const Getenv& getenv) {
  const std::string assets = getenv("KUBEBUILDER_ASSETS").value_or("");
  for (const std::string& folder : Split(assets, ':')) {
    if (folder.empty() || folder.starts_with('/')) continue;
    return Error{
        Code::kInvalidArgument,
        fmt::format("KUBEBUILDER_ASSETS is \"{}\": the plane runs in another working folder, so write it as an "
                    "absolute path, or name the folder with --programs",
                    assets),
        {}};
  }
  return Ok();
}

}  // namespace

std::string FindProgram(const std::string& name, const std::string& beside, const Getenv& getenv) {
  return FindIn(Places(beside, getenv), name);
}

Result<PlanePrograms> FindPlanePrograms(const std::string& folder, const std::string& beside, const Getenv& getenv) {
  if (folder.empty()) TRY(CheckAssets(getenv));
  // One of another place would be of another version.
  const std::vector<Place> places =
      folder.empty() ? Places(beside, getenv) : std::vector<Place>{{fmt::format("--programs {}", folder), {folder}}};
  PlanePrograms out{FindIn(places, "etcd"), FindIn(places, "kube-apiserver"),
                    FindIn(places, "kube-controller-manager")};
  std::vector<std::string> missing;
  if (out.etcd.empty()) missing.emplace_back("etcd");
  if (out.apiserver.empty()) missing.emplace_back("kube-apiserver");
  if (!missing.empty()) return Missing(missing, places);
  return out;
}

std::string OwnFolder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : self.parent_path().string();
}

}  // namespace capi::local
