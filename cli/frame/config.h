// clusterctl's configuration: what stands in the file, and the environment, which takes precedence over it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/mutex.h"
#include "cli/frame/config_file.h"
#include "cli/frame/world.h"
#include "fetch/configuration_file.h"
#include "fetch/github/known_answers.h"
#include "templating/render.h"

namespace capi::cli {

// A provider and where its releases come from.
using ProviderSource = fetch::ConfiguredProvider;

// Keys are found without regard to case. Thread-safe, as far as the environment is.
class Config {
 public:
  // kInvalidArgument with source, line and column for what is no YAML map of keys.
  static Result<Config> Parse(ConfigText text, Getenv getenv);

  // Value of a variable or setting: environment NAME (upper case, "-" as "_"), else the file's. Set to "" counts as
  // set. kInvalidArgument for a list or map in its place.
  Result<std::optional<std::string>> Get(const std::string& key) const;

  // Of a key whose value is a map the text of one member; nullopt where either isn't there.
  Result<std::optional<std::string>> GetMember(std::string_view key, std::string_view member) const;

  // All providers, the built-in ones and the file's, ordered by type, then name. URLs are expanded from the
  // environment. One bad entry fails all.
  Result<std::vector<ProviderSource>> Providers() const;
  Result<ProviderSource> FindProvider(api::ProviderType type, const std::string& name) const;

  Result<templating::ImageOverrides> Images() const;

  // Where local files lie that take precedence over those of a release: "{folder}/{label}/{version}/{file}".
  Result<std::string> OverridesFolder() const;

  // `text` with the variables of the environment; `what` is for the error.
  Result<std::string> Expand(std::string_view what, const std::string& text) const;

  const Getenv& getenv() const { return getenv_; }

  // Of all that this command asks of GitHub.
  const std::shared_ptr<fetch::GitHubAnswers>& github_answers() const { return github_answers_; }

  const std::string& source() const { return file_.source(); }

  // Numbers that are not read as written ("1.10" is 1.1), seen in what Get gave out so far.
  std::vector<std::string> Surprises() const;

 private:
  struct Surprised {
    Mutex mu;
    std::set<std::string> texts CAPI_GUARDED_BY(mu);
  };

  Config(fetch::ConfigurationFile file, Getenv getenv) : file_(std::move(file)), getenv_(std::move(getenv)) {}

  fetch::ConfigurationFile file_;
  Getenv getenv_;
  std::unique_ptr<Surprised> surprised_ = std::make_unique<Surprised>();
  std::shared_ptr<fetch::GitHubAnswers> github_answers_ = std::make_shared<fetch::GitHubAnswers>();
};

// The configuration of a command. Sets how much `notes` say: -v, else CLUSTERCTL_LOG_LEVEL.
Result<Config> LoadConfig(const Context& ctx, const GlobalOptions& options, const Getenv& getenv, Notes& notes);

}  // namespace capi::cli
