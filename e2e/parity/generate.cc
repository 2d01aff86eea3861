#include "e2e/parity/generate.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/encoding.h"
#include "base/files.h"
#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"
#include "base/testing/environment.h"
#include "base/yaml/yaml.h"
#include "e2e/support/clusterctl_programs.h"
#include "kube/client/config/run_program.h"

namespace capi::e2e {
namespace {

constexpr size_t kMostBytes = 256u << 20;  // of what a program prints

constexpr std::string_view kCacheFormat = "1";

std::string CacheRoot() {
  if (std::string given = EnvironmentVariable("CAPI_OPERATOR_CACHE"); !given.empty()) return given;
  std::string base = EnvironmentVariable("XDG_CACHE_HOME");
  return (base.empty() ? EnvironmentVariable("HOME") + "/.cache" : base) + "/capi-operator";
}

// Everything that the output depends on, but the program.
std::string KeyOf(const ParityCase& c) {
  std::string text = fmt::format("{}\n{}\n{}", kCacheFormat, Join(c.Arguments(), " "), c.Configuration(c.release.Id()));
  for (const auto& [name, value] : c.Environment()) text += fmt::format("{}={}\n", name, value);
  text += fmt::format("{}\n{}", Sha256Hex(c.release.Text(c.file)), Sha256Hex(c.release.Text("metadata.yaml")));
  return Sha256Hex(text).substr(0, 32);
}

// The last line that begins with "Error: ".
std::string ErrorOf(const std::string& text) {
  std::string out;
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with("Error: ")) out = line.substr(7);
  }
  return out;
}

Result<Printed> Run(const std::string& path, const ParityCase& c) {
  TemporaryFolder folder;
  std::string config = folder.path() + "/clusterctl.yaml";
  TRY(WriteFile(config, c.Configuration(c.release.path)));
  kube::Program program{.command = path, .args = c.Arguments()};
  program.args.insert(program.args.end(), {"--config", config});
  program.env = {
      {"HOME", folder.path()}, {"XDG_CONFIG_HOME", folder.path()}, {"CLUSTERCTL_DISABLE_VERSIONCHECK", "true"}};
  for (const auto& [name, value] : c.Environment()) program.env.emplace_back(name, value);
  auto output = TRY(kube::RunProgram(Context{}.WithTimeout(Seconds(120)), program));
  Printed printed{.exit_code = output.exit_code};
  if (output.exit_code != 0) {
    printed.error = ErrorOf(output.err);
    return printed;
  }
  printed.notes = std::move(output.err);
  auto documents = TRY_WITH(ParseYamlStream(output.out), c.Id() + ": standard output");
  for (YamlDocument& document : documents) printed.objects.push_back(std::move(document.value));
  return printed;
}

std::string ToText(const Printed& printed) {
  return ToJsonText(Json{{"exitCode", printed.exit_code}, {"error", printed.error}, {"objects", printed.objects}});
}

Result<Printed> FromText(std::string_view text) {
  Json json = TRY(ParseJson(text));
  Printed out{.exit_code = static_cast<int>(GetInt(json, {"exitCode"})), .error = GetString(json, {"error"})};
  for (Json& object : json["objects"]) out.objects.push_back(std::move(object));
  return out;
}

}  // namespace

Result<Printed> Clusterctl::Generate(const ParityCase& c) const {
  if (cache.empty()) return Run(path, c);
  std::string kept = fmt::format("{}/{}.gz", cache, KeyOf(c));
  if (auto bytes = ReadFile(kept); bytes.ok()) return FromText(TRY(Gunzip(*bytes, kMostBytes)));
  Printed printed = TRY(Run(path, c));
  TRY(WriteFile(kept, Gzip(ToText(printed))));
  return printed;
}

namespace {

Result<Clusterctl> FindReal() {
  Clusterctl out{.path = TRY(RealClusterctlPath())};
  std::string bytes = TRY(ReadFile(out.path));
  out.version = Trim(TRY(capi::RunProgram({out.path, "version", "-o", "short"}, "", Seconds(60))));
  out.cache = fmt::format("{}/parity/{}", CacheRoot(), Sha256Hex(bytes).substr(0, 16));
  std::error_code failed;
  std::filesystem::create_directories(out.cache, failed);
  if (failed) return Error{Code::kInternal, fmt::format("{}: {}", out.cache, failed.message()), {}};
  return out;
}

}  // namespace

Result<Clusterctl> RealClusterctl() {
  static const Result<Clusterctl> found = FindReal();
  return found;
}

Clusterctl OurClusterctl() { return {.path = OurClusterctlPath(), .version = "", .cache = ""}; }

}  // namespace capi::e2e
