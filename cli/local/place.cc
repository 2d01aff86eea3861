#include "cli/local/place.h"

#include <filesystem>

namespace capi::cli {

std::string CheckHasValue(const std::string& value) {
  return value.empty() ? "its value is empty: name one, or leave the flag out" : "";
}

void AddFolderFlag(CommandLine&, CLI::App& command, std::string& folder) {
  command
      .add_option("--dir", folder,
                  "The plane's folder; without it $XDG_DATA_HOME/cluster-api/local, or "
                  "~/.local/share/cluster-api/local")
      ->check(CheckHasValue);
}

Result<std::string> PlaneFolderPath(const std::string& flag, const Getenv& getenv) {
  if (!flag.empty()) return flag;
  const std::string data = getenv("XDG_DATA_HOME").value_or(""), home = getenv("HOME").value_or("");
  if (!data.empty()) return data + "/cluster-api/local";
  if (!home.empty()) return home + "/.local/share/cluster-api/local";
  return Error{Code::kInvalidArgument, "HOME isn't set: name a folder for the plane with --dir", {}};
}

std::string DirFlag(const local::PlaneFolder& folder, const Getenv& getenv) {
  const auto usual = PlaneFolderPath("", getenv);
  const bool is_usual = usual.ok() && std::filesystem::path(*usual).lexically_normal() == folder.path();
  return is_usual ? "" : " " + folder.Flag();
}

Result<local::PlaneFolder> OpenPlane(const std::string& flag, const Getenv& getenv) {
  return local::PlaneFolder::Open(TRY(PlaneFolderPath(flag, getenv)));
}

}  // namespace capi::cli
