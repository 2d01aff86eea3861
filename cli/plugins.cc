#include "cli/plugins.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/strings.h"

namespace capi::cli {
namespace {

constexpr std::string_view kPrefix = "clusterctl";

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// A name with a slash would lead out of PATH's folders.
std::string FindProgram(const std::string& name, const Getenv& getenv) {
  if (name.find('/') != name.npos) return "";
  for (const std::string& folder : Split(getenv("PATH").value_or(""), ':')) {
    std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (IsProgram(path)) return path;
  }
  return "";
}

}  // namespace

std::optional<Plugin> FindPlugin(CLI::App& root, const std::vector<std::string>& words, const Getenv& getenv) {
  if (words.empty() || words[0].starts_with('-') || FindCommand(root, words[0]) != nullptr) return std::nullopt;
  size_t named = 0;
  while (named < words.size() && !words[named].starts_with('-')) ++named;
  for (; named > 0; --named) {
    std::string name(kPrefix);
    for (size_t i = 0; i < named; ++i) name += "-" + ReplaceAll(words[i], "-", "_");
    std::string path = FindProgram(name, getenv);
    if (!path.empty()) return Plugin{path, {words.begin() + static_cast<std::ptrdiff_t>(named), words.end()}};
  }
  return std::nullopt;
}

int RunPlugin(const Plugin& plugin, World& world) {
  std::vector<std::string> words = plugin.arguments;
  words.insert(words.begin(), plugin.path);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  world.out.flush();
  execv(plugin.path.c_str(), argv.data());
  world.err << fmt::format("Error: cannot run the plug-in {}: {}\n", plugin.path, std::strerror(errno));
  return 1;
}

}  // namespace capi::cli
