// Values of variables, from the configuration.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cli/frame/config.h"
#include "templating/render.h"

namespace capi::cli {

// Gives the engine values from flags, then those of the configuration, and keeps the first error on the way: the engine
// asks for values only. `config` must outlive it. Thread-compatible.
class Lookup {
 public:
  explicit Lookup(const Config& config, std::map<std::string, std::string> flags = {})
      : config_(config), flags_(std::move(flags)) {}
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // It must not outlive the look-up.
  templating::Variables function() {
    return [this](const std::string& name) { return Get(name); };
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<std::string> Get(const std::string& name);

  const Config& config_;
  const std::map<std::string, std::string> flags_;
  std::optional<Error> error_;
};

}  // namespace capi::cli
