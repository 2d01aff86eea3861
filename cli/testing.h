// A world for tests: an environment of one's own, streams that keep what was written, and a folder.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cli/clusterctl.h"

namespace capi::cli {

using Variables = std::map<std::string, std::string>;

inline Getenv From(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

// A folder that goes with the test. Thread-compatible.
class TestFolder {
 public:
  TestFolder() {
    std::string name = testing::TempDir() + "clusterctl-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // The path of the file.
  std::string Put(const std::string& name, std::string_view text) const {
    std::filesystem::path path = *this / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::string path_;
};

// What a command line did. A value.
struct Outcome {
  int code;
  std::string out, err;
};

inline Outcome Clusterctl(std::vector<std::string> arguments, Variables environment = {}, std::string input = "") {
  arguments.insert(arguments.begin(), "clusterctl");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::istringstream in(std::move(input));
  std::ostringstream out, err;
  int code = RunClusterctl(static_cast<int>(argv.size()), argv.data(), {From(std::move(environment)), in, out, err});
  return {code, out.str(), err.str()};
}

}  // namespace capi::cli
