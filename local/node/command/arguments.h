// A container's arguments as a process of this machine needs them: ports that are free, folders that are there
// (behaviour.md G5). Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace capi::local {

// The flags that a program's help names, with their defaults ("" where it tells none). A value.
using Flags = std::map<std::string, std::string>;

// Of what a Go program (flag, pflag) or one with like conventions prints for --help; empty where it names none.
Flags FlagsOfHelp(std::string_view help);

// "9443", ":9440", "localhost:8080", "[::]:8443": the port, and what stands before it with the colon. nullopt for
// anything else.
struct Address {
  std::string host;  // "" for a number alone
  int port = 0;
};
std::optional<Address> AddressOf(std::string_view text);

struct ArgumentOptions {
  Flags flags;
  std::set<int> ports;  // that the container declares, and its probes ask
  // Where the folders of volumes are, by their paths in the container.
  std::map<std::string, std::string> mounts;
  std::string ns;          // of the Pod: for the election
  std::string kubeconfig;  // for programs that have a flag for it; "" for none
  // Ports of other containers of the Pod -> of loopback: URLs with them are led there.
  std::map<int, int> others;
  std::function<int(int)> port_of;  // a free port of loopback for one of the container's
};

struct Arguments {
  std::vector<std::string> values;
  std::map<int, int> ports;     // of the container -> of loopback, of those that a flag leads there
  std::set<std::string> named;  // paths of `mounts` that an argument names, or a flag was added for
  // The program finds no namespace for its election outside of a cluster, so it was told to hold none: only one
  // process of it may run.
  bool alone = false;
};

// - A flag that says where the program listens on this machine gets a free port of loopback; so does one that the
//   program has, whose default is a port, and that isn't there.
// - A value that is a path of `mounts`, or below one, becomes the path on this machine; so does the default of a flag
//   that isn't there.
// - Certificates for webhooks at controller-runtime's own path: --webhook-cert-dir is added, where the program has it.
// - A program that has --kubeconfig gets it.
// - Flags are added before a "--"; what is behind it are no flags.
// - An election gets the Pod's namespace, by a flag of the program's, or isn't held.
Arguments ArgumentsOnLoopback(std::vector<std::string> values, const ArgumentOptions& options);

// `text` with the place of the longest of `mounts` that it begins with; nullopt where there is none. Adds its path to
// `named`.
std::optional<std::string> LedPath(std::string_view text, const std::map<std::string, std::string>& mounts,
                                   std::set<std::string>& named);

// The ports of all URLs in the word that are on this machine: loopback's, or those of no address in particular.
std::set<int> PortsInUrls(std::string_view word);

// `word` with others in its URLs on this machine, where they have one of `ports`: by IPv4.
std::string LedUrl(const std::string& word, const std::map<int, int>& ports);

}  // namespace capi::local
