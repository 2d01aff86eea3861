// Kubeconfig files, read and merged as kubectl merges them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kube/client/config/config.h"

namespace capi::kube {

// One object of a kubeconfig and where it comes from. Text() and Flag() fail with kInvalidArgument, naming file and
// field, where the field is of another type. A value.
struct KubeconfigEntry {
  Json value = Json::object();
  std::string where;  // "/home/me/.kube/config: users[admin].user"

  Result<std::string> Text(std::string_view field) const;  // "" where it is missing
  Result<bool> Flag(std::string_view field) const;
  Result<std::vector<std::string>> Texts(std::string_view field) const;
  // The decoded text of base64 `field`.
  Result<std::string> Data(std::string_view field) const;
  // The object at `field`; value is null where it is missing.
  Result<KubeconfigEntry> Child(std::string_view field) const;
  Error Wrong(std::string_view field, std::string_view what) const;
};

struct Kubeconfig {
  std::string current_context;
  std::map<std::string, KubeconfigEntry> clusters, contexts, users;  // paths in them are absolute
  std::string files;                                                 // for messages
};

// The text of the kubeconfig at `path`. kInvalidArgument for what is none.
Result<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& path);

// The same of a file; kNotFound where there is none.
Result<Kubeconfig> ReadKubeconfig(const std::string& path);

// What the context that `sources` asks for, or else the current one, says of server and user.
Result<Config> FromKubeconfig(const Kubeconfig& file, const ConfigSources& sources);

// Adds what `more` has and `into` lacks: the first file that says something wins.
void MergeKubeconfig(Kubeconfig& into, Kubeconfig more);

}  // namespace capi::kube
