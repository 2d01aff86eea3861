#include "cli/frame/overrides.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "fetch/forwarding.h"

namespace capi::cli {
namespace {

bool IsThere(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

// Thread-compatible, for its notes.
class OverridesRepository : public fetch::ForwardingRepository {
 public:
  OverridesRepository(std::unique_ptr<fetch::Repository> repository, std::string folder, std::string label,
                      Notes& notes)
      : ForwardingRepository(std::move(repository)),
        folder_(std::move(folder)),
        label_(std::move(label)),
        notes_(notes) {}

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    std::string tag = version.ToString();
    std::string path = OverridePath(folder_, label_, tag, name);
    notes_.Say(5, "Potential override file", {{"searchFile", path}, {"provider", label_}, {"version", tag}});
    auto text = ReadFile(path, api::kMaxReleaseBytes);
    if (text.ok()) {
      int level = name == ComponentsFile() ? 0 : 5;
      notes_.Say(level, "Using", {{"override", path}, {"provider", label_}, {"version", tag}});
      return text;
    }
    if (text.code() != Code::kNotFound) return text.error().With("failed to read a local override");
    notes_.Say(5, "Fetching", {{"file", name}, {"provider", label_}, {"version", tag}});
    return inner().File(ctx, version, name);
  }

  // T14: of where the file is from. What its source has for a file of its own says nothing of one that lies here.
  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version,
                                       std::string_view name) override {
    if (!IsThere(OverridePath(folder_, label_, version.ToString(), name)))
      return inner().SignaturesOf(ctx, version, name);
    std::error_code failed;  // OpenFolder refuses what comes of it
    const std::string folder = std::filesystem::absolute(folder_, failed).string();
    auto here = TRY(fetch::OpenFolder(folder, label_, ComponentsFile()));
    auto signatures = here->SignaturesOf(ctx, version, name);
    if (!signatures.ok()) {
      return signatures.error().With(
          "the folder of overrides has files for a provider whose releases are verified (spec.fetchConfig.verify): "
          "sign them there, or move them away");
    }
    return signatures;
  }

 private:
  const std::string folder_, label_;
  Notes& notes_;
};

}  // namespace

std::unique_ptr<fetch::Repository> WithOverrides(std::unique_ptr<fetch::Repository> repository, std::string folder,
                                                 std::string label, Notes& notes) {
  if (folder.empty()) return repository;
  return std::make_unique<OverridesRepository>(std::move(repository), std::move(folder), std::move(label), notes);
}

std::string OverridePath(std::string_view folder, std::string_view label, std::string_view version,
                         std::string_view file) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  return fmt::format("{}/{}/{}/{}", folder, label, version, file);
}

bool IsOverridden(std::string_view folder, std::string_view label, std::string_view version,
                  std::string_view components_file) {
  auto is_there = [&](std::string_view file) { return IsThere(OverridePath(folder, label, version, file)); };
  return !folder.empty() && (is_there(components_file) || is_there("metadata.yaml"));
}

}  // namespace capi::cli
