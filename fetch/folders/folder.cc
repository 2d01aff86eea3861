#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/files.h"
#include "fetch/repository.h"

namespace capi::fetch {
namespace {

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Thread-safe: nothing changes after construction. The disk is read on every call.
class FolderRepository : public Repository {
 public:
  FolderRepository(std::string folder, std::string components_file)
      : folder_(std::move(folder)), components_file_(std::move(components_file)) {}

  std::string Describe() const override { return "folder " + folder_; }
  bool IsLocal() const override { return true; }
  std::string ComponentsFile() const override { return components_file_; }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    TRY(ctx.Check());
    std::vector<api::Version> versions;
    for (const std::string& name : TRY_WITH(ListDir(folder_), "failed to list release directories")) {
      Result<api::Version> version = api::Version::Parse(name);
      if (version.ok() && IsFolder(folder_ + "/" + name)) versions.push_back(std::move(*version));
    }
    std::sort(versions.begin(), versions.end());
    return versions;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    TRY(ctx.Check());
    if (name.empty() || name == ".." || name.find('/') != std::string_view::npos) {
      return Error{Code::kInvalidArgument, fmt::format("\"{}\" is no name of a file in a release", name), {}};
    }
    std::string path = fmt::format("{}/{}/{}", folder_, FolderOf(version), name);
    return TRY_WITH(ReadFile(path, api::kMaxReleaseBytes),
                    fmt::format("failed to read file \"{}\" from local release {}", path, version.ToString()));
  }

 private:
  // The folder may be written with and without the "v" (I12).
  std::string FolderOf(const api::Version& version) const {
    std::string with_v = version.ToString();
    std::string without = with_v.substr(1);
    return !IsFolder(folder_ + "/" + with_v) && IsFolder(folder_ + "/" + without) ? without : with_v;
  }

  const std::string folder_;
  const std::string components_file_;
};

}  // namespace

Result<std::unique_ptr<Repository>> OpenFolder(std::string base, std::string manifest_label,
                                               std::string components_file) {
  if (base.empty() || base.front() != '/') {
    return Error{Code::kInvalidArgument, fmt::format("invalid path: path \"{}\" must be an absolute path", base), {}};
  }
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  std::string folder = (base == "/" ? "" : base) + "/" + manifest_label;
  return std::unique_ptr<Repository>(std::make_unique<FolderRepository>(std::move(folder), std::move(components_file)));
}

}  // namespace capi::fetch
