// What a command may touch of the world around it, passed in: the environment, its streams, and how much to say.
#pragma once

#include <functional>
#include <initializer_list>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/http/client.h"

namespace capi::cli {

// nullopt for what isn't set; set to "" counts as set.
using Getenv = std::function<std::optional<std::string>(const std::string& name)>;

// The environment of this process.
std::optional<std::string> ProcessEnvironment(const std::string& name);

// HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
http::Proxy ProxyFrom(const Getenv& getenv);

// Lines for a person on standard error, in clusterctl's form: message key="value". Thread-compatible.
class Notes {
 public:
  using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  explicit Notes(std::ostream& err, int verbosity = 0) : err_(&err), verbosity_(verbosity) {}
  void SetVerbosity(int verbosity) { verbosity_ = verbosity; }
  // Says it where the verbosity (-v) is at least `level`.
  void Say(int level, std::string_view message, Fields fields = {});
  void Warn(std::string_view message);  // "Warning: ..."

  // As much as these, into another place: for what is done in a thread of its own, and told with Pass afterwards.
  Notes Into(std::ostream& other) const { return Notes(other, verbosity_); }
  void Pass(std::string_view lines) { *err_ << lines; }

 private:
  std::ostream* err_;
  int verbosity_;
};

// Flags that every command has. A value.
struct GlobalOptions {
  std::string config;            // --config
  std::optional<int> verbosity;  // -v
};

// Flags of commands that look into a management cluster. A value.
struct ClusterOptions {
  std::string kubeconfig;  // --kubeconfig
  std::string context;     // --kubeconfig-context
};

// Thread-compatible.
struct World {
  Getenv getenv;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // whether `out` is one
  int err_columns = 0;    // of the terminal that `err` is; 0 where it is none
};

}  // namespace capi::cli
