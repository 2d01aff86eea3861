// What the operator itself brings to every render: its registry and images (a clusterctl configuration file), the
// variables of its environment that users may rely on, and its own version.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/types.h"
#include "fetch/configuration_file.h"
#include "templating/render.h"

namespace capi::ops {

// Changes with every change of what Render makes of the same input (behaviour.md U10).
inline constexpr std::string_view kRendererVersion = "2";

// A clusterctl configuration file, the parts that concern an operator.
struct ConfigFile {
  std::vector<fetch::ConfiguredProvider> providers;
  templating::ImageOverrides images;
};

// kInvalidArgument with the place in `source`, which is for people. Empty text is an empty file. URLs with ${} are
// refused: nothing of the operator's environment is put into them (T4).
Result<ConfigFile> ParseConfigFile(std::string_view yaml, std::string source);

// Who makes the certificates that releases ask for (I19).
enum class Certificates { kAuto, kCertManager, kBuiltin };

// Immutable after start.
struct Settings {
  std::string renderer{kRendererVersion};
  ConfigFile file;
  bool allow_cross_namespace_references = false;  // T1; decides whether a provider is applied, not what
  bool require_service_account = false;           // T8; the same
  bool require_verified = false;                  // T14; the same
  Millis check_updates{0};                        // between two looks for newer versions (U12), 0 for none; the same
  Certificates certificates = Certificates::kCertManager;  // the same: who makes them says each Observation
  std::string ns;                                  // --namespace; "" for all: in others no Secret can be watched
  std::map<std::string, std::string> environment;  // name to value, those that --environment-variables names (I7)

  // Of `environment`; nullopt where it isn't there.
  std::optional<std::string> Variable(const std::string& name) const;
  // Changes whenever what it renders from the same spec and release may: not with `file.providers`, whose URLs lead to
  // a release, nor with what only decides whether one is applied.
  std::string Digest() const;
  // URL of a provider by name: the file's entry, else the built-in one (I2).
  std::optional<std::string> UrlOf(api::ProviderType type, std::string_view name) const;
};

// Those of `all` ("NAME=value") whose name matches one of the patterns (templating/envsubst/glob.h; I7, T4).
std::map<std::string, std::string> SelectEnvironment(const char* const* all, const std::vector<std::string>& patterns);

}  // namespace capi::ops
