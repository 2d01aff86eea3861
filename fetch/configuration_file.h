// clusterctl's configuration file: the one reader of the command line and of the operator (behaviour.md L2). Which keys
// mean what is theirs to say.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "base/json.h"
#include "base/result.h"
#include "base/yaml/yaml_places.h"

namespace capi::fetch {

// A provider that the file names, and where its releases come from. A value.
struct ConfiguredProvider {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name, url;
};

// The hosts of GitLab that these name: whoever wrote them trusts these with a token (behaviour.md T10).
std::set<std::string> GitLabHosts(const std::vector<ConfiguredProvider>& providers);

// Keys are found without regard to case. Errors are kInvalidArgument, with source, line and column. Thread-compatible.
class ConfigurationFile {
 public:
  using Steps = std::vector<std::string>;
  // What a URL becomes before it is checked.
  using Expand = std::function<Result<std::string>(const std::string& url)>;

  // The first document of `text`; empty text is a file without keys. `source` is for people: its path.
  static Result<ConfigurationFile> Parse(std::string_view text, std::string source);

  // Null where the file has no such key, or null. Keys of maps in it are in lower case, too.
  const Json* Key(std::string_view key) const;

  // Those of the file in its order; one bad entry fails all. Null `expand`: URLs are taken as they are.
  Result<std::vector<ConfiguredProvider>> Providers(const Expand& expand) const;

  std::string Place(const Steps& path) const;             // "clusterctl.yaml, line 3, column 5"
  Error At(const Steps& path, const Error& error) const;  // with that place
  const YamlPlaces& places() const { return *places_; }   // and scalars as they are written
  const std::string& source() const { return source_; }

 private:
  ConfigurationFile(std::string_view text, std::string source, Json root);

  std::string source_;
  std::unique_ptr<YamlPlaces> places_;
  Json root_;  // all keys in lower case
};

}  // namespace capi::fetch
