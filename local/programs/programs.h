// Where a manager's program comes from on this machine: a container image's name leads to a file that can be started
// (behaviour.md G9).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "fetch/oci/registry.h"

namespace capi::local {

// An image's program, which runs as the user who runs the plane, whomever its image names. A value.
struct Program {
  std::string path;  // absolute; what is started where the container names no command
  // Why nothing is: the image's own entrypoint isn't there, or doesn't run here. A container's command may.
  std::optional<Error> entrypoint_error;
  // Of an image, what ENTRYPOINT has behind the path, and CMD. Empty for a program that was named or built.
  std::vector<std::string> entrypoint_arguments, cmd;
  // The folder with the image's files, to which absolute paths of its commands belong; "" where there is none: then
  // whatever program a container names is the one at `path`.
  std::string root;
  std::vector<std::pair<std::string, std::string>> environment;  // of the image, below the container's own
  std::string working_folder;                                    // absolute, on this machine; "" for the node's choice
  std::string source;  // for people: "--binary", "image sha256:...", "Go module ...@v1.12.1"
};

// What is executed for a container with this `command` and these `args`, whose $(NAME) are replaced already: a path on
// this machine, then the arguments. As Kubernetes has it: without both, entrypoint and cmd; `args` alone go in cmd's
// place; `command` goes in the place of both, and then `args` are all its arguments. Its first word is a program of
// `root`, looked for in the image's own PATH where it is no path; without a root it stands for `path`.
// kNotFound for a command that the image doesn't have; kUnsupported for one that doesn't run on this machine. Without a
// command also the program's entrypoint_error.
Result<std::vector<std::string>> ArgumentsOf(const Program& program, const std::vector<std::string>& command,
                                             const std::vector<std::string>& args);

// Thread-safe.
class Programs {
 public:
  virtual ~Programs() = default;
  // The program of an image, as a Pod names it. May take minutes (an image is pulled, a module is built) the first time
  // and is fast from then on; ends early with `ctx`. The messages are for people, in a Pod's waiting message: they say
  // all that was tried and what to do. kUnavailable and kRateLimited: try again later, after `retry_after` where there
  // is one; kNotFound: no source has it; kUnsupported: there is one, and it doesn't run here; kInvalidArgument: it is
  // no name of an image, or the image's files are none; kFailedPrecondition: something on this machine has to change
  // first.
  virtual Result<Program> Find(const Context& ctx, const std::string& image) = 0;
  // The folder for what is known of programs from one start to the next; "" for none.
  virtual std::string cache() const { return ""; }
};

// A value.
struct ProgramsOptions {
  // "IMAGE=PATH" of --binary. IMAGE with or without tag and digest; of several that fit, of `builds` too, the most
  // exact one counts, and of two alike that of `binaries`.
  std::vector<std::string> binaries;
  bool checks_binaries = true;  // false: a PATH that can't be started is told by Find, and the others do
  // "IMAGE=MODULE[/PACKAGE]@VERSION" of --build; goes before the image itself.
  std::vector<std::string> builds;
  std::string
      cache;  // a folder, made when it is needed; CacheFolder() tells the usual one. "": nothing is kept or found
  // Of PATH, HOME and what `go` needs. Unset: there is no environment.
  std::function<std::optional<std::string>(const std::string&)> getenv;
  std::vector<std::string> environment;  // "NAME=value", of all processes that build something, beside the user's
  // How a registry is reached, by its host ("registry.k8s.io"). Credentials go to the hosts for which it gives some,
  // and to no other. Unset: without credentials and proxy. One on loopback is reached without TLS, as by container
  // runtimes.
  std::function<fetch::OciOptions(const std::string& host)> registry;
  bool pulls = true;         // images from their registries
  bool builds_known = true;  // Cluster API's own providers from their Go modules, where neither of the others has it
};

// kInvalidArgument where an entry of `binaries` or `builds` is none, or is there twice, or where a PATH is no file that
// can be started here. Asks no server.
Result<std::unique_ptr<Programs>> OpenPrograms(ProgramsOptions options);

// $XDG_CACHE_HOME/capi-operator, or ~/.cache/capi-operator without that variable; "" where there is neither.
std::string CacheFolder(const std::function<std::optional<std::string>(const std::string&)>& getenv);

}  // namespace capi::local
